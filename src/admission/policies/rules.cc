#include "admission/policies/rules.h"

#include <array>

#include "admission/rules/rule_reader.h"

namespace inferscale {

const PolicyCard& rules_card() {
  static constexpr std::array<ParameterNote, 1> kNotes = {{
      {"rules", "required", "written by whoever configures it"},
  }};
  static const PolicyCard card = {
      .name = "rules",
      .summary =
          "the first rule that holds of a written list, over signals and fields of the request",
      .unit = AdmissionUnit::kRequest,
      .slo_awareness = "none",
      .signal_structure = "composite",
      .parameters = kNotes,
  };
  return card;
}

PolicyFactory read_rules(ConfigReader& parameters) {
  return rule_policy(read_rule_list(parameters));
}

}  // namespace inferscale

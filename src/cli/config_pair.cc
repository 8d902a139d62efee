#include "cli/config_pair.h"

#include <algorithm>

#include "base/config_json.h"
#include "base/edge/yaml_config.h"
#include "cli/run_loading.h"

namespace inferscale {
namespace {

Result<Scenario> load_example(std::size_t side, const std::vector<std::string>& settings) {
  const bool first = side == kBaseline;
  const std::string name = first ? "ab_baseline.yaml" : "ab_treatment.yaml";
  Result<ConfigNode> tree = parse_yaml(first ? kExampleBaseline : kExampleTreatment, name);
  if (!tree) return std::unexpected(tree.error());
  for (const std::string& setting : settings) {
    const Result<void> applied = apply_setting(*tree, setting);
    if (!applied) return std::unexpected(applied.error());
  }
  return Scenario::make(std::move(*tree), inputs_beside(""), name);
}

Result<void> check_pair(const StudyFlags& flags, const std::string& baseline,
                        const std::string& treatment) {
  if (!flags.example && !treatment.empty()) return {};
  if (flags.example && baseline.empty()) return {};
  if (flags.example) {
    return fail(ErrorCode::kInvalidConfig,
                "'" + baseline + "' and --example: expected either two files or --example");
  }
  return fail(ErrorCode::kInvalidConfig,
              "expected two configuration files, the baseline's and the treatment's, or --example");
}

}  // namespace

Result<std::vector<Scenario>> load_pair(const StudyFlags& flags, const std::string& baseline,
                                        const std::string& treatment) {
  if (const Result<void> checked = check_pair(flags, baseline, treatment); !checked) {
    return std::unexpected(checked.error());
  }
  std::vector<Scenario> pair;
  for (const std::size_t side : {kBaseline, kTreatment}) {
    Result<Scenario> scenario =
        flags.example ? load_example(side, flags.settings)
                      : load_scenario(side == kBaseline ? baseline : treatment, flags.settings);
    if (!scenario) return std::unexpected(scenario.error());
    pair.push_back(std::move(*scenario));
  }
  return pair;
}

JsonValue pair_plan(const std::vector<Scenario>& pair) {
  JsonValue plan = JsonValue::object();
  for (const std::size_t side : {kBaseline, kTreatment}) {
    JsonValue configuration = JsonValue::object();
    for (const ConfigNode::Entry& entry : pair[side].base().effective.entries()) {
      if (entry.key == "name" || entry.key == "output") continue;
      configuration.add(entry.key, JsonValue::raw(to_json_text(entry.value)));
    }
    plan.add(side_name(side), JsonValue::object()
                                  .add("fingerprint", fingerprint_text(pair[side].fingerprint()))
                                  .add("configuration", std::move(configuration)));
  }
  return plan;
}

std::vector<std::string> pair_notes(const std::vector<Scenario>& pair) {
  const std::vector<std::string> of_baseline = configuration_notes(pair[kBaseline].base());
  const std::vector<std::string> of_treatment = configuration_notes(pair[kTreatment].base());
  const auto has = [](const std::vector<std::string>& notes, const std::string& note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  std::vector<std::string> notes;
  for (const std::string& note : of_baseline) {
    notes.push_back(has(of_treatment, note) ? note : "baseline: " + note);
  }
  for (const std::string& note : of_treatment) {
    if (!has(of_baseline, note)) notes.push_back("treatment: " + note);
  }
  return notes;
}

}  // namespace inferscale

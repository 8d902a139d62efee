#include "cli/config_pair.h"

#include <algorithm>

#include "base/config_json.h"
#include "base/edge/yaml_config.h"
#include "cli/run_loading.h"

namespace inferscale {
namespace {

const std::string kChange = "--change";

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

// The baseline's file once more, and what is changed in it.
Result<Scenario> load_changed(const std::string& path, const std::vector<std::string>& settings,
                              const std::vector<std::string>& changes) {
  Result<ConfigNode> tree = read_config_tree(path, settings);
  if (!tree) return std::unexpected(tree.error());
  std::string label = path;
  for (const std::string& change : changes) {
    const Result<void> applied = apply_setting(*tree, change, kChange);
    if (!applied) return std::unexpected(applied.error());
    label += " " + kChange + " " + change;
  }
  return Scenario::make(std::move(*tree), inputs_beside(path), label);
}

Result<void> check_pair(const StudyFlags& flags, const PairFlags& pair) {
  const bool changed = !pair.changes.empty();
  if (changed && (flags.example || !pair.treatment.empty())) {
    return fail(ErrorCode::kInvalidConfig,
                (flags.example ? "--example" : "'" + pair.treatment + "'") + " and " + kChange +
                    ": expected the baseline's file alone, of which " + kChange +
                    " makes the treatment");
  }
  if (flags.example && !pair.baseline.empty()) {
    return fail(ErrorCode::kInvalidConfig,
                "'" + pair.baseline + "' and --example: expected either two files or --example");
  }
  const bool complete = !pair.baseline.empty() && (changed || !pair.treatment.empty());
  if (flags.example || complete) return {};
  return fail(ErrorCode::kInvalidConfig,
              "expected two configuration files, the baseline's and the treatment's; or the "
              "baseline's and " +
                  kChange + " key.path=value; or --example");
}

}  // namespace

void declare_pair_flags(Arguments& arguments, PairFlags& flags) {
  arguments.positional("BASELINE", flags.baseline, false, "the configuration to compare with");
  arguments.positional("TREATMENT", flags.treatment, false, "the configuration that is judged");
  arguments.repeated(kChange, flags.changes,
                     "key.path=value, in place of TREATMENT: it is the baseline with this key "
                     "changed");
}

Result<std::vector<Scenario>> load_pair(const StudyFlags& flags, const PairFlags& pair) {
  if (const Result<void> checked = check_pair(flags, pair); !checked) {
    return std::unexpected(checked.error());
  }
  const auto load = [&](std::size_t side) {
    if (flags.example) return load_example(side, flags.settings);
    if (side == kBaseline) return load_scenario(pair.baseline, flags.settings);
    if (pair.changes.empty()) return load_scenario(pair.treatment, flags.settings);
    return load_changed(pair.baseline, flags.settings, pair.changes);
  };
  std::vector<Scenario> scenarios;
  for (const std::size_t side : {kBaseline, kTreatment}) {
    Result<Scenario> scenario = load(side);
    if (!scenario) return std::unexpected(scenario.error());
    scenarios.push_back(std::move(*scenario));
  }
  return scenarios;
}

std::string pair_name(const Alternatives& alternatives) {
  const std::string& baseline = alternatives.baseline.name;
  const std::string& treatment = alternatives.treatment.name;
  return baseline == treatment ? baseline : baseline + " / " + treatment;
}

JsonValue pair_plan(const std::vector<Scenario>& pair) {
  JsonValue plan = JsonValue::object();
  for (const std::size_t side : {kBaseline, kTreatment}) {
    plan.add(side_name(side), scenario_plan(pair[side]));
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

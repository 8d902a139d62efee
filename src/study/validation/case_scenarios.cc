#include "study/validation/case_scenarios.h"

#include <utility>

#include "base/config_reader.h"
#include "sim/run_config.h"

namespace inferscale {
namespace {

constexpr std::string_view kSettingSource = "--set";

// What is wrong with the keys and values of a configuration, whatever would become of it.
std::optional<Error> reading_error(const ConfigNode& config, const RunInputs& inputs) {
  ConfigSession session;
  ConfigReader root(config, session);
  read_run_config(root, inputs.resolve_model);
  read_study_options(root);
  root.finish();
  if (!session.failed()) return std::nullopt;
  return session.error();
}

// Whether the person who started the study has to mend it; everything else is the case's.
bool is_fatal(const ValidationCase& each, const std::optional<Error>& reading,
              const Error& making) {
  if (reading) return !each.described || reading->where.starts_with(kSettingSource);
  return making.code != ErrorCode::kInvalidConfig;
}

}  // namespace

Result<CaseScenarios> make_case_scenarios(
    std::vector<ValidationCase>& cases,
    const std::function<RunInputs(const ValidationCase&)>& inputs_of) {
  CaseScenarios made;
  made.of_case.resize(cases.size());
  for (std::size_t index = 0; index < cases.size(); ++index) {
    ValidationCase& each = cases[index];
    if (each.not_simulated) continue;
    const RunInputs inputs = inputs_of(each);
    Result<Scenario> scenario = Scenario::make(each.config, inputs, each.id);
    if (scenario) {
      made.of_case[index] = made.scenarios.size();
      made.scenarios.push_back(std::move(*scenario));
      continue;
    }
    const std::optional<Error> reading = reading_error(each.config, inputs);
    if (is_fatal(each, reading, scenario.error())) {
      return std::unexpected(reading ? *reading : scenario.error());
    }
    each.not_simulated =
        NotSimulated{"the deployment can't be simulated", scenario.error().message};
  }
  return made;
}

}  // namespace inferscale

// `inferscale tune`: which parameters of an admission policy serve best in the worst of some loads?

#include "study/tune/tune.h"

#include "cli/commands.h"
#include "cli/study_session.h"
#include "cli/tune_example.h"
#include "report/studies/tune/tune_text.h"
#include "study/tune/tune_json.h"

namespace inferscale {
namespace {

class Tune final : public Command {
 public:
  std::string name() const override { return "tune"; }
  std::string summary() const override {
    return "Search an admission policy's parameters for the best worst-case goodput";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("CONFIG", config_, false, "the configuration, a YAML file");
    arguments.option("--policy", policy_, "the policy to tune (default: admission.policy)");
    declare_study_flags(arguments, flags_);
  }
  Result<int> run() override;

 private:
  // The configuration as it is, and without a policy.
  Result<std::vector<Scenario>> load() const;

  std::string config_;
  std::string policy_;
  StudyFlags flags_;
};

Result<std::vector<Scenario>> Tune::load() const {
  std::vector<std::string> settings = flags_.settings;
  std::vector<Scenario> scenarios;
  Result<Scenario> scenario = load_scenario(config_, settings, kTuneExample);
  if (!scenario) return std::unexpected(scenario.error());
  scenarios.push_back(std::move(*scenario));
  settings.emplace_back("admission.policy=none");
  settings.emplace_back("admission.parameters={}");
  Result<Scenario> bare = load_scenario(config_, settings, kTuneExample);
  if (!bare) return std::unexpected(bare.error());
  scenarios.push_back(std::move(*bare));
  return scenarios;
}

Result<int> Tune::run() {
  const Result<void> one = check_one_config(config_, flags_.example, "a configuration file");
  if (!one) return std::unexpected(one.error());
  Result<std::vector<Scenario>> scenarios = load();
  if (!scenarios) return std::unexpected(scenarios.error());
  const PreparedRun& base = scenarios->front().base();
  const std::string policy = policy_.empty() ? base.config.admission.policy : policy_;
  // Before a study folder is made.
  if (const Result<void> right = check_tune((*scenarios)[0], (*scenarios)[1], policy); !right) {
    return std::unexpected(right.error());
  }
  JsonValue plan = scenario_plan(scenarios->front());
  plan.add("policy", policy);
  StudyManifest manifest{.kind = "tune",
                         .version = {},
                         .name = base.config.name,
                         .plan = std::move(plan),
                         .warnings = configuration_notes(base)};
  Result<StudySession> session = StudySession::start(flags_, std::move(*scenarios), manifest);
  if (!session) return std::unexpected(session.error());
  const std::vector<Scenario>& kept = session->scenarios();
  const Result<TuneResult> result = run_tune(kept[0], kept[1], policy, session->executor());
  if (!result) return std::unexpected(result.error());
  return session->finish(tune_json(*result), tune_text);
}

}  // namespace

std::unique_ptr<Command> make_tune_command() {
  return std::make_unique<Tune>();
}

}  // namespace inferscale

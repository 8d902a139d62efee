// `inferscale agents ttl-sweep`, `affinity-sweep`, `memory-stress` and `host-sweep`: one key of the
// deployment over a range of values, each value serving the same sessions.

#include "cli/agents_example.h"
#include "cli/commands.h"
#include "cli/study_session.h"
#include "report/studies/agents/sweep_text.h"
#include "study/agents/sweep.h"
#include "study/agents/sweep_json.h"

namespace inferscale {
namespace {

class AgentsSweep final : public Command {
 public:
  AgentsSweep(SweepKind kind, std::string name, std::string summary)
      : kind_(kind), name_("agents " + std::move(name)), summary_(std::move(summary)) {}
  std::string name() const override { return name_; }
  std::string summary() const override { return summary_; }
  void declare(Arguments& arguments) override {
    arguments.positional("CONFIG", config_, false, "the configuration, a YAML file");
    declare_study_flags(arguments, flags_);
  }
  Result<int> run() override;

 private:
  SweepKind kind_;
  std::string name_;
  std::string summary_;
  std::string config_;
  StudyFlags flags_;
};

Result<int> AgentsSweep::run() {
  const Result<void> one = check_one_config(config_, flags_.example, "a configuration file");
  if (!one) return std::unexpected(one.error());
  Result<Scenario> scenario = load_scenario(config_, flags_.settings, kAgentsExample);
  if (!scenario) return std::unexpected(scenario.error());
  // Before a study folder is made.
  if (const Result<void> right = check_sweep(kind_, *scenario); !right) {
    return std::unexpected(right.error());
  }
  StudyManifest manifest{.kind = std::string(sweep_name(kind_)),
                         .version = {},
                         .name = scenario->base().config.name,
                         .plan = scenario_plan(*scenario),
                         .warnings = configuration_notes(scenario->base())};
  std::vector<Scenario> scenarios;
  scenarios.push_back(std::move(*scenario));
  Result<StudySession> session = StudySession::start(flags_, std::move(scenarios), manifest);
  if (!session) return std::unexpected(session.error());
  const Result<SweepResult> result =
      run_sweep(kind_, session->scenarios().front(), session->executor());
  if (!result) return std::unexpected(result.error());
  return session->finish(sweep_json(*result), sweep_text);
}

}  // namespace

std::vector<std::unique_ptr<Command>> agents_sweep_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  const auto add = [&](SweepKind kind, const char* name, const char* summary) {
    commands.push_back(std::make_unique<AgentsSweep>(kind, name, summary));
  };
  add(SweepKind::kTtl, "ttl-sweep", "How long should a session's KV cache stay while tools run?");
  add(SweepKind::kAffinity, "affinity-sweep",
      "How much longer may a turn wait to stay where its KV cache is?");
  add(SweepKind::kMemory, "memory-stress", "What do sessions lose when KV memory is short?");
  add(SweepKind::kHost, "host-sweep", "Recompute, retain, or offload to host memory?");
  return commands;
}

}  // namespace inferscale

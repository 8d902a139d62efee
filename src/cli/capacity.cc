// `inferscale capacity`: how much load a deployment carries, or which fleet carries a load.

#include "study/capacity/capacity.h"

#include "base/config_json.h"
#include "cli/commands.h"
#include "cli/run_loading.h"
#include "cli/study_session.h"
#include "report/studies/capacity/capacity_text.h"
#include "study/capacity/capacity_json.h"

namespace inferscale {
namespace {

class Capacity final : public Command {
 public:
  std::string name() const override { return "capacity"; }
  std::string summary() const override {
    return "Search the highest load that meets the SLO, or the smallest fleet for a load";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("CONFIG", config_, false, "the configuration, a YAML file");
    arguments.option("--for-load", for_load_,
                     "search the smallest fleet that carries so many requests/s (or "
                     "conversations/s, where the workload is those)");
    declare_study_flags(arguments, flags_);
  }
  Result<int> run() override;

 private:
  std::string config_;
  std::string for_load_;
  StudyFlags flags_;
};

// How a trace differs from its file is part of the result.
std::vector<std::string> notes_of(const PreparedRun& run) {
  std::vector<std::string> notes = deployment_notes(run);
  for (const std::string& note : workload_notes(run)) notes.push_back(note);
  return notes;
}

Result<int> Capacity::run() {
  const Result<void> one = check_one_config(config_, flags_.example, "a configuration file");
  if (!one) return std::unexpected(one.error());
  std::vector<std::string> settings = flags_.settings;
  if (!for_load_.empty()) {
    settings.emplace_back("study.capacity.search=replicas");
    settings.push_back("study.capacity.for_load=" + for_load_);
  }
  Result<Scenario> scenario = load_scenario(config_, settings);
  if (!scenario) return std::unexpected(scenario.error());
  // Before a study folder is made.
  if (const auto axis = CapacityAxis::make(*scenario); !axis) return std::unexpected(axis.error());

  StudyManifest manifest{.kind = "capacity",
                         .version = {},
                         .name = scenario->base().config.name,
                         .plan = scenario_plan(*scenario),
                         .warnings = notes_of(scenario->base())};
  std::vector<Scenario> scenarios;
  scenarios.push_back(std::move(*scenario));
  Result<StudySession> session = StudySession::start(flags_, std::move(scenarios), manifest);
  if (!session) return std::unexpected(session.error());
  const Result<CapacityResult> result =
      find_capacity(session->scenarios().front(), 0, session->executor());
  if (!result) return std::unexpected(result.error());
  return session->finish(capacity_json(*result), capacity_text);
}

}  // namespace

std::unique_ptr<Command> make_capacity_command() {
  return std::make_unique<Capacity>();
}

}  // namespace inferscale

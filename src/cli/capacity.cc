// `inferscale capacity`: how much load a deployment carries, or which fleet carries a load.

#include "study/capacity/capacity.h"

#include "base/config_json.h"
#include "cli/commands.h"
#include "cli/run_loading.h"
#include "cli/study_session.h"
#include "report/studies/capacity/capacity_text.h"
#include "study/capacity/capacity_json.h"
#include "study/comparison/alternatives.h"

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
                     "search the smallest fleet that carries so many requests/s");
    declare_study_flags(arguments, flags_);
  }
  Result<int> run() override;

 private:
  std::string config_;
  std::string for_load_;
  StudyFlags flags_;
};

// Everything that the runs and the result follow from; the study's options are in it.
JsonValue plan_of(const Scenario& scenario) {
  JsonValue configuration = JsonValue::object();
  for (const ConfigNode::Entry& entry : scenario.base().effective.entries()) {
    if (entry.key == "name" || entry.key == "output") continue;
    configuration.add(entry.key, JsonValue::raw(to_json_text(entry.value)));
  }
  return JsonValue::object()
      .add("scenario", scenario.label())
      .add("fingerprint", fingerprint_text(scenario.fingerprint()))
      .add("configuration", std::move(configuration));
}

// How a trace differs from its file is part of the result.
std::vector<std::string> notes_of(const Scenario& scenario) {
  std::vector<std::string> notes = configuration_notes(scenario.base());
  std::erase_if(notes,
                [](const std::string& note) { return note.starts_with("Derived workload:"); });
  return notes;
}

Result<int> Capacity::run() {
  if (flags_.example != config_.empty()) {
    return fail(ErrorCode::kInvalidConfig,
                flags_.example ? "'" + config_ + "' and --example: expected one of them"
                               : std::string("expected a configuration file, or --example"));
  }
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
                         .plan = plan_of(*scenario),
                         .warnings = notes_of(*scenario)};
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

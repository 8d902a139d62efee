// `inferscale replay`: a recorded decision log decided anew, or its run simulated anew with another
// policy at the door.

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "admission/registry.h"
#include "base/config_reader.h"
#include "cli/commands.h"
#include "cli/plugin_path.h"
#include "cli/recorded_run.h"
#include "cli/replay_text.h"
#include "cli/terminal.h"
#include "report/decision_log_comparison.h"
#include "report/decision_log_reader.h"
#include "study/replay/replay_json.h"

namespace inferscale {
namespace {

constexpr std::string_view kOpenLoop =
    "Open loop: refusals here do not change later state. This says where decisions differ, not "
    "what "
    "would have come of it: --closed-loop does.";

PolicyFactory none() {
  const ConfigNode parameters = ConfigNode::map({.source = "none"});
  ConfigSession session;
  ConfigReader reader(parameters, session);
  return find_policy("none")->read(reader);
}

// A run that is simulated, with what its decisions are compared with.
struct ComparedRun {
  SimulatedRun simulated;
  DecisionLogComparison::Finding finding;
};

class Replay final : public Command {
 public:
  std::string name() const override { return "replay"; }
  std::string summary() const override {
    return "Decide a recorded decision log anew, or simulate its run with another policy";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("LOG", log_, true, "decisions.jsonl in the folder that a run wrote");
    arguments.rest("KEY=VALUE", change_.parameters,
                   "key=value: of the policy that --policy names, else of the recorded one");
    arguments.option("--policy", change_.policy,
                     "decides in the place of the recorded policy (inferscale policies)");
    arguments.flag("--closed-loop", closed_loop_,
                   "simulate the run again with the policy in force, and compare");
    arguments.option("--files-from", files_from_,
                     "the folder that the names of files in the run's configuration count from "
                     "(default: the current one)");
    arguments.flag("--json", json_, "as JSON");
    declare_plugin_path(arguments);
  }
  Result<int> run() override;

 private:
  Result<void> load();
  Result<OpenReplay> open_replay() const;
  Result<int> run_open();
  Result<int> run_closed();
  Result<ComparedRun> simulate(const PreparedRun& run, std::int64_t decisions) const;
  Result<void> check_head(const DecisionLogHead& head) const;
  std::string title() const;
  JsonValue json_head(std::string_view loop) const;
  const PreparedRun& replayed() const { return replayed_ ? *replayed_ : *prepared_; }
  void note_closed(const DecisionLogContents& log, const DecisionLogComparison::Finding& recorded);
  std::string verdict(const DecisionLogComparison::Finding& finding) const;
  void print_notes() const;

  std::string log_;
  PolicyChange change_;
  bool closed_loop_ = false;
  bool json_ = false;
  std::string files_from_;

  RecordedRun recorded_;
  std::optional<PreparedRun> prepared_;  // as recorded
  std::optional<PreparedRun> replayed_;  // where it is another one
  std::vector<std::string> notes_;
};

Result<int> Replay::run() {
  if (const Result<void> loaded = load(); !loaded) {
    // What is wrong with the log itself comes first.
    const auto log = read_decisions(log_, [](const DecisionRecord&) {});
    return std::unexpected(log ? loaded.error() : log.error());
  }
  return closed_loop_ ? run_closed() : run_open();
}

Result<void> Replay::load() {
  Result<RecordedRun> recorded = read_recorded_run(log_);
  if (!recorded) return std::unexpected(recorded.error());
  recorded_ = std::move(*recorded);
  const RunInputs inputs = inputs_beside(files_from_.empty() ? "" : files_from_ + "/");
  Result<PreparedRun> prepared = prepare_recorded(recorded_, recorded_.config, inputs);
  if (!prepared) return std::unexpected(prepared.error());
  if (!prepared->deployment.fleet.door) {
    return fail(ErrorCode::kInvalidInput, "the run had no door: expected the manifest of this log",
                recorded_.manifest);
  }
  prepared_.emplace(std::move(*prepared));
  if (!change_.any()) return {};
  Result<ConfigNode> changed = with_policy(recorded_, change_);
  if (!changed) return std::unexpected(changed.error());
  Result<PreparedRun> replayed = prepare_recorded(recorded_, std::move(*changed), inputs);
  if (!replayed) return std::unexpected(replayed.error());
  replayed_.emplace(std::move(*replayed));
  return {};
}

Result<void> Replay::check_head(const DecisionLogHead& head) const {
  if (head.policy == recorded_.policy) return {};
  return fail(ErrorCode::kInvalidInput,
              "policy: '" + head.policy + "': expected '" + recorded_.policy +
                  "', as the manifest beside it says: the log is of another run",
              log_ + ":1");
}

std::string Replay::title() const {
  const std::string& is = replayed().config.admission.policy;
  std::string policy = "policy " + is + ", as recorded";
  if (replayed_) {
    policy = is == recorded_.policy ? "policy " + is + " with other parameters"
                                    : "policy " + is + " in the place of " + recorded_.policy;
  }
  return fmt::format("Replay of {} (simulated): {}\n", log_, policy);
}

JsonValue Replay::json_head(std::string_view loop) const {
  JsonValue notes = JsonValue::array();
  for (const std::string& note : notes_) notes.append(note);
  return JsonValue::object()
      .add("simulated", true)
      .add("loop", loop)
      .add("log", log_)
      .add("recorded_policy", recorded_.policy)
      .add("policy", replayed().config.admission.policy)
      .add("as_recorded", !replayed_.has_value())
      .add("notes", std::move(notes));
}

void Replay::print_notes() const {
  for (const std::string& note : notes_) fmt::print("\nNote: {}\n", note);
}

Result<OpenReplay> Replay::open_replay() const {
  const std::optional<DoorOptions>& door = replayed().deployment.fleet.door;
  GateOptions gate = prepared_->deployment.fleet.door->gate;
  gate.policy = door ? door->gate.policy : none();
  gate.policy_name = replayed().config.admission.policy;
  return OpenReplay::create(std::move(gate), replicas_behind_gate(*prepared_));
}

Result<int> Replay::run_open() {
  Result<OpenReplay> replay = open_replay();
  if (!replay) return std::unexpected(replay.error());
  const Result<DecisionLogContents> log =
      read_decisions(log_, [&](const DecisionRecord& record) { replay->on_decision(record); });
  if (!log) return std::unexpected(log.error());
  if (const Result<void> checked = check_head(log->head); !checked) {
    return std::unexpected(checked.error());
  }
  const Result<OpenReplayFigures> figures = replay->finish();
  if (!figures) return std::unexpected(figures.error());
  if (!log->note.empty()) notes_.push_back(log->note);
  notes_.emplace_back(kOpenLoop);
  if (json_) {
    fmt::print("{}",
               json_head("open").add("open_loop", open_replay_json(*figures)).indented_text());
    return 0;
  }
  fmt::print("{}\n{}", title(), open_replay_text(*figures));
  print_notes();
  return 0;
}

Result<ComparedRun> Replay::simulate(const PreparedRun& run, std::int64_t decisions) const {
  Result<DecisionLogComparison> comparison = DecisionLogComparison::open(log_, decisions);
  if (!comparison) return std::unexpected(comparison.error());
  const std::uint64_t requests = run.requests()->size();
  ProgressLine progress("simulating", requests, "requests");
  ComparedRun compared{.simulated = simulate_run(
                           run, {}, {.tallies = true, .log = &*comparison},
                           {.stop = &stop_requested(),
                            .progress = [&](std::uint64_t arrived) { progress.show(arrived); }}),
                       .finding = {}};
  if (compared.simulated.result.interrupted) return fail(ErrorCode::kInterrupted, "interrupted");
  if (compared.simulated.result.beyond_time) {
    return fail(ErrorCode::kInvalidConfig,
                "the run would outlast simulated time: expected a policy that lets it end");
  }
  const Result<DecisionLogComparison::Finding> finding = comparison->finish();
  if (!finding) return std::unexpected(finding.error());
  compared.finding = *finding;
  return compared;
}

void Replay::note_closed(const DecisionLogContents& log,
                         const DecisionLogComparison::Finding& recorded) {
  if (!log.note.empty()) notes_.push_back(log.note);
  if (!recorded_.complete) {
    notes_.emplace_back("The recorded run was interrupted; both columns are of the whole run.");
  }
  if (!replayed_ || recorded.is_begun_alike()) return;
  notes_.push_back(fmt::format(
      "The recorded run can't be repeated: line {} of the log comes out differently. Its column is "
      "of the repetition.",
      *recorded.first_other_line));
}

std::string Replay::verdict(const DecisionLogComparison::Finding& finding) const {
  if (finding.is_identical()) {
    return fmt::format("Decisions  identical: all {} come out again, byte for byte\n",
                       finding.recorded);
  }
  if (finding.is_begun_alike()) {
    return fmt::format("Decisions  the {} of the log come out again, byte for byte, then {} more\n",
                       finding.recorded, finding.taken - finding.recorded);
  }
  return fmt::format("Decisions  not identical: from line {} of the log on they are others\n",
                     *finding.first_other_line);
}

Result<int> Replay::run_closed() {
  std::int64_t decisions = 0;
  const Result<DecisionLogContents> log =
      read_decisions(log_, [&](const DecisionRecord&) { ++decisions; });
  if (!log) return std::unexpected(log.error());
  if (const Result<void> checked = check_head(log->head); !checked) {
    return std::unexpected(checked.error());
  }
  listen_for_stop();
  const Result<ComparedRun> was = simulate(*prepared_, decisions);
  if (!was) return std::unexpected(was.error());
  std::optional<ComparedRun> other;
  if (replayed_) {
    Result<ComparedRun> simulated = simulate(*replayed_, decisions);
    if (!simulated) return std::unexpected(simulated.error());
    other.emplace(std::move(*simulated));
  }
  const ComparedRun& is = other ? *other : *was;
  note_closed(*log, was->finding);
  const ReplayedRun recorded = replayed_run_of(*prepared_, was->simulated);
  const ReplayedRun again = replayed_run_of(replayed(), is.simulated);
  const PairedOutcomes pairs = pair_outcomes(was->simulated, is.simulated, *prepared_);
  if (json_) {
    JsonValue closed = JsonValue::object()
                           .add("identical", is.finding.is_identical())
                           .add("first_other_line", is.finding.first_other_line)
                           .add("recorded_decisions", is.finding.recorded)
                           .add("decisions", is.finding.taken)
                           .add("recorded_repeats", was->finding.is_begun_alike())
                           .add("recorded", replayed_run_json(recorded))
                           .add("replayed", replayed_run_json(again))
                           .add("paired", paired_outcomes_json(pairs));
    fmt::print("{}", json_head("closed").add("closed_loop", std::move(closed)).indented_text());
    return 0;
  }
  fmt::print("{}Closed loop: the same arrivals and seed, with the policy in force.\n\n{}\n{}",
             title(), verdict(is.finding), closed_replay_text(recorded, again, pairs));
  print_notes();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_replay_command() {
  return std::make_unique<Replay>();
}

}  // namespace inferscale

#include "cli/single_run.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <optional>

#include "base/edge/output_file.h"
#include "cli/admission_figures.h"
#include "cli/decision_files.h"
#include "cli/plugin_path.h"
#include "cli/run_figures.h"
#include "cli/run_loading.h"
#include "cli/run_manifest.h"
#include "cli/session_figures.h"
#include "cli/terminal.h"
#include "metrics/run_summary.h"
#include "report/decision_log.h"
#include "report/run_folder_writer.h"
#include "report/summary_json.h"
#include "report/text/admission_text.h"
#include "report/text/class_text.h"
#include "report/text/summary_text.h"
#include "report/text/text_table.h"
#include "sim/simulator.h"
#include "study/simulated_run.h"
#include "workload/workload_source.h"

namespace inferscale {
namespace {

class SingleRun {
 public:
  SingleRun(const RunFlags& flags, const RunKind& kind) : flags_(flags), kind_(kind) {}
  Result<int> run();

 private:
  Result<void> check_arguments() const;
  Result<PreparedRun> load() const;
  RunOptions options_for(const PreparedRun& run) const;
  Result<void> open_decision_log(const PreparedRun& run);
  Result<SimulatedRun> execute(const PreparedRun& run, std::uint64_t requests,
                               DecisionFiles& decisions);
  Result<void> write_folder(const PreparedRun& run, const SimulatedRun& simulated,
                            const RunSummary& summary);
  Result<void> verify(const PreparedRun& run, const SimulationResult& result) const;
  JsonValue summary_json(const PreparedRun& run, const SimulationResult& result,
                         const RunSummary& summary) const;
  void print(const PreparedRun& run, const SimulationResult& result,
             const RunSummary& summary) const;
  void print_admission() const;
  void print_notes() const;
  std::string source() const {
    return flags_.config.empty() ? std::string(kind_.example.name) : flags_.config;
  }

  const RunFlags& flags_;
  const RunKind& kind_;
  std::optional<DecisionLog> log_;             // of a run with a door that is kept
  std::optional<AdmissionSummary> admission_;  // of a run with a door, or with clients that react
  std::vector<std::string> warnings_;          // what a reader must know beside the figures
};

Result<void> SingleRun::check_arguments() const {
  if (flags_.stepwise && !(flags_.decisions + flags_.chrome_trace).empty()) {
    return fail(ErrorCode::kInvalidConfig,
                "--stepwise and --decisions or --chrome-trace: single steps are not told: expected "
                "one of them");
  }
  return check_one_config(flags_.config, flags_.example, "a configuration file");
}

// The run that the flags name, of the right kind of workload.
Result<PreparedRun> SingleRun::load() const {
  Result<PreparedRun> run = load_run(flags_.config, flags_.settings, kind_.example);
  if (!run) return run;
  const bool of_sessions = run->config.workload.sessions.has_value();
  if (of_sessions != kind_.of_sessions) {
    return fail(ErrorCode::kInvalidConfig,
                of_sessions ? "workload.sessions: are agent sessions: expected `inferscale agents`"
                            : "workload: expected sessions; `inferscale simulate` takes requests",
                source());
  }
  for (const GroupConfig& group : run->config.fleet.groups) {
    if (!flags_.stepwise || group.deployment.engine.service != ServiceMode::kSerial) continue;
    return fail(ErrorCode::kInvalidConfig,
                "--stepwise: expected deployment.engine.service: batched; the serial station takes "
                "no single steps",
                source());
  }
  return run;
}

RunOptions SingleRun::options_for(const PreparedRun& run) const {
  RunOptions options{.stepwise = flags_.stepwise, .verify = flags_.verify};
  if (!flags_.out.empty() || !flags_.json)
    options.signals_interval = run.config.output.signals_interval;
  return options;
}

Result<int> SingleRun::run() {
  if (const Result<void> checked = check_arguments(); !checked) {
    return std::unexpected(checked.error());
  }
  Result<PreparedRun> run = load();
  if (!run) return std::unexpected(run.error());
  warnings_ = configuration_notes(*run);
  // Before the work, so that what can't be written costs no time.
  if (!flags_.out.empty()) {
    if (const Result<void> made = make_folder(flags_.out); !made)
      return std::unexpected(made.error());
    const Result<void> ours = check_run_folder(flags_.out);
    if (!ours) return std::unexpected(ours.error());
  }
  Result<std::unique_ptr<DecisionFiles>> decisions =
      DecisionFiles::open(flags_.decisions, flags_.chrome_trace, flags_.out);
  if (!decisions) return std::unexpected(decisions.error());

  listen_for_stop();
  if (const Result<void> opened = open_decision_log(*run); !opened) {
    return std::unexpected(opened.error());
  }
  const std::uint64_t requests = run->requests()->size();
  Result<SimulatedRun> simulated = execute(*run, requests, **decisions);
  if (!simulated) return std::unexpected(simulated.error());
  const SimulationResult* result = &simulated->result;
  if (const Result<void> written = (*decisions)->finish(result->outcomes); !written) {
    return std::unexpected(written.error());
  }
  if (result->interrupted) {
    warnings_.push_back(
        fmt::format("Interrupted after {} of {} arrivals: figures are of what had finished.",
                    result->outcomes.size(), requests));
  }
  if (flags_.verify) {
    if (const Result<void> held = verify(*run, *result); !held) {
      return std::unexpected(held.error());
    }
  }
  const RunSummary summary = summary_of(*run, *result);
  admission_ = admission_summary_of(*run, *simulated, summary);
  for (const std::string& note : result_notes(*run, *result, summary)) warnings_.push_back(note);
  if (!flags_.out.empty()) {
    const Result<void> written = write_folder(*run, *simulated, summary);
    if (!written) return std::unexpected(written.error());
  }
  print(*run, *result, summary);
  if (result->interrupted) return fail(ErrorCode::kInterrupted, "interrupted");
  return 0;
}

Result<void> SingleRun::open_decision_log(const PreparedRun& run) {
  if (flags_.out.empty() || !run.deployment.fleet.door) return {};
  Result<DecisionLog> log = DecisionLog::create(
      decisions_path(flags_.out),
      {.policy = run.config.admission.policy, .more = decision_log_facts_of(run)});
  if (!log) return std::unexpected(log.error());
  log_.emplace(std::move(*log));
  return {};
}

Result<SimulatedRun> SingleRun::execute(const PreparedRun& run, std::uint64_t requests,
                                        DecisionFiles& decisions) {
  RunOptions options = options_for(run);
  if (decisions.any()) options.observer = &decisions;
  ProgressLine progress("simulating", requests, "requests");
  SimulatedRun simulated =
      simulate_run(run, options, {.tallies = true, .log = log_ ? &*log_ : nullptr},
                   {.stop = &stop_requested(),
                    .progress = [&](std::uint64_t arrived) { progress.show(arrived); }});
  if (!simulated.result.beyond_time) return simulated;
  return fail(ErrorCode::kInvalidConfig,
              fmt::format("the run would last more than {:.0f} years of simulated time: expected "
                          "shorter steps (deployment.latency, deployment.hardware), fewer tokens "
                          "or a higher arrival rate",
                          kEndOfTime.seconds() / (365.25 * 86400)),
              source());
}

Result<void> SingleRun::write_folder(const PreparedRun& run, const SimulatedRun& simulated,
                                     const RunSummary& summary) {
  const SimulationResult& result = simulated.result;
  RunRecord record{.manifest = run_manifest(run, warnings_, flags_.stepwise, !result.interrupted),
                   .summary = summary_json(run, result, summary),
                   .outcomes = result.outcomes,
                   .attempts = simulated.attempts,
                   .clients = simulated.attempts.empty() ? nullptr : &*result.clients,
                   .slo = run.config.slo,
                   .classes = run.classes_of(result.slo_class),
                   .signals = result.signals,
                   .replicas = reported_replicas(run, result),
                   .programs = result.programs ? &*result.programs : nullptr,
                   .with_prefix_cache = summary.prefix_hit_rate.has_value(),
                   .with_outcomes = run.config.output.outcomes};
  GeneratedColumns columns;
  if (result.programs) record.session_names = run.programs->session_names;
  if (run.trace) {
    record.carried = run.trace->carried();
  } else if (record.with_outcomes) {
    columns = result.programs ? session_columns(*result.programs, run.programs->session_names,
                                                result.outcomes.size())
                              : generated_columns(run.config.workload.generated, run.config.seed,
                                                  result.outcomes.size());
    record.carried = columns.carried();
  }
  return write_run_folder(flags_.out, record, log_ ? &*log_ : nullptr);
}

Result<void> SingleRun::verify(const PreparedRun& run, const SimulationResult& result) const {
  if (!result.violations.empty()) {
    std::string all;
    for (const std::string& violation : result.violations) all += "\n  " + violation;
    return fail(ErrorCode::kIo, "the run breaks its invariants:" + all);
  }
  if (result.interrupted) return {};
  // The same run again, looked at in another rhythm: outcomes must not depend on the looking.
  RunOptions again = options_for(run);
  again.signals_interval = Duration::from_seconds(0.37);
  const SimulationResult second = simulate_run(run, again, {}, {.stop = &stop_requested()}).result;
  if (second.interrupted) return fail(ErrorCode::kInterrupted, "interrupted during the second run");
  const bool same = second.outcomes.size() == result.outcomes.size() &&
                    std::memcmp(second.outcomes.data(), result.outcomes.data(),
                                result.outcomes.size() * sizeof(Outcome)) == 0;
  if (!same) return fail(ErrorCode::kIo, "INV-6: a second run has other outcomes");
  fmt::print(stderr, "verified: all invariants hold over {} events; a second run is the same\n",
             result.events);
  return {};
}

JsonValue SingleRun::summary_json(const PreparedRun& run, const SimulationResult& result,
                                  const RunSummary& summary) const {
  JsonValue json = summary_json_of(run, result, summary);
  if (result.programs) json.add("sessions", sessions_json_of(run, result));
  if (admission_) json.add("admission", admission_json_of(run, *admission_));
  return json;
}

void SingleRun::print(const PreparedRun& run, const SimulationResult& result,
                      const RunSummary& summary) const {
  if (flags_.json) {
    fmt::print("{}", summary_json(run, result, summary).indented_text());
    return;
  }
  if (result.programs) {
    fmt::print("{}{}", session_text_of(run, result, summary),
               class_text(summary.classes, "attempts"));
    print_admission();
    print_notes();
    return;
  }
  const std::span<const Outcome> counted =
      std::span(result.outcomes).subspan(static_cast<std::size_t>(summary.warmup_excluded));
  fmt::print("{}{}\n{}", summary_text(summary, context_of(run, result, summary)),
             fleet_events_text(run, result), summary_plots(counted, result.signals, plot_glyphs()));
  print_admission();
  print_notes();
}

void SingleRun::print_admission() const {
  if (admission_) fmt::print("\n{}", admission_text(*admission_, {}));
}

void SingleRun::print_notes() const {
  for (const std::string& warning : warnings_) fmt::print("\nNote: {}\n", warning);
  if (!flags_.out.empty()) {
    fmt::print("\nRun folder: {}  (a page with all plots: inferscale report {})\n", flags_.out,
               flags_.out);
  }
}

}  // namespace

void declare_run_flags(Arguments& arguments, RunFlags& flags) {
  arguments.positional("CONFIG", flags.config, false, "the configuration, a YAML file");
  arguments.flag("--example", flags.example, "simulate the example that is part of the program");
  arguments.repeated("--set", flags.settings,
                     "key.path=value: overrides a key of the configuration");
  declare_plugin_path(arguments);
  arguments.option("--out", flags.out, "write a run folder (docs/formats/run_folder.md)");
  arguments.option("--decisions", flags.decisions,
                   "write why each step was formed and each replica chosen, as JSON lines "
                   "(docs/formats/decisions.md)");
  arguments.option("--chrome-trace", flags.chrome_trace,
                   "write the run as a Chrome trace-event file, for Perfetto");
  arguments.flag("--json", flags.json, "print the summary as JSON");
  arguments.flag("--stepwise", flags.stepwise, "take every step: the slow oracle, same timestamps");
  arguments.flag("--verify", flags.verify,
                 "check the invariants, and that a second run is the same");
}

Result<int> run_once_and_report(const RunFlags& flags, const RunKind& kind) {
  return SingleRun(flags, kind).run();
}

}  // namespace inferscale

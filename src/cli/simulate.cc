// `inferscale simulate`: one deployment, one workload, what it would do.

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <optional>

#include "base/edge/output_file.h"
#include "cli/commands.h"
#include "cli/decision_files.h"
#include "cli/example_config.h"
#include "cli/run_figures.h"
#include "cli/run_loading.h"
#include "cli/run_manifest.h"
#include "cli/terminal.h"
#include "metrics/run_summary.h"
#include "report/run_folder_writer.h"
#include "report/summary_json.h"
#include "report/text/summary_text.h"
#include "report/text/text_table.h"
#include "sim/simulator.h"
#include "workload/workload_source.h"

namespace inferscale {
namespace {

class Simulate final : public Command {
 public:
  std::string name() const override { return "simulate"; }
  std::string summary() const override {
    return "Simulate a deployment under a workload: latency, goodput, KV use, cost";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("CONFIG", config_, false, "the configuration, a YAML file");
    arguments.flag("--example", example_, "simulate the example that is part of the program");
    arguments.repeated("--set", settings_, "key.path=value: overrides a key of the configuration");
    arguments.option("--out", out_, "write a run folder (docs/formats/run_folder.md)");
    arguments.option("--decisions", decisions_,
                     "write why each step was formed and each replica chosen, as JSON lines "
                     "(docs/formats/decisions.md)");
    arguments.option("--chrome-trace", chrome_trace_,
                     "write the run as a Chrome trace-event file, for Perfetto");
    arguments.flag("--json", json_, "print the summary as JSON");
    arguments.flag("--stepwise", stepwise_, "take every step: the slow oracle, same timestamps");
    arguments.flag("--verify", verify_, "check the invariants, and that a second run is the same");
  }
  Result<int> run() override;

 private:
  Result<void> check_arguments() const;
  RunOptions options_for(const PreparedRun& run) const;
  Result<SimulationResult> execute(const PreparedRun& run, RequestSource& requests,
                                   DecisionFiles& decisions) const;
  Result<void> write_folder(const PreparedRun& run, const SimulationResult& result,
                            const RunSummary& summary) const;
  Result<void> verify(const PreparedRun& run, const SimulationResult& result) const;
  void print(const PreparedRun& run, const SimulationResult& result,
             const RunSummary& summary) const;

  std::string config_;
  bool example_ = false;
  std::vector<std::string> settings_;
  std::string out_;
  std::string decisions_;
  std::string chrome_trace_;
  bool json_ = false;
  bool stepwise_ = false;
  bool verify_ = false;
  std::vector<std::string> warnings_;  // what a reader must know beside the figures
};

Result<void> Simulate::check_arguments() const {
  if (stepwise_ && !(decisions_ + chrome_trace_).empty()) {
    return fail(ErrorCode::kInvalidConfig,
                "--stepwise and --decisions or --chrome-trace: single steps are not told: expected "
                "one of them");
  }
  return check_one_config(config_, example_, "a configuration file");
}

RunOptions Simulate::options_for(const PreparedRun& run) const {
  RunOptions options{.stepwise = stepwise_, .verify = verify_};
  if (!out_.empty() || !json_) options.signals_interval = run.config.output.signals_interval;
  return options;
}

Result<int> Simulate::run() {
  if (const Result<void> checked = check_arguments(); !checked) {
    return std::unexpected(checked.error());
  }
  Result<PreparedRun> run = load_run(config_, settings_);
  if (!run) return std::unexpected(run.error());
  warnings_ = configuration_notes(*run);
  // Before the work, so that what can't be written costs no time.
  if (!out_.empty()) {
    if (const Result<void> made = make_folder(out_); !made) return std::unexpected(made.error());
    const Result<void> ours = check_run_folder(out_);
    if (!ours) return std::unexpected(ours.error());
  }
  Result<std::unique_ptr<DecisionFiles>> decisions =
      DecisionFiles::open(decisions_, chrome_trace_, out_);
  if (!decisions) return std::unexpected(decisions.error());

  listen_for_stop();
  const std::unique_ptr<RequestSource> requests = run->requests();
  Result<SimulationResult> result = execute(*run, *requests, **decisions);
  if (!result) return std::unexpected(result.error());
  if (const Result<void> written = (*decisions)->finish(result->outcomes); !written) {
    return std::unexpected(written.error());
  }
  if (result->interrupted) {
    warnings_.push_back(
        fmt::format("Interrupted after {} of {} arrivals: figures are of what had finished.",
                    result->outcomes.size(), requests->size()));
  }
  if (verify_) {
    if (const Result<void> held = verify(*run, *result); !held) {
      return std::unexpected(held.error());
    }
  }
  const RunSummary summary =
      summarize_run(result->outcomes, *result->gaps, facts_of(*run, *result));
  for (const std::string& note : result_notes(*run, *result, summary)) warnings_.push_back(note);
  if (!out_.empty()) {
    const Result<void> written = write_folder(*run, *result, summary);
    if (!written) return std::unexpected(written.error());
  }
  print(*run, *result, summary);
  if (result->interrupted) return fail(ErrorCode::kInterrupted, "interrupted");
  return 0;
}

Result<SimulationResult> Simulate::execute(const PreparedRun& run, RequestSource& requests,
                                           DecisionFiles& decisions) const {
  RunOptions options = options_for(run);
  if (decisions.any()) options.observer = &decisions;
  ProgressLine progress("simulating", requests.size(), "requests");
  SimulationResult result =
      simulate_fleet(run.deployment.fleet, options, requests,
                     {.stop = &stop_requested(),
                      .progress = [&](std::uint64_t arrived) { progress.show(arrived); }});
  if (!result.beyond_time) return result;
  return fail(ErrorCode::kInvalidConfig,
              fmt::format("the run would last more than {:.0f} years of simulated time: expected "
                          "shorter steps (deployment.latency, deployment.hardware), fewer tokens "
                          "or a higher arrival rate",
                          kEndOfTime.seconds() / (365.25 * 86400)),
              config_.empty() ? std::string(kExampleConfigName) : config_);
}

Result<void> Simulate::write_folder(const PreparedRun& run, const SimulationResult& result,
                                    const RunSummary& summary) const {
  RunRecord record{.manifest = run_manifest(run, warnings_, stepwise_, !result.interrupted),
                   .summary = summary_json_of(run, result, summary),
                   .outcomes = result.outcomes,
                   .slo = run.config.slo,
                   .signals = result.signals,
                   .replicas = reported_replicas(run, result),
                   .with_prefix_cache = summary.prefix_hit_rate.has_value(),
                   .with_outcomes = run.config.output.outcomes};
  GeneratedColumns columns;
  if (run.trace) {
    record.carried = run.trace->carried();
  } else if (record.with_outcomes) {
    columns =
        generated_columns(run.config.workload.generated, run.config.seed, result.outcomes.size());
    record.carried = columns.carried();
  }
  return write_run_folder(out_, record);
}

Result<void> Simulate::verify(const PreparedRun& run, const SimulationResult& result) const {
  if (!result.violations.empty()) {
    std::string all;
    for (const std::string& violation : result.violations) all += "\n  " + violation;
    return fail(ErrorCode::kIo, "the run breaks its invariants:" + all);
  }
  if (result.interrupted) return {};
  // The same run again, looked at in another rhythm: outcomes must not depend on the looking.
  RunOptions again = options_for(run);
  again.signals_interval = Duration::from_seconds(0.37);
  const std::unique_ptr<RequestSource> requests = run.requests();
  const SimulationResult second =
      simulate_fleet(run.deployment.fleet, again, *requests, {.stop = &stop_requested()});
  if (second.interrupted) return fail(ErrorCode::kInterrupted, "interrupted during the second run");
  const bool same = second.outcomes.size() == result.outcomes.size() &&
                    std::memcmp(second.outcomes.data(), result.outcomes.data(),
                                result.outcomes.size() * sizeof(Outcome)) == 0;
  if (!same) return fail(ErrorCode::kIo, "INV-6: a second run has other outcomes");
  fmt::print(stderr, "verified: all invariants hold over {} events; a second run is the same\n",
             result.events);
  return {};
}

void Simulate::print(const PreparedRun& run, const SimulationResult& result,
                     const RunSummary& summary) const {
  if (json_) {
    fmt::print("{}", summary_json_of(run, result, summary).indented_text());
    return;
  }
  const std::span<const Outcome> counted =
      std::span(result.outcomes).subspan(static_cast<std::size_t>(summary.warmup_excluded));
  fmt::print("{}{}\n{}", summary_text(summary, context_of(run, result, summary)),
             fleet_events_text(run, result), summary_plots(counted, result.signals, plot_glyphs()));
  for (const std::string& warning : warnings_) fmt::print("\nNote: {}\n", warning);
  if (!out_.empty()) {
    fmt::print("\nRun folder: {}  (a page with all plots: inferscale report {})\n", out_, out_);
  }
}

}  // namespace

std::unique_ptr<Command> make_simulate_command() {
  return std::make_unique<Simulate>();
}

}  // namespace inferscale

// `inferscale simulate`: one deployment, one workload, what it would do.

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <optional>

#include "base/edge/output_file.h"
#include "cli/commands.h"
#include "cli/example_config.h"
#include "cli/run_loading.h"
#include "cli/run_manifest.h"
#include "cli/terminal.h"
#include "metrics/run_summary.h"
#include "report/run_folder_writer.h"
#include "report/summary_json.h"
#include "report/text/summary_text.h"
#include "report/text/text_table.h"
#include "sim/simulator.h"

namespace inferscale {
namespace {

RunFacts facts_of(const LoadedRun& run, const SimulationResult& result) {
  const ReplicaUsage& usage = result.usage;
  return {.slo = run.config.slo,
          .end = result.end,
          .accelerators = run.deployment.accelerators,
          .kv_blocks = run.deployment.replica.kv_blocks,
          .busy_ns = usage.busy_ns,
          .sequence_ns = usage.sequence_ns,
          .kv_block_ns = usage.kv_block_ns,
          .kv_blocks_peak = usage.kv_blocks_peak,
          .running_peak = usage.running_peak,
          .queue_peak = usage.queue_peak,
          .preemptions = usage.preemptions,
          .recomputed_tokens = usage.recomputed_tokens};
}

SummaryContext context_of(const LoadedRun& run, const RunSummary& summary) {
  const DeploymentConfig& deployment = run.config.deployment;
  const ReplicaOptions& replica = run.deployment.replica;
  const std::string source = run.trace ? fmt::format("trace {} ({})", run.trace->file_name,
                                                     trace_format_name(run.trace->format))
                                       : std::string("generated requests");
  return {.title = fmt::format("{}: {} on {} x {}, {}, {} latency model (simulated)",
                               run.config.name, deployment.model.name, run.deployment.accelerators,
                               deployment.hardware.name, scheduler_name(replica.scheduler),
                               run.deployment.latency->name()),
          .workload = fmt::format(
              "{}: {} in {} s{}", source, summary.arrived, short_number(summary.arrival_window_s),
              summary.offered_rps
                  ? fmt::format(", {} requests/s offered", short_number(*summary.offered_rps))
                  : std::string()),
          .slo = run.config.slo,
          .kv_blocks = replica.kv_blocks,
          .kv_block_tokens = replica.layout.block_tokens,
          .max_num_seqs = replica.max_num_seqs,
          .accelerators = run.deployment.accelerators};
}

// A run that falls behind has no steady state: its percentiles follow from how long it was.
std::optional<std::string> overload_warning(const RunSummary& summary) {
  constexpr double kLongWait = 0.2;  // of the arrival window
  const double longest_s = 1e-3 * summary.queue_ms.max;
  if (longest_s <= kLongWait * summary.arrival_window_s) return std::nullopt;
  return fmt::format(
      "Requests came faster than they were served: the longest wait is {} s, in an arrival window "
      "of {} s. A longer or shorter run would have other percentiles.",
      short_number(longest_s), short_number(summary.arrival_window_s));
}

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
    arguments.flag("--json", json_, "print the summary as JSON");
    arguments.flag("--stepwise", stepwise_, "take every step: the slow oracle, same timestamps");
    arguments.flag("--verify", verify_, "check the invariants, and that a second run is the same");
  }
  Result<int> run() override;

 private:
  Result<void> check_arguments() const;
  SimulatorOptions options_for(const LoadedRun& run) const;
  Result<void> verify(const LoadedRun& run, const SimulationResult& result) const;
  void print(const LoadedRun& run, const SimulationResult& result, const RunSummary& summary) const;

  std::string config_;
  bool example_ = false;
  std::vector<std::string> settings_;
  std::string out_;
  bool json_ = false;
  bool stepwise_ = false;
  bool verify_ = false;
};

Result<void> Simulate::check_arguments() const {
  if (example_ == config_.empty()) return {};
  return fail(ErrorCode::kInvalidConfig,
              example_ ? "'" + config_ + "' and --example: expected one of them"
                       : std::string("expected a configuration file, or --example"));
}

SimulatorOptions Simulate::options_for(const LoadedRun& run) const {
  SimulatorOptions options{
      .replica = run.deployment.replica, .stepwise = stepwise_, .verify = verify_};
  if (!out_.empty() || !json_) options.signals_interval = run.config.output.signals_interval;
  return options;
}

Result<int> Simulate::run() {
  if (const Result<void> checked = check_arguments(); !checked) {
    return std::unexpected(checked.error());
  }
  Result<LoadedRun> run = load_run(config_, settings_);
  if (!run) return std::unexpected(run.error());
  // Before the work, so that a folder that can't be written costs no time.
  if (!out_.empty()) {
    if (const Result<void> made = make_folder(out_); !made) return std::unexpected(made.error());
    const Result<void> ours = check_run_folder(out_);
    if (!ours) return std::unexpected(ours.error());
  }

  listen_for_stop();
  const std::unique_ptr<RequestSource> requests = run->requests();
  SimulationResult result;
  {
    ProgressLine progress("simulating", requests->size(), "requests");
    result = simulate(options_for(*run), *run->deployment.latency, *requests,
                      {.stop = &stop_requested(),
                       .progress = [&](std::uint64_t arrived) { progress.show(arrived); }});
  }
  if (result.beyond_time) {
    return fail(ErrorCode::kInvalidConfig,
                fmt::format("the run would last more than {:.0f} years of simulated time: expected "
                            "shorter steps (deployment.latency, deployment.hardware), fewer tokens "
                            "or a higher arrival rate",
                            kEndOfTime.seconds() / (365.25 * 86400)),
                config_.empty() ? std::string(kExampleConfigName) : config_);
  }
  if (result.interrupted) {
    run->warnings.push_back(
        fmt::format("Interrupted after {} of {} arrivals: figures are of what had finished.",
                    result.outcomes.size(), requests->size()));
  }
  if (verify_) {
    if (const Result<void> held = verify(*run, result); !held) return std::unexpected(held.error());
  }
  const RunSummary summary = summarize_run(result.outcomes, *result.gaps, facts_of(*run, result));
  if (const auto warning = overload_warning(summary)) run->warnings.push_back(*warning);
  if (summary.arrived > 0 && summary.refused == summary.arrived) {
    run->warnings.push_back("Every request was refused: there are no latencies to report.");
  }
  if (result.signals_thinned) {
    run->warnings.push_back(
        fmt::format("The run is long: the state was sampled every {} s, not as often as asked for.",
                    short_number(result.signals_interval.seconds())));
  }
  if (!out_.empty()) {
    RunRecord record{.manifest = run_manifest(*run, stepwise_, !result.interrupted),
                     .summary = summary_json(summary, run->config.slo),
                     .outcomes = result.outcomes,
                     .slo = run->config.slo,
                     .signals = result.signals,
                     .with_outcomes = run->config.output.outcomes};
    if (run->trace) record.carried = run->trace->carried();
    const Result<void> written = write_run_folder(out_, record);
    if (!written) return std::unexpected(written.error());
  }
  print(*run, result, summary);
  if (result.interrupted) return fail(ErrorCode::kInterrupted, "interrupted");
  return 0;
}

Result<void> Simulate::verify(const LoadedRun& run, const SimulationResult& result) const {
  if (!result.violations.empty()) {
    std::string all;
    for (const std::string& violation : result.violations) all += "\n  " + violation;
    return fail(ErrorCode::kIo, "the run breaks its invariants:" + all);
  }
  if (result.interrupted) return {};
  // The same run again, looked at in another rhythm: outcomes must not depend on the looking.
  SimulatorOptions again = options_for(run);
  again.signals_interval = Duration::from_seconds(0.37);
  const std::unique_ptr<RequestSource> requests = run.requests();
  const SimulationResult second =
      simulate(again, *run.deployment.latency, *requests, {.stop = &stop_requested()});
  if (second.interrupted) return fail(ErrorCode::kInterrupted, "interrupted during the second run");
  const bool same = second.outcomes.size() == result.outcomes.size() &&
                    std::memcmp(second.outcomes.data(), result.outcomes.data(),
                                result.outcomes.size() * sizeof(Outcome)) == 0;
  if (!same) return fail(ErrorCode::kIo, "INV-6: a second run has other outcomes");
  fmt::print(stderr, "verified: all invariants hold over {} events; a second run is the same\n",
             result.events);
  return {};
}

void Simulate::print(const LoadedRun& run, const SimulationResult& result,
                     const RunSummary& summary) const {
  if (json_) {
    fmt::print("{}", summary_json(summary, run.config.slo).indented_text());
    return;
  }
  fmt::print("{}\n{}", summary_text(summary, context_of(run, summary)),
             summary_plots(result.outcomes, result.signals, plot_glyphs()));
  for (const std::string& warning : run.warnings) fmt::print("\nNote: {}\n", warning);
  if (!out_.empty()) {
    fmt::print("\nRun folder: {}  (a page with all plots: inferscale report {})\n", out_, out_);
  }
}

}  // namespace

std::unique_ptr<Command> make_simulate_command() {
  return std::make_unique<Simulate>();
}

}  // namespace inferscale

#include "study/run_figures.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "study/session_figures.h"

namespace inferscale {
namespace {

constexpr double kSecondsPerHour = 3600;

void set_counts(const RunSummary& summary, RunFigures& figures) {
  const auto set = [&](Metric metric, std::int64_t count) {
    figures.set(metric, static_cast<double>(count));
  };
  set(Metric::kArrived, summary.arrived);
  set(Metric::kCounted, summary.counted);
  set(Metric::kFinished, summary.finished);
  // Whoever was not served for another reason than a failure: deferred for good, or gone, too.
  set(Metric::kRefused, summary.refused + summary.deferred + summary.abandoned);
  set(Metric::kLost, summary.lost);
  set(Metric::kUnfinished, summary.unfinished);
  set(Metric::kPreemptions, summary.preemptions);
  set(Metric::kQueuePeak, summary.queue_peak);
}

// No request, no latency: figures of an empty population are nothing, not zero.
void set_latencies(const RunSummary& summary, RunFigures& figures) {
  const auto set = [&](const PopulationSummary& of, Metric metric, double value) {
    if (of.count > 0) figures.set(metric, value);
  };
  const PopulationSummary& ttft = summary.ttft_ms;
  set(ttft, Metric::kTtftMean, ttft.mean);
  set(ttft, Metric::kTtftP50, ttft.p50);
  set(ttft, Metric::kTtftP90, ttft.p90);
  set(ttft, Metric::kTtftP95, ttft.p95);
  set(ttft, Metric::kTtftP99, ttft.p99);
  const PopulationSummary& tpot = summary.tpot_ms;
  set(tpot, Metric::kTpotMean, tpot.mean);
  set(tpot, Metric::kTpotP50, tpot.p50);
  set(tpot, Metric::kTpotP90, tpot.p90);
  set(tpot, Metric::kTpotP95, tpot.p95);
  set(tpot, Metric::kTpotP99, tpot.p99);
  const PopulationSummary& itl = summary.itl_ms;
  set(itl, Metric::kItlMean, itl.mean);
  set(itl, Metric::kItlP50, itl.p50);
  set(itl, Metric::kItlP95, itl.p95);
  set(itl, Metric::kItlP99, itl.p99);
  const PopulationSummary& e2e = summary.e2e_ms;
  set(e2e, Metric::kE2eMean, e2e.mean);
  set(e2e, Metric::kE2eP50, e2e.p50);
  set(e2e, Metric::kE2eP90, e2e.p90);
  set(e2e, Metric::kE2eP95, e2e.p95);
  set(e2e, Metric::kE2eP99, e2e.p99);
  const PopulationSummary& queue = summary.queue_ms;
  set(queue, Metric::kQueueMean, queue.mean);
  set(queue, Metric::kQueueP95, queue.p95);
}

void set_slo(const RunSummary& summary, const RunConfig& config, RunFigures& figures) {
  if (!summary.has_slo || summary.counted == 0) return;
  const auto share = [&](std::int64_t met) {
    return static_cast<double>(met) / static_cast<double>(summary.counted);
  };
  figures.set(Metric::kGoodput, summary.goodput);
  figures.set(Metric::kGoodputRps, summary.goodput_rps);
  if (summary.admitted > 0) figures.set(Metric::kAttainmentAdmitted, summary.attainment_admitted);
  const RequestClasses classes{.classes = config.slo_classes};
  if (classes.any_ttft(config.slo)) figures.set(Metric::kTtftMet, share(summary.ttft_met));
  if (classes.any_itl(config.slo)) figures.set(Metric::kItlMet, share(summary.itl_met));
  if (classes.any_e2e(config.slo)) figures.set(Metric::kE2eMet, share(summary.e2e_met));
}

// Like goodput, of the requests that count and the time after the warm-up: a summary's own rates
// are over the whole run, and below its goodput where traffic builds up.
void set_throughput(const RunSummary& summary, std::span<const Outcome> outcomes,
                    RunFigures& figures) {
  const auto counted = outcomes.subspan(static_cast<std::size_t>(summary.warmup_excluded));
  if (counted.empty()) return;
  const Duration window = counted.back().arrival - counted.front().arrival;
  if (window > Duration()) {
    figures.set(Metric::kOfferedRps, static_cast<double>(counted.size() - 1) / window.seconds());
  }
  const double measured_s = summary.duration_s - summary.warmup_s;
  if (measured_s <= 0) return;
  std::int64_t finished = 0;
  std::int64_t tokens = 0;
  for (const Outcome& outcome : counted) {
    if (!outcome.finished()) continue;
    ++finished;
    tokens += outcome.output_tokens;
  }
  figures.set(Metric::kFinishedRps, static_cast<double>(finished) / measured_s);
  figures.set(Metric::kOutputTokensPerSecond, static_cast<double>(tokens) / measured_s);
}

void set_use(const RunSummary& summary, RunFigures& figures) {
  figures.set(Metric::kPrefixHitRate, summary.prefix_hit_rate);
  figures.set(Metric::kKvUsedMean, summary.kv_used_mean);
  figures.set(Metric::kKvUsedPeak, summary.kv_used_peak);
  figures.set(Metric::kUtilisation, summary.utilisation);
  figures.set(Metric::kRunningMean, summary.running_mean);
  figures.set(Metric::kArrivalWindow, summary.arrival_window_s);
  figures.set(Metric::kDuration, summary.duration_s);
  figures.set(Metric::kDrain, summary.drain_s);
  const std::optional<bool> steady = summary.steady();
  if (steady) figures.set(Metric::kSaturated, *steady ? 0 : 1);
}

// The mean over the run's duration of what is up: of a fleet that is always up exactly its size.
std::optional<double> mean_up(
    const SimulationResult& result,
    const std::function<std::optional<double>(const ReplicaReport&)>& each) {
  double sum = 0;
  const Duration whole = result.end - Instant();
  for (const ReplicaReport& replica : result.replicas) {
    const std::optional<double> one = each(replica);
    if (!one) return std::nullopt;
    sum += *one * (static_cast<double>(replica.up.ns()) / static_cast<double>(whole.ns()));
  }
  return sum;
}

void set_efficiency(const RunSummary& summary, const SimulationResult& result,
                    RunFigures& figures) {
  figures.set(Metric::kAcceleratorHours, summary.accelerator_hours);
  if (summary.duration_s <= 0) return;
  const std::optional<double> accelerators =
      mean_up(result, [](const ReplicaReport& replica) -> std::optional<double> {
        return static_cast<double>(replica.accelerators);
      });
  figures.set(Metric::kAccelerators, accelerators);
  if (summary.has_slo && summary.counted > 0 && *accelerators > 0) {
    figures.set(Metric::kGoodputRpsPerAccelerator, summary.goodput_rps / *accelerators);
  }
}

// An hour's price of a replica's accelerators; nothing where it is not known.
std::optional<double> price_of(const FleetConfig& fleet, const ReplicaReport& replica) {
  const auto group = std::find_if(fleet.groups.begin(), fleet.groups.end(),
                                  [&](const GroupConfig& one) { return one.name == replica.pool; });
  CHECK(group != fleet.groups.end()) << "a replica of the pool " << replica.pool;
  const std::optional<double> price = group->deployment.price_per_accelerator_hour;
  if (!price) return std::nullopt;
  return *price * static_cast<double>(replica.accelerators);
}

// With one price for all, these are the figures per accelerator and accelerator-hour beside it.
void set_cost(const RunSummary& summary, const PreparedRun& run, const SimulationResult& result,
              RunFigures& figures) {
  if (summary.duration_s <= 0) return;
  const std::optional<double> per_hour = mean_up(
      result, [&](const ReplicaReport& replica) { return price_of(run.config.fleet, replica); });
  if (!per_hour) return;
  figures.set(Metric::kCostPerHour, per_hour);
  if (summary.has_slo && summary.counted > 0 && *per_hour > 0) {
    figures.set(Metric::kGoodRequestsPerCost, summary.goodput_rps * kSecondsPerHour / *per_hour);
  }
  if (summary.output_tokens > 0) {
    const double cost = *per_hour * summary.duration_s / kSecondsPerHour;
    figures.set(Metric::kCostPerMillionOutputTokens,
                cost / (static_cast<double>(summary.output_tokens) * 1e-6));
  }
}

// Answers of engines are none of the door's.
bool is_of_engine(Reason reason) {
  return reason == Reason::kExceedsKvCache || reason == Reason::kExceedsModelLen ||
         reason == Reason::kQueueFull || reason == Reason::kReplicaFailed;
}

double longest_service_s(std::span<const Outcome> outcomes) {
  Duration longest;
  for (const Outcome& outcome : outcomes) {
    if (outcome.finished()) longest = std::max(longest, outcome.finish - outcome.start);
  }
  return longest.seconds();
}

}  // namespace

RunFigures figures_of(const PreparedRun& run, const SimulationResult& result) {
  const RunSummary summary = summary_of(run, result);
  RunFigures figures;
  set_counts(summary, figures);
  set_latencies(summary, figures);
  set_slo(summary, run.config, figures);
  set_throughput(summary, result.outcomes, figures);
  set_use(summary, figures);
  set_efficiency(summary, result, figures);
  set_cost(summary, run, result, figures);
  figures.set(Metric::kServiceMax, longest_service_s(result.outcomes));
  if (result.programs) {
    const SessionFacts facts = session_facts_of(run, result);
    set_session_figures(summarize_sessions(*result.programs, result.outcomes, facts), facts,
                        figures);
  }
  return figures;
}

void set_door_figures(const PreparedRun& run, const SimulatedRun& simulated, RunFigures& figures) {
  // Where callers never come again, and of agent programs, the outcomes are of attempts.
  const std::vector<Outcome>& attempts =
      simulated.attempts.empty() ? simulated.result.outcomes : simulated.attempts;
  if (!run.config.admission.door || attempts.empty()) return;
  std::int64_t rejected = 0;
  std::int64_t deferred = 0;
  for (const Outcome& attempt : attempts) {
    rejected += attempt.status == OutcomeStatus::kRefused && !is_of_engine(attempt.reason) ? 1 : 0;
    deferred += attempt.status == OutcomeStatus::kDeferred ? 1 : 0;
  }
  const auto all = static_cast<double>(attempts.size());
  figures.set(Metric::kRejectedShare, static_cast<double>(rejected) / all);
  figures.set(Metric::kDeferredShare, static_cast<double>(deferred) / all);
}

}  // namespace inferscale

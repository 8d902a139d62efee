#include "metrics/run_summary.h"

#include <algorithm>

#include "metrics/outcome_figures.h"
#include "metrics/warmup.h"

namespace inferscale {
namespace {

using Figure = OutcomeFigures::Figure;

constexpr double kMillisPerNano = 1e-6;

void count_endings(std::span<const Outcome> outcomes, RunSummary& summary) {
  for (const Outcome& outcome : outcomes) {
    switch (outcome.status) {
      case OutcomeStatus::kUnfinished:
        ++summary.unfinished;
        continue;
      case OutcomeStatus::kRefused:
        ++summary.refused;
        ++summary.refused_by[static_cast<std::size_t>(outcome.reason)];
        continue;
      case OutcomeStatus::kLost:
        ++summary.lost;
        continue;
      case OutcomeStatus::kDeferred:
        ++summary.deferred;
        continue;
      case OutcomeStatus::kAbandoned:
        ++summary.abandoned;
        continue;
      case OutcomeStatus::kFinished:
        break;
    }
    ++summary.finished;
    summary.prompt_tokens += outcome.prompt_tokens;
    summary.output_tokens += outcome.output_tokens;
  }
}

void fill_prefix_hits(std::span<const Outcome> outcomes, RunSummary& summary) {
  if (summary.prompt_tokens == 0) return;
  std::int64_t cached = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.finished()) cached += outcome.cached_tokens;
  }
  summary.prefix_hit_rate =
      static_cast<double>(cached) / static_cast<double>(summary.prompt_tokens);
}

// The arrival of the first request that counts.
Instant warmup_end(std::span<const Outcome> outcomes, const MeasurementOptions& options,
                   RunSummary& summary) {
  summary.warmup_auto = options.warmup_auto;
  if (!options.warmup_auto) return Instant() + options.warmup;
  OutcomeFigures ttft(outcomes, Figure::kTtft);
  const std::optional<std::size_t> cut = mser5(ttft);
  summary.warmup_found = cut.has_value();
  if (cut.value_or(0) == 0) return {};
  std::size_t finished = 0;
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), [&](const Outcome& outcome) {
    return outcome.finished() && finished++ == *cut;
  });
  return first->arrival;
}

// The requests that arrived when the warm-up had ended.
std::span<const Outcome> counted_of(std::span<const Outcome> outcomes, Instant warmup) {
  const auto first =
      std::lower_bound(outcomes.begin(), outcomes.end(), warmup,
                       [](const Outcome& outcome, Instant at) { return outcome.arrival < at; });
  return {first, outcomes.end()};
}

// `classes` are of `counted`, here and below.
void count_met(std::span<const Outcome> counted, const Slo& common, const RequestClasses& classes,
               RunSummary& summary) {
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const Outcome& outcome = counted[i];
    const Slo& slo = classes.slo(i, common);
    if (outcome.status != OutcomeStatus::kRefused && outcome.status != OutcomeStatus::kDeferred) {
      ++summary.admitted;
    }
    if (!outcome.finished()) continue;
    if (!slo.ttft || outcome.ttft() <= *slo.ttft) ++summary.ttft_met;
    if (!slo.e2e || outcome.e2e() <= *slo.e2e) ++summary.e2e_met;
    if (itl_met(slo, outcome)) ++summary.itl_met;
    if (slo_met(slo, outcome)) ++summary.slo_met;
  }
  const auto met = static_cast<double>(summary.slo_met);
  if (!counted.empty()) summary.goodput = met / static_cast<double>(counted.size());
  if (summary.admitted > 0) {
    summary.attainment_admitted = met / static_cast<double>(summary.admitted);
  }
}

void summarize_latencies(std::span<const Outcome> counted, RunSummary& summary) {
  const auto population = [&](Figure figure) {
    OutcomeFigures stream(counted, figure);
    return summarize(stream);
  };
  summary.ttft_ms = population(Figure::kTtft);
  summary.tpot_ms = population(Figure::kTpot);
  summary.e2e_ms = population(Figure::kE2e);
  summary.queue_ms = population(Figure::kQueueTime);
  summary.itl_ms_max = population(Figure::kItlMax);
}

// The figures that every finished request has: their batches end together, and are summed up on the
// way, so that a request costs some additions.
class FinishedMeans {
 public:
  explicit FinishedMeans(const RunSummary& summary)
      : ttft_(summary.ttft_ms.count),
        e2e_(summary.e2e_ms.count),
        queue_(summary.queue_ms.count),
        ttft_p95_(p95_of(summary.ttft_ms)),
        e2e_p95_(p95_of(summary.e2e_ms)),
        left_(ttft_.left_in_batch()) {}

  void add(const Outcome& outcome) {
    const double ttft_ms = static_cast<double>(outcome.ttft().ns()) * kMillisPerNano;
    const double e2e_ms = static_cast<double>(outcome.e2e().ns()) * kMillisPerNano;
    sums_.ttft += ttft_ms;
    sums_.e2e += e2e_ms;
    sums_.queue += static_cast<double>(outcome.queue_time().ns()) * kMillisPerNano;
    sums_.ttft_within += ttft_p95_.look_at(ttft_ms) ? 1 : 0;
    sums_.e2e_within += e2e_p95_.look_at(e2e_ms) ? 1 : 0;
    if (++sums_.values == left_) end_batch();
  }

  void fill(RunSummary& summary) {
    summary.confidence.ttft_ms_mean = ttft_.of_mean();
    summary.confidence.ttft_ms_p95 = ttft_p95_.interval();
    summary.confidence.e2e_ms_mean = e2e_.of_mean();
    summary.confidence.e2e_ms_p95 = e2e_p95_.interval();
    summary.confidence.queue_ms_mean = queue_.of_mean();
  }

 private:
  struct Sums {
    double ttft = 0;
    double e2e = 0;
    double queue = 0;
    std::int64_t ttft_within = 0;
    std::int64_t e2e_within = 0;
    std::int64_t values = 0;
  };
  static BatchQuantile p95_of(const PopulationSummary& population) {
    return {population.count, 0.95, population.p95, population.p90};
  }
  void end_batch() {
    ttft_.add_batch(sums_.ttft, sums_.values);
    e2e_.add_batch(sums_.e2e, sums_.values);
    queue_.add_batch(sums_.queue, sums_.values);
    ttft_p95_.add_batch(sums_.ttft_within, sums_.values);
    e2e_p95_.add_batch(sums_.e2e_within, sums_.values);
    sums_ = {};
    left_ = ttft_.left_in_batch();
  }

  BatchMeans ttft_;
  BatchMeans e2e_;
  BatchMeans queue_;
  BatchQuantile ttft_p95_;
  BatchQuantile e2e_p95_;
  Sums sums_;  // of the batch under way
  std::int64_t left_;
};

// All in one reading.
void fill_confidence(std::span<const Outcome> counted, const Slo& common,
                     const RequestClasses& classes, RunSummary& summary) {
  FinishedMeans finished(summary);
  BatchMeans tpot(summary.tpot_ms.count);
  BatchMeans goodput(std::ssize(counted));
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const Outcome& outcome = counted[i];
    goodput.add(slo_met(classes.slo(i, common), outcome) ? 1 : 0);
    if (!outcome.finished()) continue;
    finished.add(outcome);
    if (outcome.output_tokens >= 2) tpot.add(outcome.tpot_ns() * kMillisPerNano);
  }
  finished.fill(summary);
  summary.confidence.tpot_ms_mean = tpot.of_mean();
  if (classes.any(common)) summary.confidence.goodput = goodput.of_share();
}

PopulationSummary of_histogram(const DurationHistogram& gaps) {
  PopulationSummary summary;
  summary.count = gaps.total();
  if (summary.count == 0) return summary;
  summary.mean = gaps.mean_ns() * kMillisPerNano;
  summary.p50 = gaps.quantile(0.50).millis();
  summary.p90 = gaps.quantile(0.90).millis();
  summary.p95 = gaps.quantile(0.95).millis();
  summary.p99 = gaps.quantile(0.99).millis();
  summary.max = gaps.max().millis();
  return summary;
}

void fill_rates(std::span<const Outcome> outcomes, const RunFacts& facts, RunSummary& summary) {
  summary.duration_s = facts.end.seconds();
  if (outcomes.empty()) return;
  const Duration window = outcomes.back().arrival - outcomes.front().arrival;
  summary.arrival_window_s = window.seconds();
  summary.drain_s = (facts.end - outcomes.back().arrival).seconds();
  if (window.ns() > 0) {
    summary.offered_rps = static_cast<double>(outcomes.size() - 1) / window.seconds();
  }
  summary.accelerator_hours =
      facts.replicas.empty() ? summary.duration_s * static_cast<double>(facts.accelerators) / 3600.0
                             : summary.fleet.accelerator_hours;
  if (summary.output_tokens > 0) {
    summary.accelerator_hours_per_million_output_tokens =
        summary.accelerator_hours / (static_cast<double>(summary.output_tokens) * 1e-6);
  }
  if (summary.duration_s == 0) return;
  const auto per_second = [&](std::int64_t n) {
    return static_cast<double>(n) / summary.duration_s;
  };
  summary.finished_rps = per_second(summary.finished);
  summary.output_tokens_per_s = per_second(summary.output_tokens);
  summary.total_tokens_per_s = per_second(summary.prompt_tokens + summary.output_tokens);
  const double measured_s = summary.duration_s - summary.warmup_s;
  if (measured_s > 0) summary.goodput_rps = static_cast<double>(summary.slo_met) / measured_s;
}

void fill_usage(const RunFacts& facts, RunSummary& summary) {
  const double duration_ns = static_cast<double>(facts.end.ns());
  const double blocks = static_cast<double>(facts.kv_blocks);
  if (duration_ns > 0) {
    summary.kv_used_mean = facts.kv_block_ns / duration_ns / blocks;
    summary.running_mean = facts.sequence_ns / duration_ns;
    summary.utilisation = facts.busy_ns / duration_ns;
  }
  summary.kv_used_peak = static_cast<double>(facts.kv_blocks_peak) / blocks;
  summary.running_peak = facts.running_peak;
  summary.queue_peak = facts.queue_peak;
  summary.preemptions = facts.preemptions;
  summary.recomputed_tokens = facts.recomputed_tokens;
}

// The same figures for a fleet: of the time that each replica was up, and its own cache.
void fill_fleet_usage(std::span<const ReplicaReport> replicas, RunSummary& summary) {
  double up_ns = 0;
  double busy_ns = 0;
  double block_ns = 0;
  double there_ns = 0;
  summary.kv_used_peak = 0;
  for (const ReplicaReport& replica : replicas) {
    up_ns += static_cast<double>(replica.up.ns());
    busy_ns += replica.busy_ns;
    block_ns += replica.kv_block_ns;
    there_ns += static_cast<double>(replica.up.ns()) * static_cast<double>(replica.kv_blocks);
    summary.kv_used_peak = std::max(summary.kv_used_peak, replica.kv_used_peak().value_or(0));
  }
  if (up_ns > 0) summary.utilisation = busy_ns / up_ns;
  if (there_ns > 0) summary.kv_used_mean = block_ns / there_ns;
}

}  // namespace

RunSummary summarize_run(std::span<const Outcome> outcomes, const DurationHistogram& gaps,
                         const RunFacts& facts) {
  RunSummary summary;
  summary.arrived = std::ssize(outcomes);
  summary.has_slo = facts.classes.any(facts.slo);
  count_endings(outcomes, summary);
  if (facts.prefix_caching) fill_prefix_hits(outcomes, summary);

  const Instant warmup = warmup_end(outcomes, facts.measurement, summary);
  const std::span<const Outcome> counted = counted_of(outcomes, warmup);
  summary.warmup_s = warmup.seconds();
  summary.counted = std::ssize(counted);
  summary.warmup_excluded = summary.arrived - summary.counted;
  const auto first_counted = static_cast<std::size_t>(summary.warmup_excluded);
  const RequestClasses classes = facts.classes.from(first_counted);
  count_met(counted, facts.slo, classes, summary);
  summary.classes = summarize_classes(outcomes, facts.classes, first_counted);
  summarize_latencies(counted, summary);
  summary.itl_ms = of_histogram(gaps);
  summary.backlog = judge_backlog(outcomes, warmup);
  if (summary.steady().value_or(true)) fill_confidence(counted, facts.slo, classes, summary);

  summary.fleet = summarize_fleet(facts.replicas);
  fill_rates(outcomes, facts, summary);
  fill_usage(facts, summary);
  if (!facts.replicas.empty()) fill_fleet_usage(facts.replicas, summary);
  return summary;
}

}  // namespace inferscale

#include "metrics/run_summary.h"

#include <algorithm>
#include <array>

#include "metrics/outcome_figures.h"
#include "metrics/warmup.h"

namespace inferscale {
namespace {

void count_unfinished(const Outcome& outcome, RunSummary& summary) {
  switch (outcome.status) {
    case OutcomeStatus::kUnfinished:
      ++summary.unfinished;
      return;
    case OutcomeStatus::kRefused:
      ++summary.refused;
      ++summary.refused_by[static_cast<std::size_t>(outcome.reason)];
      return;
    case OutcomeStatus::kLost:
      ++summary.lost;
      return;
    case OutcomeStatus::kDeferred:
      ++summary.deferred;
      return;
    case OutcomeStatus::kAbandoned:
      ++summary.abandoned;
      return;
    case OutcomeStatus::kFinished:
      return;
  }
}

// Sums are kept apart while they grow, here and below: those of the summary are in memory.
void count_endings(std::span<const Outcome> outcomes, RunSummary& summary) {
  std::int64_t finished = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.finished()) {
      count_unfinished(outcome, summary);
      continue;
    }
    ++finished;
    prompt_tokens += outcome.prompt_tokens;
    output_tokens += outcome.output_tokens;
  }
  summary.finished += finished;
  summary.prompt_tokens += prompt_tokens;
  summary.output_tokens += output_tokens;
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
  OutcomeFigures ttft(outcomes, OutcomeFigure::kTtft);
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

void count_met(std::span<const Outcome> counted, const Slo& slo, RunSummary& summary) {
  const Duration ttft_limit = slo.ttft.value_or(Duration::max());
  const Duration e2e_limit = slo.e2e.value_or(Duration::max());
  std::int64_t admitted = 0;
  std::int64_t ttft_met = 0;
  std::int64_t e2e_met = 0;
  std::int64_t itls_met = 0;
  std::int64_t all_met = 0;
  for (const Outcome& outcome : counted) {
    const bool answered =
        outcome.status == OutcomeStatus::kRefused || outcome.status == OutcomeStatus::kDeferred;
    admitted += answered ? 0 : 1;
    if (!outcome.finished()) continue;
    const bool ttft = outcome.ttft() <= ttft_limit;
    const bool e2e = outcome.e2e() <= e2e_limit;
    const bool itl = itl_met(slo, outcome);
    ttft_met += ttft ? 1 : 0;
    e2e_met += e2e ? 1 : 0;
    itls_met += itl ? 1 : 0;
    all_met += ttft && e2e && itl ? 1 : 0;
  }
  summary.admitted += admitted;
  summary.ttft_met += ttft_met;
  summary.e2e_met += e2e_met;
  summary.itl_met += itls_met;
  summary.slo_met += all_met;
}

// Each by its own class; `classes` are of `counted`.
void count_met_by_class(std::span<const Outcome> counted, const RequestClasses& classes,
                        RunSummary& summary) {
  const Slo none;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    count_met(counted.subspan(i, 1), classes.slo(i, none), summary);
  }
}

// Of `counted` requests. A target that is not set was met by nobody.
void end_met(std::size_t counted, const Slo& common, const RequestClasses& classes,
             RunSummary& summary) {
  if (!classes.any_ttft(common)) summary.ttft_met = 0;
  if (!classes.any_e2e(common)) summary.e2e_met = 0;
  if (!classes.any_itl(common)) summary.itl_met = 0;
  const auto met = static_cast<double>(summary.slo_met);
  if (counted > 0) summary.goodput = met / static_cast<double>(counted);
  if (summary.admitted > 0) {
    summary.attainment_admitted = met / static_cast<double>(summary.admitted);
  }
}

// The populations of all figures of a request, from two readings of the outcomes.
class Latencies {
 public:
  void count(std::span<const Outcome> block) {
    block_.read(block);
    for (Population& one : populations_) one.values.count(block_[one.figure]);
  }
  // `outcomes` are all that were counted.
  void fill(std::span<const Outcome> outcomes, RunSummary& summary) {
    for (Population& one : populations_) {
      OutcomeFigures again(outcomes, one.figure);
      one.values.end_count(again);
    }
    const bool read_again = std::any_of(populations_.begin(), populations_.end(),
                                        [](const auto& one) { return one.values.wants_more(); });
    if (read_again) {
      for_each_block(outcomes, [this](std::span<const Outcome> block) { collect(block); });
    }
    for (Population& one : populations_) summary.*one.place = one.values.summary();
  }

 private:
  struct Population {
    OutcomeFigure figure;
    PopulationSummary RunSummary::* place;
    Selection values = {};
  };
  void collect(std::span<const Outcome> block) {
    block_.read(block);
    for (Population& one : populations_) {
      if (one.values.wants_more()) one.values.collect(block_[one.figure]);
    }
  }

  std::array<Population, 5> populations_ = {{
      {OutcomeFigure::kTtft, &RunSummary::ttft_ms},
      {OutcomeFigure::kTpot, &RunSummary::tpot_ms},
      {OutcomeFigure::kE2e, &RunSummary::e2e_ms},
      {OutcomeFigure::kQueueTime, &RunSummary::queue_ms},
      {OutcomeFigure::kItlMax, &RunSummary::itl_ms_max},
  }};
  OutcomeBlock block_;
};

// Everything that is counted, request by request.
void count_all(std::span<const Outcome> outcomes, std::span<const Outcome> counted,
               const Slo& common, const RequestClasses& classes, RunSummary& summary) {
  count_endings(outcomes.first(outcomes.size() - counted.size()), summary);
  Latencies latencies;
  for_each_block(counted, [&](std::span<const Outcome> block) {
    count_endings(block, summary);
    if (classes.exist()) {
      const auto first = static_cast<std::size_t>(block.data() - counted.data());
      count_met_by_class(block, classes.from(first), summary);
    } else {
      count_met(block, common, summary);
    }
    latencies.count(block);
  });
  end_met(counted.size(), common, classes, summary);
  latencies.fill(counted, summary);
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
    const double ttft_ms = millis_of(outcome.ttft());
    const double e2e_ms = millis_of(outcome.e2e());
    sums_.ttft += ttft_ms;
    sums_.e2e += e2e_ms;
    sums_.queue += millis_of(outcome.queue_time());
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

// All in one reading, in the batches of goodput: those of all counted requests. `classes` are
// theirs.
void fill_confidence(std::span<const Outcome> counted, const Slo& common,
                     const RequestClasses& classes, RunSummary& summary) {
  FinishedMeans finished(summary);
  BatchMeans tpot(summary.tpot_ms.count);
  std::int64_t tpots = 0;
  std::int64_t tpots_in_batch = tpot.left_in_batch();
  double tpot_ms = 0;  // of the batch under way
  BatchMeans goodput(std::ssize(counted));
  for (std::span<const Outcome> left = counted; !left.empty();) {
    const auto size = static_cast<std::size_t>(goodput.left_in_batch());
    std::int64_t met = 0;
    for (const Outcome& outcome : left.first(size)) {
      if (!outcome.finished()) continue;
      const auto index = static_cast<std::size_t>(&outcome - counted.data());
      met += slo_met(classes.slo(index, common), outcome) ? 1 : 0;
      finished.add(outcome);
      if (!has_gaps(outcome)) continue;
      tpot_ms += millis_of(outcome.tpot_ns());
      if (++tpots < tpots_in_batch) continue;
      tpot.add_batch(tpot_ms, tpots);
      tpot_ms = 0;
      tpots = 0;
      tpots_in_batch = tpot.left_in_batch();
    }
    goodput.add_batch(static_cast<double>(met), std::ssize(left.first(size)));
    left = left.subspan(size);
  }
  finished.fill(summary);
  summary.confidence.tpot_ms_mean = tpot.of_mean();
  if (classes.any(common)) summary.confidence.goodput = goodput.of_share();
}

PopulationSummary of_histogram(const DurationHistogram& gaps) {
  PopulationSummary summary;
  summary.count = gaps.total();
  if (summary.count == 0) return summary;
  summary.mean = millis_of(gaps.mean_ns());
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

  const Instant warmup = warmup_end(outcomes, facts.measurement, summary);
  const std::span<const Outcome> counted = counted_of(outcomes, warmup);
  summary.warmup_s = warmup.seconds();
  summary.counted = std::ssize(counted);
  summary.warmup_excluded = summary.arrived - summary.counted;
  const auto first_counted = static_cast<std::size_t>(summary.warmup_excluded);
  const RequestClasses classes = facts.classes.from(first_counted);
  count_all(outcomes, counted, facts.slo, classes, summary);
  summary.classes = summarize_classes(outcomes, facts.classes, first_counted);
  if (facts.prefix_caching) fill_prefix_hits(outcomes, summary);
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

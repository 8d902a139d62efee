// The figures of one run, computed from its outcomes and usage: one definition each, written down
// in docs/metrics.md.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/duration_histogram.h"
#include "core/measurement.h"
#include "core/outcome.h"
#include "core/replica_report.h"
#include "core/request.h"
#include "core/slo.h"
#include "core/slo_class.h"
#include "metrics/backlog.h"
#include "metrics/batch_means.h"
#include "metrics/class_summary.h"
#include "metrics/fleet_summary.h"
#include "metrics/quantiles.h"

namespace inferscale {

// What the figures need to know of the deployment and of its time.
struct RunFacts {
  Slo slo;
  RequestClasses classes;  // of the outcomes; where there are any, `slo` judges none
  MeasurementOptions measurement;
  Instant end;                              // the last event; the run begins at 0
  std::int64_t accelerators = 1;            // up all the time, unless there are `replicas`
  std::span<const ReplicaReport> replicas;  // empty: nobody kept them
  bool prefix_caching = false;              // some replica had a prefix cache
  BlockCount kv_blocks = 0;
  double busy_ns = 0;  // as in ReplicaUsage
  double sequence_ns = 0;
  double kv_block_ns = 0;
  BlockCount kv_blocks_peak = 0;
  std::int64_t running_peak = 0;
  std::int64_t queue_peak = 0;
  std::int64_t preemptions = 0;
  std::int64_t recomputed_tokens = 0;
};

// Where a latency or goodput figure lies, at ConfidenceInterval::kLevel; without intervals when the
// run is saturated, since there is no steady state that they could be about.
struct RunConfidence {
  ConfidenceInterval ttft_ms_mean;
  ConfidenceInterval ttft_ms_p95;
  ConfidenceInterval tpot_ms_mean;
  ConfidenceInterval e2e_ms_mean;
  ConfidenceInterval e2e_ms_p95;
  ConfidenceInterval queue_ms_mean;
  ConfidenceInterval goodput;
};

struct RunSummary {
  std::int64_t arrived = 0;
  std::int64_t finished = 0;
  std::int64_t refused = 0;
  std::int64_t unfinished = 0;
  std::int64_t lost = 0;       // with a replica that failed
  std::int64_t deferred = 0;   // told to come again, and did not
  std::int64_t abandoned = 0;  // their callers left before the end
  // Of the refused ones, by reason.
  std::array<std::int64_t, kReasonCount> refused_by{};
  std::int64_t refused_for(Reason reason) const {
    return refused_by[static_cast<std::size_t>(reason)];
  }

  double warmup_s = 0;  // its end; 0: nothing is left out
  bool warmup_auto = false;
  bool warmup_found = true;          // false: it was looked for, and the run has no such end
  std::int64_t warmup_excluded = 0;  // arrivals before it
  std::int64_t counted = 0;          // the others: what latency and goodput are about

  Backlog backlog;  // whether there is a steady state

  double duration_s = 0;              // to the last event
  double arrival_window_s = 0;        // first to last arrival
  double drain_s = 0;                 // from the last arrival to the last event
  std::optional<double> offered_rps;  // (arrivals - 1) / window; none for fewer than two instants

  double finished_rps = 0;
  double output_tokens_per_s = 0;
  double total_tokens_per_s = 0;   // prompt and output tokens of finished requests
  std::int64_t prompt_tokens = 0;  // of finished requests
  std::int64_t output_tokens = 0;

  // Cached prompt tokens / prompt tokens, of finished requests; none without a prefix cache.
  std::optional<double> prefix_hit_rate;

  // Milliseconds, over the counted requests that finished.
  PopulationSummary ttft_ms;
  PopulationSummary tpot_ms;  // those with at least two output tokens
  PopulationSummary e2e_ms;
  PopulationSummary queue_ms;
  PopulationSummary itl_ms_max;  // the longest stall of each, those with two tokens or more
  PopulationSummary itl_ms;      // all gaps of all requests, to DurationHistogram's error; these
                                 // are gathered on the way, with those of the warm-up
  RunConfidence confidence;

  bool has_slo = false;
  std::int64_t slo_met = 0;
  // Counted requests that finished and met this target alone, or had no such target to meet.
  std::int64_t ttft_met = 0;
  std::int64_t itl_met = 0;
  std::int64_t e2e_met = 0;
  double goodput = 0;              // slo_met / counted
  double goodput_rps = 0;          // slo_met / (duration - warmup)
  double attainment_admitted = 0;  // slo_met / admitted
  std::int64_t admitted = 0;       // counted requests that were neither refused nor deferred

  std::vector<ClassFigures> classes;  // none without classes

  double kv_used_mean = 0;  // fractions of all blocks, over time
  double kv_used_peak = 0;
  double running_mean = 0;
  std::int64_t running_peak = 0;
  std::int64_t queue_peak = 0;
  double utilisation = 0;  // fraction of the time in which a step ran
  std::int64_t preemptions = 0;
  std::int64_t recomputed_tokens = 0;
  double accelerator_hours = 0;
  std::optional<double> accelerator_hours_per_million_output_tokens;
  FleetSummary fleet;  // no replicas: nobody kept their reports

  // Whether some request has this target: all do (`common`), or those of some class.
  bool judges(const Slo& common, std::optional<Duration> Slo::* target) const {
    return (common.*target).has_value() ||
           std::any_of(classes.begin(), classes.end(),
                       [&](const ClassFigures& each) { return (each.slo.*target).has_value(); });
  }

  // Whether percentiles of the run are those of a steady state; nothing when undecided.
  std::optional<bool> steady() const {
    if (backlog.verdict == BacklogVerdict::kUndecided) return std::nullopt;
    return backlog.verdict == BacklogVerdict::kStable;
  }
};

RunSummary summarize_run(std::span<const Outcome> outcomes, const DurationHistogram& gaps,
                         const RunFacts& facts);

}  // namespace inferscale

// The figures of one run, computed from its outcomes and usage: one definition each, written down
// in docs/metrics.md.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/duration_histogram.h"
#include "core/outcome.h"
#include "core/request.h"
#include "core/slo.h"
#include "metrics/quantiles.h"

namespace inferscale {

// What the figures need to know of the deployment and of its time.
struct RunFacts {
  Slo slo;
  Instant end;  // the last event; the run begins at 0
  std::int64_t accelerators = 1;
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

struct RunSummary {
  std::int64_t arrived = 0;
  std::int64_t finished = 0;
  std::int64_t refused = 0;
  std::int64_t unfinished = 0;
  std::int64_t lost = 0;  // with a replica that failed
  std::int64_t refused_kv = 0;  // by reason
  std::int64_t refused_model_len = 0;
  std::int64_t refused_queue_full = 0;

  double duration_s = 0;              // to the last event
  double arrival_window_s = 0;        // first to last arrival
  double drain_s = 0;                 // from the last arrival to the last event
  std::optional<double> offered_rps;  // (arrivals - 1) / window; none for fewer than two instants

  double finished_rps = 0;
  double output_tokens_per_s = 0;
  double total_tokens_per_s = 0;   // prompt and output tokens of finished requests
  std::int64_t prompt_tokens = 0;  // of finished requests
  std::int64_t output_tokens = 0;

  // Milliseconds, over finished requests.
  PopulationSummary ttft_ms;
  PopulationSummary tpot_ms;  // those with at least two output tokens
  PopulationSummary e2e_ms;
  PopulationSummary queue_ms;
  PopulationSummary itl_ms_max;  // the longest stall of each, those with two tokens or more
  PopulationSummary itl_ms;      // all gaps of all requests, to DurationHistogram's error

  bool has_slo = false;
  std::int64_t slo_met = 0;
  std::int64_t ttft_met = 0;  // finished requests that met this target alone
  std::int64_t itl_met = 0;
  std::int64_t e2e_met = 0;
  double goodput = 0;              // slo_met / arrived
  double goodput_rps = 0;          // slo_met / duration
  double attainment_admitted = 0;  // slo_met / (arrived - refused)

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
};

RunSummary summarize_run(std::span<const Outcome> outcomes, const DurationHistogram& gaps,
                         const RunFacts& facts);

}  // namespace inferscale

// What the plots against time are drawn from: rates, the state of the replicas, and a scatter of
// TTFT. Long runs are thinned so that nothing extreme gets lost.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/outcome.h"
#include "core/signal_sample.h"

namespace inferscale {

// Events a second, in bins of equal width that together are the whole run, so that each bin is
// covered by the run in full.
struct RateSeries {
  double width_s = 0;
  std::vector<double> arrived;
  std::vector<double> finished;
  std::vector<double> refused;   // counted at their arrival
  std::vector<double> deferred;  // likewise: those that were told to come again, and did not
};

// Up to `until` or the last event, whichever is earlier. No bins for a run that takes no time.
RateSeries rate_series(std::span<const Outcome> outcomes, std::size_t bins,
                       Instant until = Instant::never());

// TTFT of the requests that arrived in one bin of time.
struct TtftBin {
  double t_s = 0;  // the middle of the bin
  double p50_ms = 0;
  double p95_ms = 0;
};

// Over bins of equal width from the first arrival to the last. A bin with fewer than `least`
// requests that had a first token is left out: its p95 would be their maximum.
std::vector<TtftBin> ttft_over_time(std::span<const Outcome> outcomes, std::size_t bins,
                                    std::size_t least);

// One quantity at one point of the timeline: of the samples that the point stands for.
struct Spread {
  double min = 0;
  double mean = 0;
  double max = 0;
};

struct TimelinePoint {
  double t_s = 0;           // of its first instant
  Spread queue_depth;       // of all replicas together
  Spread running;           // of all replicas together
  Spread kv_used_fraction;  // min and max of any one replica, mean over them; NaN without KV blocks
};

struct Timeline {
  std::size_t instants = 0;            // that were sampled
  std::size_t instants_per_point = 1;  // that one point stands for; the last may stand for fewer
  std::uint32_t replicas = 0;
  std::vector<TimelinePoint> points;
};

Timeline timeline(std::span<const SignalSample> signals, std::size_t max_points);

// Which requests to draw when there are more than `max_points`: of every group of consecutive
// arrivals the one with the least and the one with the greatest TTFT, and two from its middle.
struct Scatter {
  std::vector<std::size_t> indices;  // ascending, into the outcomes
  std::size_t candidates = 0;        // requests that had a first token
  std::size_t group = 1;             // requests that came down to at most four; 1: all are drawn
};

// REQUIRES: max_points >= 4.
Scatter ttft_scatter(std::span<const Outcome> outcomes, std::size_t max_points);

}  // namespace inferscale

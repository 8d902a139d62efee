// Whether requests pile up: the verdict without which no percentile of a run should be quoted.
//
// From outcomes alone. Over the window, from the end of the warm-up to the last arrival, requests
// in the system are counted: those that have arrived and not yet finished, without the refused and
// the lost. The window is cut into 21 equal blocks of time, and the growth g is the mean of the
// growths d_j of the blocks, with the interval g +- t(20, 99 %) s / sqrt(21) from their deviation.
//
// Why increments, and not a line through the counts: the counts of a busy queue hang together over
// very long times, their increments hardly do. At the edge, a load of exactly what can be served,
// the count is a random walk reflected at zero, whose increments are independent while it is busy;
// there the verdict errs in at most twice the 0.5 % of the interval's lower end (the reflection
// doubles an end's probability). At every lower load the increments undo each other, and it errs
// less. docs/metrics.md states the error rates and the power that the tests measure.
//
//   saturated  the interval lies above 0, the growth is at least 0.5 % of the arrivals, and a
//              quarter of it or more happened in the last 10 blocks: it goes on, and is not the
//              filling of an empty system
//              or, however short the window: requests of its last tenth take longer in all than
//              half of it, and four times as long as those of its first tenth
//   stable     the interval holds 0 and stays below 3 % of the arrivals
//   undecided  anything else: the window is too short for what was asked

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/time.h"
#include "core/outcome.h"

namespace inferscale {

enum class BacklogVerdict : std::uint8_t { kStable, kSaturated, kUndecided };

std::string_view verdict_name(BacklogVerdict verdict);

enum class BacklogDoubt : std::uint8_t {
  kNone,
  kFewArrivals,   // fewer than 100 in the window, or all at one instant
  kLongRequests,  // the window is shorter than four times an early request's time in the batch
  kFilling,       // it grew, and hardly so towards the end
  kWideInterval,  // neither growth nor its absence is shown
};

// Requests a second by which the number in the system grew.
struct Backlog {
  static constexpr double kLevel = 0.99;

  BacklogVerdict verdict = BacklogVerdict::kUndecided;
  BacklogDoubt doubt = BacklogDoubt::kFewArrivals;  // kNone unless undecided
  std::int64_t arrivals = 0;                        // in the window
  double arrivals_rps = 0;
  // The rest is 0 where there are few arrivals.
  double growth_rps = 0;
  double growth_rps_low = 0;  // the interval's ends
  double growth_rps_high = 0;
};

// `outcomes` are all of the run, in order of arrival. Cost: reads them once.
Backlog judge_backlog(std::span<const Outcome> outcomes, Instant warmup);

}  // namespace inferscale

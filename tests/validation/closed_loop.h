// A closed loop, as benchmarks with a most number of requests in flight run it: so many are sent
// at once, and each that finishes brings the next.
//
// Sources here are open streams, so the loop is solved for: a stage of N requests with C in flight
// is a list of arrivals with
//
//   arrival(i) = start of the stage             i < C
//   arrival(i) = (i - C + 1)-th finish          i >= C, of this very stage
//
// and a run whose finishes reproduce its own arrivals *is* the closed loop's run, to the
// nanosecond. It is found by putting the finishes of one run in as the arrivals of the next. Before
// an arrival that is wrong everything is right, so the part that is right grows with each run.

#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "sim/simulator.h"

namespace inferscale {

struct ClosedStage {
  std::size_t in_flight = 1;
  std::vector<Request> requests;  // ids and arrivals are filled in
};

// What a client of the fleet saw of one stage. In a split its first token comes when the decode
// replica has the prompt's KV: means of hand-overs are added to the replicas' first tokens.
struct ClosedStageResult {
  double ttft_ms_mean = 0;
  double hand_over_ms_mean = 0;  // of the above: waiting for the decode replica, and the link
  double tpot_ms_mean = 0;       // (mean E2E - mean TTFT) / (mean output - 1)
  double finished_rps = 0;
  double mean_in_flight = 0;
  double cached_fraction = 0;  // of prompt tokens
};

// The stages one after the other on one fleet, each when the one before has ended, so that a later
// one finds the prefix caches that an earlier one left. An error where the loop is not found within
// `most_runs` of a stage, or a request does not finish.
Result<std::vector<ClosedStageResult>> run_closed_loop(const FleetOptions& fleet,
                                                       std::vector<ClosedStage> stages,
                                                       int most_runs = 600);

}  // namespace inferscale

// How many sessions were in progress, and how many of their turns the engine had, over the time of
// a run: means over equal parts of it, exact.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/outcome.h"
#include "core/session_record.h"

namespace inferscale {

// One value for each part.
struct SessionsOverTime {
  std::vector<double> sessions;  // from their beginning to their end
  std::vector<double> turns;     // ready, and waiting, being served or about to be tried again
};

// Nothing for a run shorter than a nanosecond for each part. `end` is that of the run. Cost: the
// parts that each session and turn lasts.
SessionsOverTime sessions_over_time(const ProgramRecords& records,
                                    std::span<const Outcome> outcomes, Instant end,
                                    std::size_t parts);

}  // namespace inferscale

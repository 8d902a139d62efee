// Agent programs as a workload's configuration wants them, with their beginnings.

#pragma once

#include <cstdint>
#include <memory>

#include "workload/arrivals.h"
#include "workload/programs/programs.h"
#include "workload/programs/session_options.h"

namespace inferscale {

// Draws them. Each consumer has a stream of its own, and a session takes as many draws whatever
// becomes of them: session k is the same in a longer run and at another rate of arrivals.
Programs generate_programs(const GeneratedSessions& options, const ArrivalOptions& arrivals,
                           std::uint64_t run_seed);

// The sessions of a trace, in its order, with beginnings drawn from the arrival process: when real
// sessions began beside each other is in no trace, so it is always ours to choose.
Programs begin_sessions(const Programs& recorded, const ArrivalOptions& arrivals,
                        std::uint64_t run_seed);

}  // namespace inferscale

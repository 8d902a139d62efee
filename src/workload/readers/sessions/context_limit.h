// Recorded sessions on a model with a shorter context: what of them can be replayed.

#pragma once

#include <cstdint>

#include "workload/readers/sessions/recorded_sessions.h"

namespace inferscale {

// A chain ends before its first call whose prompt and answer are longer than `most_tokens`; what
// later calls would have spawned is left out with them, and so is a session whose first call is too
// long. A derived workload, said in the notes.
void end_at_context(std::uint32_t most_tokens, RecordedTrace& trace);

}  // namespace inferscale

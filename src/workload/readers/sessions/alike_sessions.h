// Sessions of a trace that are there twice, by what their calls look like.
//
// Duplicates have the same chains of calls: lengths, histories, gaps, who spawns whom. Forks begin
// with the same three calls in their main chains (lengths, and the gaps between them) and go on
// differently: copies of one conversation at different times, or two ways to continue it. Sessions
// of fewer than three calls are alike by chance too often to be told.

#pragma once

#include "workload/readers/sessions/recorded_sessions.h"

namespace inferscale {

// Counts both, leaves duplicates out if `drop` is set, and adds the notes.
ProgramDuplicates find_alike_sessions(RecordedTrace& trace, bool drop);

}  // namespace inferscale

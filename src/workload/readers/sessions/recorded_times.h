// From recorded times to gaps and spawns, for traces that say when each call began and how long its
// answer took.
//
// Times count from the beginning of the chain that a call is of, a chain's from that of the chain
// that spawned it. Going through the chain's calls with the recorded answers as they were,
//
//   finish(k) = ready(k) + answer(k)
//   gap(k)    = max(0, start(k + 1) - finish(k))
//
// so a replay in which every answer takes as long as it did has every call begin at its recorded
// start, or later where the file has it begin before the call above it had been answered.
//
// A call that waited for sub-agents has no gap of its own. What lay between the last one's end and
// the next call is the rest behind each of them:
//
//   rest = max(0, start(k + 1) - end of the last joined chain of k)
//
// so the next call follows the sub-agents, be they slower or faster than recorded. But a person's
// gap is a person's, whatever ran meanwhile.
//
// A chain was spawned by the last call of its parent that had been answered when it began. It was
// joined if the parent's next call began behind its end, or if there is none; else it ran in the
// background. Both are judged to the second, since many files have whole seconds only.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/readers/sessions/recorded_sessions.h"

namespace inferscale {

struct TimedCall {
  RecordedCall call;
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> answer_ns;  // nothing: the file doesn't say
};

struct TimedChain {
  std::uint32_t parent = 0;  // index in the session
  std::int64_t begin_ns = 0;
  std::vector<TimedCall> calls;  // in order of their starts; may be empty
};

struct TimedSession {
  std::string name;
  std::vector<TimedChain> chains;  // each behind its parent; the main one first
};

// Fills trace.sessions and adds its notes. An answer of unknown length took as long as the median
// of the known ones, but no longer than until the next call. Chains without calls are left out, and
// sessions whose main chain has none.
void take_timed_sessions(std::vector<TimedSession> sessions, RecordedTrace& trace);

}  // namespace inferscale

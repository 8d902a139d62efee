// What became of agent programs in a run: a row for each call and for each session.
//
// A call (of a chain, request.h) is presented as a request when it is ready, and again after a
// delay when that request was refused or lost: attempts of one call, each with an Outcome of its
// own. A session is complete when all its calls have finished; a call that failed for good ends it.

#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

enum class CallStatus : std::uint8_t {
  kNotReached,  // never became ready
  kUnfinished,  // ready, and neither finished nor failed when the run ended
  kFinished,
  kFailed,  // refused or lost, and not tried again
};

// A cache line, as calls are looked up one here, one there.
struct alignas(64) CallRecord {
  static constexpr RequestId kNone = UINT32_MAX;

  std::uint32_t session = 0;
  std::uint32_t chain = 0;  // dense over all sessions
  std::uint32_t turn = 0;   // in its chain, from 0
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::uint32_t history_tokens = 0;  // as ProgramCall
  std::uint32_t attempts = 0;
  RequestId request = kNone;         // its last attempt: index among the run's outcomes
  Instant ready = Instant::never();  // its latency counts from here
  CallStatus status = CallStatus::kNotReached;
  // Reckoned from the latency model: the call alone on a replica that has its history, and what
  // computing again took of what it had to compute. 0 for calls that did not finish.
  double alone_ns = 0;
  double recompute_ns = 0;
};

static_assert(sizeof(CallRecord) == 64);

struct SessionRecord {
  Instant begin;
  Instant end = Instant::never();  // the last answer, or the failure that ended it
  std::uint32_t calls = 0;
  std::uint32_t finished = 0;
  std::uint32_t failed = 0;
  std::uint32_t chains = 0;
  // Of tools and people: so long the session lasts if every answer takes no time.
  Duration gaps;
  bool complete() const { return finished == calls; }
};

struct ProgramRecords {
  std::vector<CallRecord> calls;        // by session, chain and turn
  std::vector<SessionRecord> sessions;  // in order of their beginning
  std::vector<std::uint32_t> call_of;   // of each request, the index of the call it was tried for
};

}  // namespace inferscale

// What became of a request: its timestamps and the verdict on its token gaps.
//
// One `Outcome` is kept for each request of a run, so it is small (64 bytes, a
// cache line). Timestamps follow
// the order arrival, start, first token, finish; those that never came are `Instant::never()`.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "core/reason.h"

namespace inferscale {

enum class OutcomeStatus : std::uint8_t {
  kUnfinished,  // still waiting or running when the run ended
  kFinished,    // every token was generated
  kRefused,     // never taken up; the reason says why
  kLost,        // its replica failed, and it was not tried again
  kDeferred,    // answered at the door: come again later
  kAbandoned,   // the caller left before the end
};

std::string_view status_name(OutcomeStatus status);

struct alignas(64) Outcome {
  Instant arrival;
  Instant start = Instant::never();        // its first prefill step began
  Instant first_token = Instant::never();  // that step's end
  Instant finish = Instant::never();       // its last token
  // The longest gap between two of its tokens ("stall"); zero for a single token.
  Duration itl_max;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  // Prompt tokens that its first admission found in a prefix cache and did not compute.
  std::uint32_t cached_tokens = 0;
  std::uint32_t replica = 0;          // that finished it, or had it last; index in the fleet
  std::uint32_t gaps_over_limit = 0;  // gaps longer than the SLO's ITL limit; 0 when there is none
  std::uint16_t preemptions = 0;      // saturates at 65535
  OutcomeStatus status = OutcomeStatus::kUnfinished;
  Reason reason = Reason::kNone;

  bool finished() const { return status == OutcomeStatus::kFinished; }
  // The times below are defined for finished requests.
  Duration queue_time() const { return start - arrival; }
  Duration ttft() const { return first_token - arrival; }
  Duration e2e() const { return finish - arrival; }
  // Mean time per output token after the first; zero for a single token.
  double tpot_ns() const {
    return output_tokens < 2 ? 0.0
                             : static_cast<double>((finish - first_token).ns()) /
                                   static_cast<double>(output_tokens - 1);
  }
};

static_assert(sizeof(Outcome) == 64);

}  // namespace inferscale

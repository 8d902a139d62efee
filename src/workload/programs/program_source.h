// The calls of agent programs as requests: each arrives when it is ready (programs.h).
//
// At one instant calls arrive in order of session, chain and turn. A call whose request was refused
// because a queue was full, or was lost with its replica, is presented again `delay` later, at most
// `most` times; refused for good, or out of attempts, it ends its session: nothing of it arrives
// any more, and what is still being served counts as it ends.
//
// Cost: the logarithm of the waiting calls for each call. Memory: about 100 bytes for each call.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workload/programs/programs.h"
#include "workload/reactive_source.h"

namespace inferscale {

struct CallRetries {
  std::int64_t most = 0;  // further attempts of a call
  Duration delay;         // from the end of one to the next
};

// `programs` outlives the source and every run of it. REQUIRES: broken_structure() is null.
std::unique_ptr<ReactiveSource> make_program_source(const Programs& programs,
                                                    const CallRetries& retries);

}  // namespace inferscale

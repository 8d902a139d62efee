// The calls of agent programs as requests: each arrives when it is ready (programs.h).
//
// At one instant calls arrive in order of session, chain and turn. A call that was not served is
// presented again as its client does: with CallRetries, when its request was refused because a
// queue was full, or was lost with its replica, `delay` later and at most `most` times; with
// ClientOptions, as these say. A call that its client gives up ends its session: nothing of it
// arrives any more, and what is still being served counts as it ends.
//
// Cost: the logarithm of the waiting calls for each call. Memory: about 110 bytes for each call,
// 65 more with ClientOptions.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workload/clients/client_options.h"
#include "workload/programs/programs.h"
#include "workload/reactive_source.h"

namespace inferscale {

struct CallRetries {
  std::int64_t most = 0;  // further attempts of a call
  Duration delay;         // from the end of one to the next
};

// The clients that behave so.
ClientOptions clients_of(const CallRetries& retries);

// `programs` outlives the source and every run of it. REQUIRES: broken_structure() is null.
std::unique_ptr<ReactiveSource> make_program_source(const Programs& programs,
                                                    const CallRetries& retries);
// With clients that react; their records are taken too. A session is one caller.
std::unique_ptr<ReactiveSource> make_program_source(const Programs& programs,
                                                    const ClientOptions& clients,
                                                    std::uint64_t run_seed);

}  // namespace inferscale

// What a client does next when one of its attempts has ended: a pure function.
//
// A client makes tries: the first one and its retries. A try is one attempt, or with a router in
// between up to `router.attempts` of them, whose last answer is what the client sees. The client's
// timeout is over a whole try. Before retry n the client waits
//
//   the Retry-After of the answer x jitter, where it honours that, else
//   min(base x factor^(n - 1), cap) x jitter
//
// Each draw has a random stream of its own, keyed by (request, attempt): whatever a policy does to
// one attempt never shifts what is drawn for another.
//
// Thread-safe. Cost: constant, but for the logarithm of cap / base.

#pragma once

#include <cstdint>

#include "base/random.h"
#include "core/answer.h"
#include "core/outcome.h"
#include "workload/clients/client_options.h"

namespace inferscale {

// Where a request stands when one of its attempts, or its try, has ended.
struct ClientProgress {
  std::uint64_t request = 0;           // its number in the workload, whatever a policy does
  std::uint32_t attempt = 0;           // that ended, from 0
  std::uint32_t retries = 0;           // of the client, so far
  std::uint32_t router_retries = 0;    // of a router in between, in this try
  Instant timeout = Instant::never();  // the end of the client's patience with this try
};

enum class NextStep : std::uint8_t {
  kDone,         // it has its answer
  kRouterRetry,  // a router in between presents it again; the client knows nothing of it
  kRetry,
  kGiveUp,
  kElsewhere,  // to another provider
};

struct ClientStep {
  NextStep next = NextStep::kDone;
  Instant at;  // when it is presented again, or given up
  bool timed_out = false;
};

class ClientBehaviour {
 public:
  ClientBehaviour(const ClientOptions& options, std::uint64_t run_seed);

  // An attempt whose stream was whole ended at `now`.
  ClientStep after_end(const ClientProgress& progress, const Outcome& outcome, const Answer& answer,
                       Instant now) const;
  // The client's patience was over at `now`.
  ClientStep after_timeout(const ClientProgress& progress, Instant now) const;
  // Its stream broke at `now`.
  ClientStep after_broken_stream(const ClientProgress& progress, Instant now) const;
  // After how many of its `output_tokens` the stream of this attempt breaks; 0: it does not.
  std::uint32_t breaks_after(std::uint64_t request, std::uint32_t attempt,
                             std::uint32_t output_tokens) const;

  const ClientOptions& options() const { return options_; }

 private:
  enum class Cause : std::uint8_t { k429, k503, k529, kOther5xx, kOtherStatus, kBroken, kTimeout };

  Cause cause_of(const Outcome& outcome, const Answer& answer) const;
  bool is_retried(Cause cause) const;
  ClientStep step_of_client(const ClientProgress& progress, Cause cause, const Answer& answer,
                            Instant now) const;
  ClientStep retry(const ClientProgress& progress, Instant now) const;
  RandomStream draws(std::string_view name, std::uint64_t request, std::uint32_t attempt) const;
  Duration jittered(double seconds, const Jitter& jitter, std::string_view name,
                    const ClientProgress& progress) const;

  ClientOptions options_;
  std::uint64_t seed_;
};

}  // namespace inferscale

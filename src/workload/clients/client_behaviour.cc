#include "workload/clients/client_behaviour.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr int kTooManyRequests = 429;
constexpr int kUnavailable = 503;
constexpr int kOverloaded = 529;

double backoff_s(const BackoffOptions& backoff, std::uint32_t retries_before) {
  double wait = std::min(backoff.base_s, backoff.cap_s);
  if (backoff.factor == 1) return wait;
  for (std::uint32_t i = 0; i < retries_before && wait > 0 && wait < backoff.cap_s; ++i) {
    wait = std::min(wait * backoff.factor, backoff.cap_s);
  }
  return wait;
}

}  // namespace

ClientBehaviour::ClientBehaviour(const ClientOptions& options, std::uint64_t run_seed)
    : options_(options), seed_(run_seed) {
  CHECK(options.most_retries >= 0 && options.backoff.base_s >= 0 && options.backoff.factor >= 1);
  CHECK(!options.timeout || Duration() < *options.timeout);
}

RandomStream ClientBehaviour::draws(std::string_view name, std::uint64_t request,
                                    std::uint32_t attempt) const {
  SplitMix64 of_request(seed_ ^ SplitMix64(request).next());
  SplitMix64 of_attempt(of_request.next() + attempt);
  return {of_attempt.next(), name};
}

Duration ClientBehaviour::jittered(double seconds, const Jitter& jitter, std::string_view name,
                                   const ClientProgress& progress) const {
  if (jitter.low == jitter.high) return Duration::from_seconds(seconds * jitter.low);
  const double drawn = draws(name, progress.request, progress.attempt).uniform();
  return Duration::from_seconds(seconds * (jitter.low + drawn * (jitter.high - jitter.low)));
}

ClientBehaviour::Cause ClientBehaviour::cause_of(const Outcome& outcome,
                                                 const Answer& answer) const {
  if (outcome.status == OutcomeStatus::kLost || answer.status == 0) return Cause::kBroken;
  if (answer.status == kTooManyRequests) return Cause::k429;
  if (answer.status == kUnavailable) return Cause::k503;
  if (answer.status == kOverloaded) return Cause::k529;
  if (answer.status >= 500 && answer.status <= 599) return Cause::kOther5xx;
  CHECK(answer.status >= 300) << "an attempt that was not served was answered with status "
                              << answer.status;
  return Cause::kOtherStatus;
}

bool ClientBehaviour::is_retried(Cause cause) const {
  const RetriedEnds& retried = options_.retried;
  switch (cause) {
    case Cause::k429:
      return retried.on_429;
    case Cause::k503:
      return retried.on_503;
    case Cause::k529:
      return retried.on_529;
    case Cause::kOther5xx:
      return retried.on_other_5xx;
    case Cause::kBroken:
      return retried.on_broken;
    case Cause::kTimeout:
      return retried.on_timeout;
    case Cause::kOtherStatus:
      return false;
  }
  return false;
}

ClientStep ClientBehaviour::after_end(const ClientProgress& progress, const Outcome& outcome,
                                      const Answer& answer, Instant now) const {
  if (outcome.finished()) return {.next = NextStep::kDone, .at = now};
  if (options_.only_full_queue_or_lost) {
    const bool again =
        outcome.status == OutcomeStatus::kLost || outcome.reason == Reason::kQueueFull;
    if (again) return retry(progress, now);
    return {.next = NextStep::kGiveUp, .at = now};
  }
  const Cause cause = cause_of(outcome, answer);
  const bool router_retries = options_.router &&
                              progress.router_retries + 1 < options_.router->attempts &&
                              cause != Cause::k529 && cause != Cause::kOtherStatus;
  if (!router_retries) return step_of_client(progress, cause, answer, now);
  const BackoffOptions& backoff = options_.router->backoff;
  const Instant at = now + jittered(backoff_s(backoff, progress.router_retries), backoff.jitter,
                                    "clients.router", progress);
  if (at >= progress.timeout) return after_timeout(progress, progress.timeout);
  return {.next = NextStep::kRouterRetry, .at = at};
}

ClientStep ClientBehaviour::after_timeout(const ClientProgress& progress, Instant now) const {
  ClientStep step = step_of_client(progress, Cause::kTimeout, {}, now);
  step.timed_out = true;
  return step;
}

ClientStep ClientBehaviour::after_broken_stream(const ClientProgress& progress, Instant now) const {
  if (options_.stream_failures.then == AfterBrokenStream::kGiveUp) {
    return {.next = NextStep::kGiveUp, .at = now};
  }
  return retry(progress, now);
}

ClientStep ClientBehaviour::step_of_client(const ClientProgress& progress, Cause cause,
                                           const Answer& answer, Instant now) const {
  if (cause == Cause::k529 && options_.after_529 == After529::kElsewhere) {
    return {.next = NextStep::kElsewhere, .at = now};
  }
  if (!is_retried(cause)) return {.next = NextStep::kGiveUp, .at = now};
  const ClientStep again = retry(progress, now);
  if (again.next != NextStep::kRetry) return again;
  if (cause == Cause::k529 && options_.after_529 == After529::kPark) {
    return {.next = NextStep::kRetry,
            .at = now + jittered(options_.park.seconds(), options_.backoff.jitter, "clients.park",
                                 progress)};
  }
  const RetryAfterOptions& told = options_.retry_after;
  if (!told.honoured || !answer.retry_after) return again;
  if (!told.longest || *answer.retry_after <= *told.longest) {
    return {.next = NextStep::kRetry,
            .at = now + jittered(answer.retry_after->seconds(), told.jitter, "clients.retry_after",
                                 progress)};
  }
  return told.gives_up_beyond ? ClientStep{.next = NextStep::kGiveUp, .at = now} : again;
}

ClientStep ClientBehaviour::retry(const ClientProgress& progress, Instant now) const {
  if (std::cmp_greater_equal(progress.retries, options_.most_retries)) {
    return {.next = NextStep::kGiveUp, .at = now};
  }
  const BackoffOptions& backoff = options_.backoff;
  return {.next = NextStep::kRetry,
          .at = now + jittered(backoff_s(backoff, progress.retries), backoff.jitter,
                               "clients.backoff", progress)};
}

std::uint32_t ClientBehaviour::breaks_after(std::uint64_t request, std::uint32_t attempt,
                                            std::uint32_t output_tokens) const {
  const double probability = options_.stream_failures.probability;
  if (probability <= 0 || output_tokens < 2) return 0;
  RandomStream stream = draws("clients.stream_failures", request, attempt);
  if (stream.uniform() >= probability) return 0;
  return 1 + static_cast<std::uint32_t>(stream.below(output_tokens - 1));
}

}  // namespace inferscale

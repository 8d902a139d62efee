#include "core/signal.h"

#include <array>
#include <cmath>
#include <limits>

namespace inferscale {
namespace {

constexpr double kAny = std::numeric_limits<double>::max();

using enum SignalOrigin;
using enum SignalSum;

constexpr std::array<SignalSpec, kSignalCount> kSignals = {{
    {Signal::kKvUsedFraction, "kv_used_fraction", "fraction", 0, 1, kCorrected, kMean, false,
     "part of the KV cache that is in use"},
    {Signal::kKvFreeTokens, "kv_free_tokens", "tokens", 0, kAny, kCorrected, kMax, false,
     "tokens that the emptiest replica's KV cache has room for"},
    {Signal::kQueueDepth, "queue_depth", "requests", 0, kAny, kCorrected, kSum, false,
     "requests that wait in the engines for their first step"},
    {Signal::kQueueAgeS, "queue_age_s", "s", 0, kAny, kLedger, kMax, false,
     "age of the oldest dispatched, streamed request without a first token, less its estimated "
     "unloaded prefill"},
    {Signal::kRunning, "running", "requests", 0, kAny, kCorrected, kSum, false,
     "requests in the engines' batches"},
    {Signal::kPrefixHitRate, "prefix_hit_rate", "fraction", 0, 1, kEngine, kRatioOfSums, true,
     "of the prompt tokens looked up in the window, those found in the prefix cache"},
    {Signal::kPreemptionRate, "preemption_rate", "1/s", 0, kAny, kEngine, kSum, true,
     "running requests that went back to waiting"},
    {Signal::kDecodeTokensPerS, "decode_tokens_per_s", "tokens/s", 0, kAny, kEngine, kSum, true,
     "tokens that were generated"},
    {Signal::kInFlight, "in_flight", "requests", 0, kAny, kLedger, kSum, false,
     "requests that were admitted and have not ended"},
    {Signal::kTokensInFlight, "tokens_in_flight", "tokens", 0, kAny, kLedger, kSum, false,
     "prompt and predicted output tokens of these"},
    {Signal::kTenantInFlight, "tenant_in_flight", "requests", 0, kAny, kLedger, kOfPool, false,
     "requests in flight of the tenant that is decided about"},
    {Signal::kTenantTokenShare, "tenant_token_share", "fraction", 0, 1, kLedger, kOfPool, false,
     "part of the tokens in flight that is the tenant's"},
    {Signal::kSessionInFlight, "session_in_flight", "requests", 0, kAny, kLedger, kOfPool, false,
     "requests in flight of the session that is decided about"},
    {Signal::kReplicasFullFraction, "replicas_full_fraction", "fraction", 0, 1, kCorrected, kOfPool,
     false, "part of the replicas that have a queue, or no KV cache to speak of left"},
    {Signal::kArrivalRate, "arrival_rate_rps", "1/s", 0, kAny, kLedger, kOfPool, true,
     "attempts presented at the door"},
    {Signal::kHeld, "held", "requests", 0, kAny, kLedger, kOfPool, false,
     "attempts that are held at the door"},
    {Signal::kHoldAgeS, "hold_age_s", "s", 0, kAny, kLedger, kOfPool, false,
     "age of the oldest of these"},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    if (static_cast<std::size_t>(kSignals[i].signal) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

}  // namespace

const SignalSpec& spec_of(Signal signal) {
  return kSignals[static_cast<std::size_t>(signal)];
}

std::span<const SignalSpec> all_signals() {
  return kSignals;
}

std::optional<Signal> signal_of(std::string_view name) {
  for (const SignalSpec& spec : kSignals) {
    if (spec.name == name) return spec.signal;
  }
  return std::nullopt;
}

SignalSet ledger_signals() {
  SignalSet signals;
  for (const SignalSpec& spec : kSignals) {
    if (spec.origin == kLedger) signals.add(spec.signal);
  }
  return signals;
}

Reading Reading::of(Signal signal, double value, Instant observed_at) {
  const SignalSpec& spec = spec_of(signal);
  if (!(value >= spec.least && value <= spec.most)) return unknown();
  return {.value = value, .observed_at = observed_at};
}

}  // namespace inferscale

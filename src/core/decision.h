// The three decisions about an attempt at the door.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "core/reason.h"

namespace inferscale {

enum class Verdict : std::uint8_t {
  kAdmit,   // to a replica
  kDefer,   // later: held at the door, or answered with a Retry-After
  kReject,  // not at all
};

struct Decision {
  Verdict verdict = Verdict::kAdmit;
  Reason reason = Reason::kNone;  // kNone exactly when admitted
  // kDefer: when it may go better, as far as the policy knows; else the gate reckons it from the
  // pool's state.
  std::optional<Duration> retry_after;
  // kDefer: whether waiting at the door helps. False: it is answered even where there is a hold.
  bool may_hold = true;
  // Those held should be decided anew at once: what the policy just did lets others in.
  bool wakes_held = false;
  // The policy could not decide (a plug-in's fault): what `on_error` says holds in its place.
  bool failed = false;

  static Decision admit() { return {}; }
  static Decision defer(Reason reason, std::optional<Duration> retry_after = std::nullopt) {
    return {.verdict = Verdict::kDefer, .reason = reason, .retry_after = retry_after};
  }
  static Decision reject(Reason reason) { return {.verdict = Verdict::kReject, .reason = reason}; }
  bool admitted() const { return verdict == Verdict::kAdmit; }
};

// "admit", "defer", "reject".
std::string_view verdict_name(Verdict verdict);
std::optional<Verdict> verdict_of(std::string_view name);

}  // namespace inferscale

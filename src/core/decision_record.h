// A decision with all that was known when it was taken: a line of decisions.jsonl.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "core/decision.h"
#include "core/request_view.h"
#include "core/signal.h"

namespace inferscale {

// Why it was decided just then.
enum class DecisionCause : std::uint8_t {
  kArrival,   // the attempt was presented
  kHeld,      // it was held, and something changed
  kRerouted,  // it was admitted, its replica failed, and the next replica has a gate of its own
};
std::string_view decision_cause_name(DecisionCause cause);  // "arrival", "held", "rerouted"
std::optional<DecisionCause> decision_cause_of(std::string_view name);

// How a signal that was too old everywhere was dealt with.
enum class StaleRule : std::uint8_t { kNone, kLedgerFallback, kOpen, kClosed, kLastGood };
std::string_view stale_rule_name(StaleRule rule);
std::optional<StaleRule> stale_rule_of(std::string_view name);

struct DecisionRecord {
  std::uint32_t gate = 0;      // of a run with a gate for each replica: which
  std::uint64_t sequence = 0;  // of the gate, from 0: the order in which decisions took effect
  Instant at;
  RequestView request;
  DecisionCause cause = DecisionCause::kArrival;
  Decision decided;                            // by the policy, or by the stale rule in its place
  Decision effective;                          // after the gate's own rules, leases and enforcement
  bool enforced = false;                       // false: a shadow decision; effective is admit
  bool held = false;                           // deferred, and held at the door
  StaleRule stale = StaleRule::kNone;          // kNone: the policy itself decided
  bool policy_failed = false;                  // its decision is what on_error says
  int status = 0;                              // of the answer; 0: none was given
  std::optional<Duration> retry_after;         // as answered
  std::array<Reading, kSignalCount> readings;  // all that were known, too old or not
  SignalSet needed;                            // of these, what the policy reads
  std::optional<double> limit;                 // of the policy's controller
};

class DecisionSink {
 public:
  virtual ~DecisionSink() = default;
  // Called in order of `sequence`, inside the gate's linearised step: to be quick.
  virtual void on_decision(const DecisionRecord& record) = 0;
};

}  // namespace inferscale

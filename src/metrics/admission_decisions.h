// What a policy decided in a run, gathered while it runs: counts by reason, the range of the
// signals that it read, and how long callers were put off.
//
// Three things that are easily taken for one are kept apart:
//
//   decisions and attempts   a held attempt is decided about again and again, and counted once:
//                            when it is admitted or answered (and once as held); one that comes
//                            to another gate since its replica failed is counted by what that
//                            gate made of it
//   enforced and shadow      what is decided in shadow refuses nobody, and is no sign that the
//                            policy ever acted
//   the policy and the rest  the stale rule, on_error and the gate's own limits refuse too; only a
//                            refusal of the policy's own says that the policy acted
//
// Memory: put_off.h, and what the ranges take.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/decision_record.h"
#include "metrics/put_off.h"
#include "metrics/quantiles.h"
#include "metrics/value_range.h"

namespace inferscale {

// Of attempts, by the reason that they were given.
struct ReasonCounts {
  std::int64_t deferred = 0;         // answered: come again
  std::int64_t rejected = 0;         // answered
  std::int64_t held = 0;             // held at the door when they arrived
  std::int64_t shadow_deferred = 0;  // would have been; they were admitted
  std::int64_t shadow_rejected = 0;

  bool any() const { return deferred + rejected + held + shadow_deferred + shadow_rejected > 0; }
};

// A signal, as it was at the decisions of a policy that reads it.
struct SignalFigures {
  Signal signal = Signal::kQueueDepth;
  std::int64_t decisions = 0;  // at which it was needed
  std::int64_t known = 0;      // of these, with a reading that was fresh enough
  // Over the known ones; 0 without any. The quantiles to ValueRange::kRelativeError.
  double min = 0;
  double p50 = 0;
  double p95 = 0;
  double max = 0;

  std::optional<double> known_share() const {
    if (decisions == 0) return std::nullopt;
    return static_cast<double>(known) / static_cast<double>(decisions);
  }
};

struct DecisionFigures {
  std::int64_t decisions = 0;  // all, those about held attempts included
  // Attempts: presented = admitted + deferred + rejected + left + still held.
  std::int64_t presented = 0;
  std::int64_t admitted = 0;
  std::int64_t deferred = 0;
  std::int64_t rejected = 0;
  std::int64_t left = 0;             // the caller left while it was held
  std::int64_t held = 0;             // ever
  std::int64_t rerouted = 0;         // times that one came to another gate
  std::int64_t shadow = 0;           // attempts that nothing was enforced on
  std::int64_t shadow_refusals = 0;  // of these, what the policy would have put off or refused
  // Enforced decisions that the policy itself took, and of these those that put off or refused.
  std::int64_t policy_decisions = 0;
  std::int64_t policy_refusals = 0;
  std::int64_t stale_decisions = 0;  // taken by the stale rule
  std::int64_t policy_failures = 0;
  std::array<ReasonCounts, kReasonCount> by_reason;
  // Seconds. Of requests (put_off.h), and what an attempt spent held, of those that left the hold.
  PopulationSummary defer_s;
  PopulationSummary hold_s;
  std::vector<SignalFigures> signals;  // that the policy reads, in the order of the catalogue
};

class DecisionTally final : public DecisionSink {
 public:
  // A reading that is older was not known to the policy.
  // `is_joined`: figures() will get the records of the clients.
  explicit DecisionTally(Duration max_age, bool is_joined = false)
      : max_age_(max_age), put_off_(is_joined) {}
  void on_decision(const DecisionRecord& record) override;
  // `clients` null: requests are told apart as the door did.
  DecisionFigures figures(const ClientRecords* clients) const;

 private:
  struct SignalTally {
    std::int64_t decisions = 0;
    ValueRange known;
  };

  void count_attempt(const DecisionRecord& record);
  void count_policy(const DecisionRecord& record);
  void note_signals(const DecisionRecord& record);

  Duration max_age_;
  DecisionFigures counts_;  // its counts alone
  PutOffTimes put_off_;
  std::vector<double> hold_s_;
  std::array<SignalTally, kSignalCount> signals_;
};

// Hands each decision to both, where there are two.
class DecisionTee final : public DecisionSink {
 public:
  DecisionTee(DecisionSink* first, DecisionSink* second) : first_(first), second_(second) {}
  void on_decision(const DecisionRecord& record) override {
    if (first_ != nullptr) first_->on_decision(record);
    if (second_ != nullptr) second_->on_decision(record);
  }

 private:
  DecisionSink* first_;
  DecisionSink* second_;
};

}  // namespace inferscale

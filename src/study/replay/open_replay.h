// A decision log, decided anew: what another policy, or the same one with other parameters, would
// have said to each recorded decision.
//
// Open loop: the state of the pool is the recorded one whatever is decided now. Refusals do not
// change later state, so this says where two policies disagree, not what would have come of it
// (closed_replay.h does). What follows from a decision (hold, Retry-After, burst against trend) is
// the gate's, and not replayed: decisions of the policy, or of the stale rule in its place, are
// compared.
//
// A policy is made as the gate made it: one object that is enforced, a shadow for the part that is
// not, a fallback while pages are too old; each gate of a run has its own. It is told what it
// admits itself. What a log does not hold, it can't be told: how admitted attempts ended, ticks,
// single replicas. A policy that needs one of these is an error, never half a replay.
//
// Memory: the policies' and one count for each pair of decisions.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/gate_options.h"
#include "base/result.h"
#include "core/decision_record.h"
#include "study/replay/recorded_pool.h"

namespace inferscale {

struct DecisionKind {
  Verdict verdict = Verdict::kAdmit;
  Reason reason = Reason::kNone;
  auto operator<=>(const DecisionKind&) const = default;
};
inline DecisionKind kind_of(const Decision& decision) {
  return {decision.verdict, decision.reason};
}

// The share of the arrivals that found the policy refusing. Of a replay it is no refusal rate: had
// it refused, later arrivals would have found another state.
struct DutyCycle {
  std::int64_t samples = 0;   // arrivals that the policy itself decided about
  std::int64_t refusing = 0;  // of these, deferred or rejected
  std::optional<double> share() const {
    if (samples == 0) return std::nullopt;
    return static_cast<double>(refusing) / static_cast<double>(samples);
  }
};

struct OpenReplayFigures {
  static constexpr std::size_t kMostShown = 5;
  struct Difference {
    DecisionRecord recorded;
    Decision replayed;
  };

  SignalSet needed;             // by the policy that decides now
  std::int64_t decisions = 0;   // replayed
  std::int64_t held_again = 0;  // of these, about attempts that were held
  std::int64_t shadow = 0;      // of these, not enforced
  std::int64_t recorded_stale = 0;
  std::int64_t replayed_stale = 0;
  std::int64_t of_the_gate =
      0;  // left out: no policy was asked (held for too long, or its caller left)
  // Left out: pages of some replicas were too old and those of others not, so that the log's
  // readings, which are of all, are not those that the policy had.
  std::int64_t partly_old = 0;
  std::map<std::pair<DecisionKind, DecisionKind>, std::int64_t> table;  // recorded, replayed
  std::int64_t differ = 0;                                              // in verdict or reason
  std::int64_t differ_else = 0;   // in the wait, or in what becomes of those held, alone
  std::vector<Difference> first;  // the first few that differ, in either way
  DutyCycle recorded_duty;
  DutyCycle replayed_duty;
};

class OpenReplay final : public DecisionSink {
 public:
  // `gate`: of the recorded run, with the policy that decides now; its supply is enough for it.
  // `replicas`: behind one gate. An error when the policy needs what no log holds.
  static Result<OpenReplay> create(GateOptions gate, std::uint32_t replicas);
  // In the order of the log.
  void on_decision(const DecisionRecord& record) override;
  // An error when a policy asked for what no log holds.
  Result<OpenReplayFigures> finish() const;

 private:
  // What a gate of the run decides by.
  struct Deciders {
    std::unique_ptr<AdmissionPolicy> enforced;
    std::unique_ptr<AdmissionPolicy> shadow;
    std::unique_ptr<AdmissionPolicy> fallback;
  };
  struct Answer {
    Decision decision;
    bool is_stale = false;
  };

  OpenReplay(GateOptions gate, std::uint32_t replicas);
  AdmissionPolicy& policy_for(const DecisionRecord& record);
  bool is_stale(const DecisionRecord& record, const AdmissionPolicy& policy) const;
  Answer decide(const DecisionRecord& record, AdmissionPolicy& policy);
  Decision ask(const DecisionRecord& record, AdmissionPolicy& policy, bool any_age);
  AdmissionPolicy& fallback_of(const DecisionRecord& record);
  bool is_over_lease(const DecisionRecord& record) const;
  void tell(const DecisionRecord& record, const Decision& decision, AdmissionPolicy& policy) const;
  void compare(const DecisionRecord& record, const Answer& answer);

  GateOptions gate_;
  RecordedPool pool_;
  std::map<std::uint32_t, Deciders> deciders_;  // by gate
  OpenReplayFigures figures_;
  std::optional<Error> error_;
};

}  // namespace inferscale

// The state of a gate, and what each input does to it. Internal to the module; what it means is in
// gate.h. Not thread-safe: the gate locks.
//
// gate_pool.cc has attempts and permits, gate_pool_judgement.cc how one is decided about,
// gate_pool_hold.cc those that are held.

#pragma once

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "admission/gate.h"
#include "admission/gate_lock.h"
#include "admission/hold_queue.h"
#include "admission/pool_signals.h"
#include "admission/queue_trend.h"
#include "admission/service_fit.h"

namespace inferscale {

class AdmissionGate::Pool {
 public:
  explicit Pool(GateOptions options);

  Presented present(AdmissionGate* gate, const RequestView& request, Instant now);
  bool withdraw(std::uint64_t request, std::uint32_t attempt, Instant now);
  void observe(AdmissionGate* gate, std::uint32_t replica, const EngineReading& reading,
               Instant now);
  void set_available(std::uint32_t replica, bool available, Instant now);
  void advance(AdmissionGate* gate, Instant now);
  Instant next_wake() const;

  void dispatched(std::uint64_t ticket, std::uint32_t replica, Instant now);
  void first_token(AdmissionGate* gate, std::uint64_t ticket, Instant now);
  void end(AdmissionGate* gate, std::uint64_t ticket, PermitEnd how, TokenCount output_tokens,
           Instant now);

  std::vector<Release> take_releases() { return std::exchange(releases_, {}); }
  bool has_releases() const { return !releases_.empty(); }
  const GateCounts& counts() const { return counts_; }
  std::int64_t in_flight() const { return signals_.ledger().in_flight(); }
  std::int64_t held() const { return hold_ ? hold_->size() : 0; }
  std::optional<double> limit() const { return enforced_->limit(); }
  Instant clock() const { return clock_; }

  GateLock lock;

 private:
  // What a judgement came to, before anything is done about it.
  struct Judgement {
    Decision decided;    // by the policy or the stale rule
    Decision effective;  // in force
    StaleRule stale = StaleRule::kNone;
    bool policy_failed = false;
    bool is_governed = true;
    std::optional<Duration> wait;                // kDefer: as reckoned, not spread yet
    std::array<Reading, kSignalCount> readings;  // as they were then, where it is recorded
  };

  Instant to_now(Instant now);
  AdmissionPolicy& policy_for(bool is_governed) { return is_governed ? *enforced_ : *shadow_; }
  HoldFigures hold_figures() const { return hold_ ? hold_->figures() : HoldFigures{}; }
  void note_queue();
  void learn(const LedgerEntry& entry, const AttemptEnd& end);

  Judgement judge(const RequestView& request);
  void note_readings(const RequestView& request, Judgement& judgement) const;
  Decision ask(const RequestView& request, AdmissionPolicy& policy, bool any_age,
               bool& policy_failed);
  Decision decide_or_stale(const RequestView& request, Judgement& judgement);
  bool is_fresh_for(SignalSet signals) const;
  std::optional<Decision> lease_refusal(const RequestView& request) const;
  void weigh_defer(Judgement& judgement) const;
  std::optional<Duration> reckoned_wait() const;

  Permit admit(AdmissionGate* gate, const RequestView& request, const Judgement& judgement);
  Presented answer_refusal(const RequestView& request, Judgement& judgement);
  void record(const RequestView& request, const Judgement& judgement, DecisionCause cause,
              bool is_held, const Answer& answer);

  // The held.
  bool hold(const RequestView& request, Judgement& judgement);
  void review_held(AdmissionGate* gate);
  // Returns how many it counts as among those who have to stay.
  int review(AdmissionGate* gate, const HoldQueue::Key& key, const HoldQueue::Held& held);
  void answer_expired();
  void leave_hold(const HoldQueue::Key& key, bool is_admitted);
  void tick();

  GateOptions options_;
  std::unique_ptr<AdmissionPolicy> enforced_;
  std::unique_ptr<AdmissionPolicy> shadow_;    // where not everybody is governed
  std::unique_ptr<AdmissionPolicy> fallback_;  // of the ledger's signals
  std::unique_ptr<OutputPrediction> predictor_;
  std::optional<ServiceFit> fit_;  // where the service estimate is learned
  PoolSignals signals_;
  std::optional<HoldQueue> hold_;
  QueueTrend trend_;
  Instant clock_;
  Instant next_tick_ = Instant::never();
  std::uint64_t sequence_ = 0;
  GateCounts counts_;
  std::vector<Release> releases_;
  bool reviewing_ = false;
  bool reads_pages_ = false;  // the policy does
};

}  // namespace inferscale

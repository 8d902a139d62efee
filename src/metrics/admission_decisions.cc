#include "metrics/admission_decisions.h"

#include <algorithm>
#include <span>

namespace inferscale {
namespace {

// Values that were kept, for summarize().
class KeptValues final : public ValueStream {
 public:
  explicit KeptValues(std::span<const double> values) : values_(values) {}
  std::size_t size_at_most() const override { return values_.size(); }
  void restart() override { done_ = false; }
  std::span<const double> next() override {
    if (done_) return {};
    done_ = true;
    return values_;
  }

 private:
  std::span<const double> values_;
  bool done_ = false;
};

PopulationSummary summary_of(std::span<const double> values) {
  KeptValues stream(values);
  return summarize(stream);
}

// Ends of a hold that nobody decides about.
bool is_of_gate(Reason reason) {
  return reason == Reason::kHoldExpired || reason == Reason::kClientGone;
}

bool leaves_hold(const DecisionRecord& record) {
  return record.cause == DecisionCause::kHeld && !record.held;
}

}  // namespace

void DecisionTally::on_decision(const DecisionRecord& record) {
  ++counts_.decisions;
  if (record.stale != StaleRule::kNone) ++counts_.stale_decisions;
  if (record.policy_failed) ++counts_.policy_failures;
  count_attempt(record);
  count_policy(record);
  put_off_.note(record);
  note_signals(record);
  if (leaves_hold(record)) hold_s_.push_back(record.request.held.seconds());
}

void DecisionTally::count_attempt(const DecisionRecord& record) {
  const bool arrives = record.cause != DecisionCause::kHeld;
  ReasonCounts& reason = counts_.by_reason[static_cast<std::size_t>(record.effective.reason)];
  if (record.cause == DecisionCause::kRerouted) {
    // It is at a door again.
    ++counts_.rerouted;
    --counts_.admitted;
  } else if (arrives) {
    ++counts_.presented;
  }
  if (record.held) {
    if (!arrives) return;
    ++counts_.held;
    ++reason.held;
    return;
  }
  if (record.effective.admitted()) {
    ++counts_.admitted;
  } else if (record.effective.reason == Reason::kClientGone) {
    ++counts_.left;
  } else if (record.effective.verdict == Verdict::kDefer) {
    ++counts_.deferred;
    ++reason.deferred;
  } else {
    ++counts_.rejected;
    ++reason.rejected;
  }
}

void DecisionTally::count_policy(const DecisionRecord& record) {
  if (record.enforced) {
    if (record.stale != StaleRule::kNone || record.policy_failed) return;
    if (is_of_gate(record.decided.reason) || is_of_gate(record.effective.reason)) return;
    ++counts_.policy_decisions;
    if (!record.decided.admitted()) ++counts_.policy_refusals;
    return;
  }
  if (record.cause != DecisionCause::kArrival) return;
  ++counts_.shadow;
  if (record.decided.admitted()) return;
  ++counts_.shadow_refusals;
  ReasonCounts& reason = counts_.by_reason[static_cast<std::size_t>(record.decided.reason)];
  ++(record.decided.verdict == Verdict::kDefer ? reason.shadow_deferred : reason.shadow_rejected);
}

void DecisionTally::note_signals(const DecisionRecord& record) {
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    if (!record.needed.has(static_cast<Signal>(i))) continue;
    SignalTally& tally = signals_[i];
    ++tally.decisions;
    const Reading& reading = record.readings[i];
    if (!reading.is_known() || record.at - reading.observed_at > max_age_) continue;
    tally.known.add(reading.value);
  }
}

DecisionFigures DecisionTally::figures(const ClientRecords* clients) const {
  DecisionFigures figures = counts_;
  figures.defer_s = summary_of(put_off_.seconds(clients));
  figures.hold_s = summary_of(hold_s_);
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    const SignalTally& tally = signals_[i];
    if (tally.decisions == 0) continue;
    SignalFigures of_signal{.signal = static_cast<Signal>(i),
                            .decisions = tally.decisions,
                            .known = tally.known.count()};
    if (of_signal.known > 0) {
      of_signal.min = tally.known.min();
      of_signal.p50 = tally.known.quantile(0.50);
      of_signal.p95 = tally.known.quantile(0.95);
      of_signal.max = tally.known.max();
    }
    figures.signals.push_back(of_signal);
  }
  return figures;
}

}  // namespace inferscale

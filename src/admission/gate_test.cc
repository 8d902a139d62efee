// The gate: permits, the stale rule, shadows, leases, answers.

#include "admission/gate.h"

#include <gtest/gtest.h>

#include "admission/gate_test_support.h"

namespace inferscale {
namespace {

using Kind = Presented::Kind;

Decision admit_all(const RequestView&, const PoolView&) {
  return Decision::admit();
}
Decision reject_all(const RequestView&, const PoolView&) {
  return Decision::reject(Reason::kKvPressure);
}
// Refuses when anybody else is in flight.
Decision one_at_a_time(const RequestView&, const PoolView& pool) {
  return pool.read(Signal::kInFlight).value < 1 ? Decision::admit()
                                                : Decision::reject(Reason::kConcurrency);
}

TEST(Gate, APermitCountsUntilItEnds) {
  ScriptedCalls calls{.decide = one_at_a_time, .needs = {.signals = {Signal::kInFlight}}};
  const auto gate = make_gate(gate_options(calls));
  Presented first = gate->present(call_of(1), at_s(0));
  ASSERT_EQ(first.kind, Kind::kAdmitted);
  EXPECT_EQ(gate->present(call_of(2), at_s(1)).kind, Kind::kAnswered);
  first.permit.finish(20, at_s(2));
  EXPECT_EQ(gate->in_flight(), 0);
  EXPECT_EQ(gate->present(call_of(3), at_s(3)).kind, Kind::kAdmitted);
  ASSERT_EQ(calls.ends.size(), 2U);  // the last one's permit was dropped
  EXPECT_EQ(calls.ends[0].end, PermitEnd::kFinished);
  EXPECT_EQ(calls.ends[0].output_tokens, 20);
  EXPECT_EQ(calls.ends[0].e2e(), Duration::from_seconds(2));
  EXPECT_EQ(calls.ends[1].end, PermitEnd::kDropped);
}

TEST(Gate, APermitThatIsMovedEndsOnce) {
  ScriptedCalls calls{.decide = admit_all};
  const auto gate = make_gate(gate_options(calls));
  {
    Permit permit = std::move(gate->present(call_of(1), at_s(0)).permit);
    Permit other = std::move(permit);
    EXPECT_FALSE(permit.is_held());
    other = Permit();  // drops what it had
    EXPECT_EQ(gate->in_flight(), 0);
  }
  EXPECT_EQ(calls.ends.size(), 1U);
}

TEST(GateDeathTest, APermitThatHasEndedEndsNoMore) {
  ScriptedCalls calls{.decide = admit_all};
  const auto gate = make_gate(gate_options(calls));
  Permit permit = std::move(gate->present(call_of(1), at_s(0)).permit);
  permit.ignore(at_s(1));
  EXPECT_DEATH(permit.finish(1, at_s(2)), "a permit that has ended");
}

TEST(Gate, F5AMissingSignalIsRefusedAtStartUp) {
  ScriptedCalls calls{.decide = admit_all, .needs = {.signals = {Signal::kPrefixHitRate}}};
  GateOptions options = gate_options(calls);
  options.supply.signals = {};
  const auto gate = AdmissionGate::create(options);
  ASSERT_FALSE(gate.has_value());
  EXPECT_EQ(gate.error().message,
            "policy scripted needs the signal prefix_hit_rate, which the test does not supply");
}

TEST(Gate, AFallbackThatReadsPagesIsRefused) {
  ScriptedCalls calls{.decide = admit_all};
  ScriptedCalls fallback{.decide = admit_all, .needs = {.signals = {Signal::kQueueDepth}}};
  GateOptions options = gate_options(calls);
  options.on_stale = StaleRule::kLedgerFallback;
  options.fallback_name = "queue_depth";
  options.fallback = gate_options(fallback).policy;
  EXPECT_FALSE(AdmissionGate::create(options).has_value());
}

class StaleGate : public ::testing::Test {
 protected:
  std::unique_ptr<AdmissionGate> gate(StaleRule rule) {
    calls_.decide = [](const RequestView&, const PoolView& pool) {
      const Reading queue = pool.read(Signal::kQueueDepth);
      return queue.is_known() && queue.value > 8 ? Decision::reject(Reason::kQueueDepth)
                                                 : Decision::admit();
    };
    calls_.needs.signals = {Signal::kQueueDepth};
    fallback_.decide = one_at_a_time;
    fallback_.needs.signals = {Signal::kInFlight};
    GateOptions options = gate_options(calls_);
    options.on_stale = rule;
    options.fallback = gate_options(fallback_).policy;
    options.fallback_name = "one_at_a_time";
    options.sink = &decisions_;
    auto made = make_gate(options);
    made->observe(0, {.observed_at = at_s(0), .queue_depth = 20}, at_s(0));
    return made;
  }

  ScriptedCalls calls_;
  ScriptedCalls fallback_;
  RecordedDecisions decisions_;
};

TEST_F(StaleGate, AFreshPageIsThePolicysBusiness) {
  const auto closed = gate(StaleRule::kClosed);
  EXPECT_EQ(closed->present(call_of(1), at_s(4)).decision.reason, Reason::kQueueDepth);
  EXPECT_EQ(decisions_.records[0].stale, StaleRule::kNone);
}

TEST_F(StaleGate, ClosedRejectsAndSaysWhy) {
  const auto closed = gate(StaleRule::kClosed);
  const Presented presented = closed->present(call_of(1), at_s(6));
  EXPECT_EQ(presented.decision.reason, Reason::kNoSignal);
  EXPECT_EQ(decisions_.records[0].stale, StaleRule::kClosed);
  EXPECT_EQ(closed->counts().stale_decisions, 1);
}

TEST_F(StaleGate, OpenAdmits) {
  EXPECT_EQ(gate(StaleRule::kOpen)->present(call_of(1), at_s(6)).kind, Kind::kAdmitted);
  EXPECT_EQ(decisions_.records[0].stale, StaleRule::kOpen);
}

TEST_F(StaleGate, LastGoodReadsTheOldPage) {
  const auto last_good = gate(StaleRule::kLastGood);
  EXPECT_EQ(last_good->present(call_of(1), at_s(600)).decision.reason, Reason::kQueueDepth);
}

TEST_F(StaleGate, TheFallbackDecidesByTheLedgerAlone) {
  const auto fallback = gate(StaleRule::kLedgerFallback);
  const Presented first = fallback->present(call_of(1), at_s(6));
  EXPECT_EQ(first.kind, Kind::kAdmitted);
  EXPECT_EQ(fallback->present(call_of(2), at_s(6)).decision.reason, Reason::kConcurrency);
  EXPECT_EQ(decisions_.records[1].stale, StaleRule::kLedgerFallback);
}

TEST_F(StaleGate, ThePolicyIsNotToldOfWhatTheFallbackAdmitted) {
  const auto fallback = gate(StaleRule::kLedgerFallback);
  {
    const Presented first = fallback->present(call_of(1), at_s(6));
  }
  EXPECT_EQ(calls_.admitted, 0);
  EXPECT_TRUE(calls_.ends.empty());
}

TEST(Gate, AShadowDecidesAndEverybodyGetsIn) {
  ScriptedCalls calls{.decide = reject_all};
  GateOptions options = gate_options(calls);
  options.enforce = 0;
  RecordedDecisions decisions;
  options.sink = &decisions;
  const auto gate = make_gate(options);
  EXPECT_EQ(gate->present(call_of(1), at_s(0)).kind, Kind::kAdmitted);
  ASSERT_EQ(decisions.records.size(), 1U);
  EXPECT_EQ(decisions.records[0].decided.verdict, Verdict::kReject);
  EXPECT_TRUE(decisions.records[0].effective.admitted());
  EXPECT_FALSE(decisions.records[0].enforced);
  EXPECT_EQ(gate->counts().shadow_refusals, 1);
  EXPECT_EQ(gate->counts().rejected, 0);
  EXPECT_EQ(calls.admitted + calls.admitted_in_shadow, 0);  // it would have refused it
}

TEST(Gate, AShadowHasItsOwnState) {
  ScriptedCalls calls{.decide = admit_all};
  GateOptions options = gate_options(calls);
  options.enforce = 0.5;
  const auto gate = make_gate(options);
  for (std::uint64_t i = 0; i < 200; ++i) gate->present(call_of(i, i + 1), at_s(0));
  EXPECT_GT(calls.admitted, 50);
  EXPECT_GT(calls.admitted_in_shadow, 50);
  EXPECT_EQ(calls.admitted + calls.admitted_in_shadow, 200);
}

TEST(Gate, ALeaseThatCannotBeHadIsADecisionWithItsOwnReason) {
  ScriptedCalls calls{.decide = admit_all};
  GateOptions options = gate_options(calls);
  options.tenants[7] = {.in_flight = 2};
  const auto gate = make_gate(options);
  const Presented a = gate->present(call_of(1, 7), at_s(0));
  const Presented b = gate->present(call_of(2, 7), at_s(0));
  const Presented c = gate->present(call_of(3, 7), at_s(0));
  EXPECT_EQ(c.kind, Kind::kAnswered);
  EXPECT_EQ(c.decision.reason, Reason::kLease);
  EXPECT_EQ(c.answer.status, 429);
  const Presented other = gate->present(call_of(4, 8), at_s(0));
  EXPECT_EQ(other.kind, Kind::kAdmitted);
  EXPECT_EQ(calls.admitted, 3);  // the policy is not told of what the lease refused
}

TEST(Gate, DefersAreAnsweredWithARetryAfterThatIsNeverZero) {
  ScriptedCalls calls{.decide = [](const RequestView&, const PoolView&) {
    return Decision::defer(Reason::kQueueDepth, Duration());
  }};
  const auto gate = make_gate(gate_options(calls));
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Presented presented = gate->present(call_of(i), at_s(0));
    EXPECT_EQ(presented.answer.status, 503);
    EXPECT_GE(*presented.answer.retry_after, Duration::from_seconds(1));
  }
}

TEST(Gate, RetryAfterIsSpreadAroundTheReckonedWait) {
  ScriptedCalls calls{.decide = [](const RequestView&, const PoolView&) {
    return Decision::defer(Reason::kQueueDepth, Duration::from_seconds(20));
  }};
  const auto gate = make_gate(gate_options(calls));
  double least = 1e9;
  double most = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const double wait = gate->present(call_of(i), at_s(0)).answer.retry_after->seconds();
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  EXPECT_GE(least, 15);
  EXPECT_LT(least, 16);
  EXPECT_LE(most, 25);
  EXPECT_GT(most, 24);
}

TEST(Gate, AWaitThatIsTooLongToAskForIsAReject) {
  ScriptedCalls calls{.decide = [](const RequestView&, const PoolView&) {
    return Decision::defer(Reason::kQueueDepth, Duration::from_seconds(61));
  }};
  const auto gate = make_gate(gate_options(calls));
  const Presented presented = gate->present(call_of(1), at_s(0));
  EXPECT_EQ(presented.decision.verdict, Verdict::kReject);
  EXPECT_EQ(presented.decision.reason, Reason::kRetryTooLong);
  EXPECT_EQ(presented.answer.status, 529);
}

TEST(Gate, DefersBecomeRejectsWhenTheQueueRisesAllAlong) {
  // Ten a second are told to come again in half a minute: the queue outside grows.
  ScriptedCalls calls{.decide = [](const RequestView&, const PoolView&) {
    return Decision::defer(Reason::kQueueDepth, Duration::from_seconds(30));
  }};
  const auto gate = make_gate(gate_options(calls));
  bool rejected = false;
  for (int i = 0; i < 300 && !rejected; ++i) {
    const Presented presented =
        gate->present(call_of(static_cast<std::uint64_t>(i)), at_s(0.1 * i));
    rejected = presented.decision.reason == Reason::kQueueRises;
    if (i < 100) {
      EXPECT_FALSE(rejected) << "a trend takes a whole window";
    }
  }
  EXPECT_TRUE(rejected);
}

TEST(Gate, AFailingPolicyIsCountedAndOnErrorHolds) {
  ScriptedCalls calls{.decide = [](const RequestView&, const PoolView&) {
    Decision decision = Decision::reject(Reason::kShed);
    decision.failed = true;
    return decision;
  }};
  GateOptions options = gate_options(calls);
  const auto open = make_gate(options);
  EXPECT_EQ(open->present(call_of(1), at_s(0)).kind, Kind::kAdmitted);
  EXPECT_EQ(open->counts().policy_failures, 1);
  options.on_error = Verdict::kReject;
  const auto closed = make_gate(options);
  EXPECT_EQ(closed->present(call_of(1), at_s(0)).decision.reason, Reason::kPolicyError);
}

TEST(Gate, FortyCallsInsideOneScrapeIntervalDoNotAllPass) {
  ScriptedCalls calls{.decide = [](const RequestView&, const PoolView& pool) {
    return pool.read(Signal::kQueueDepth).value > 8 ? Decision::reject(Reason::kQueueDepth)
                                                    : Decision::admit();
  }};
  calls.needs.signals = {Signal::kQueueDepth};
  const auto gate = make_gate(gate_options(calls));
  gate->observe(0, {.observed_at = at_s(1), .queue_depth = 0}, at_s(1));
  std::vector<Permit> permits;
  for (std::uint64_t i = 0; i < 40; ++i) {
    Presented presented = gate->present(call_of(i), at_s(1.05));
    if (presented.kind != Kind::kAdmitted) continue;
    presented.permit.dispatched(0, at_s(1.05));
    permits.push_back(std::move(presented.permit));
  }
  EXPECT_EQ(permits.size(), 9U);  // more than 8 refuse
}

TEST(Gate, RecordsAreNumberedAndHoldWhatWasKnown) {
  ScriptedCalls calls{.decide = admit_all, .needs = {.signals = {Signal::kInFlight}}};
  GateOptions options = gate_options(calls);
  RecordedDecisions decisions;
  options.sink = &decisions;
  const auto gate = make_gate(options);
  gate->observe(0, {.observed_at = at_s(1), .queue_depth = 3}, at_s(1));
  const Presented first = gate->present(call_of(1), at_s(2));
  const Presented second = gate->present(call_of(2), at_s(3));
  ASSERT_EQ(decisions.records.size(), 2U);
  EXPECT_EQ(decisions.records[1].sequence, 1U);
  const auto& readings = decisions.records[1].readings;
  // Not only what the policy reads.
  const Reading queue = readings[static_cast<std::size_t>(Signal::kQueueDepth)];
  EXPECT_DOUBLE_EQ(queue.value, 4);  // three on the page, and one on its way to a replica
  EXPECT_EQ(queue.observed_at, at_s(1));
  EXPECT_DOUBLE_EQ(readings[static_cast<std::size_t>(Signal::kInFlight)].value, 1);
  EXPECT_FALSE(readings[static_cast<std::size_t>(Signal::kKvUsedFraction)].is_known());
}

TEST(Gate, ThePredictorFillsInWhatThePolicySees) {
  TokenCount seen = 0;
  ScriptedCalls calls{.decide = [&seen](const RequestView& request, const PoolView&) {
    seen = request.predicted_output_tokens;
    return Decision::admit();
  }};
  GateOptions options = gate_options(calls);
  options.predictor = {.kind = OutputPredictor::kConstant, .constant = 33};
  make_gate(options)->present(call_of(1), at_s(0));
  EXPECT_EQ(seen, 33);
}

TEST(Gate, TicksComeAtTheirInterval) {
  ScriptedCalls calls{.decide = admit_all, .tick_interval = Duration::from_seconds(1)};
  const auto gate = make_gate(gate_options(calls));
  EXPECT_EQ(gate->next_wake(), at_s(1));
  gate->advance(at_s(1));
  EXPECT_EQ(calls.ticks, 1);
  gate->advance(at_s(4.5));  // slept through: not made up for
  EXPECT_EQ(calls.ticks, 2);
  EXPECT_EQ(gate->next_wake(), at_s(5));
}

}  // namespace
}  // namespace inferscale

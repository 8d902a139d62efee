// Decisions, counted by hand: what is enforced, what is shadow, and how long callers were put off.

#include "metrics/admission_decisions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "metrics/admission_test_support.h"

namespace inferscale {
namespace {

constexpr Duration kMaxAge = Duration::nanos(5'000'000'000);

const ReasonCounts& by(const DecisionFigures& figures, Reason reason) {
  return figures.by_reason[static_cast<std::size_t>(reason)];
}

DecisionFigures figures_of(std::span<const DecisionRecord> records) {
  DecisionTally tally(kMaxAge);
  for (const DecisionRecord& record : records) tally.on_decision(record);
  return tally.figures(nullptr);
}

TEST(DecisionTally, CountsAttemptsByWhatTheyWereTold) {
  const DecisionFigures figures = figures_of(std::vector<DecisionRecord>{
      decision_at(0, 0, Decision::admit()),
      decision_at(1, 1, Decision::defer(Reason::kQueueDepth)),
      decision_at(2, 2, Decision::reject(Reason::kRateLimit)),
      decision_at(3, 1, Decision::admit()),
      decision_at(4, 3, Decision::reject(Reason::kRateLimit)),
  });
  EXPECT_EQ(figures.decisions, 5);
  EXPECT_EQ(figures.presented, 5);
  EXPECT_EQ(figures.admitted, 2);
  EXPECT_EQ(figures.deferred, 1);
  EXPECT_EQ(figures.rejected, 2);
  EXPECT_EQ(by(figures, Reason::kQueueDepth).deferred, 1);
  EXPECT_EQ(by(figures, Reason::kRateLimit).rejected, 2);
  EXPECT_FALSE(by(figures, Reason::kNone).any());
  EXPECT_EQ(figures.policy_decisions, 5);
  EXPECT_EQ(figures.policy_refusals, 3);
}

// Held at 1 s, decided about again at 2 s, admitted at 4 s: one attempt, three decisions.
TEST(DecisionTally, AHeldAttemptIsOneAttempt) {
  DecisionRecord arrives = decision_at(1, 7, Decision::defer(Reason::kQueueAge));
  arrives.held = true;
  DecisionRecord again = decision_at(2, 7, Decision::defer(Reason::kQueueAge));
  again.cause = DecisionCause::kHeld;
  again.held = true;
  again.request.held = Duration::from_seconds(1);
  DecisionRecord leaves = decision_at(4, 7, Decision::admit());
  leaves.cause = DecisionCause::kHeld;
  leaves.request.held = Duration::from_seconds(3);
  const DecisionFigures figures = figures_of(std::vector<DecisionRecord>{arrives, again, leaves});
  EXPECT_EQ(figures.decisions, 3);
  EXPECT_EQ(figures.presented, 1);
  EXPECT_EQ(figures.held, 1);
  EXPECT_EQ(figures.admitted, 1);
  EXPECT_EQ(figures.deferred, 0);
  EXPECT_EQ(by(figures, Reason::kQueueAge).held, 1);
  EXPECT_EQ(figures.hold_s.count, 1);
  EXPECT_DOUBLE_EQ(figures.hold_s.max, 3);
  EXPECT_DOUBLE_EQ(figures.defer_s.max, 3);
}

TEST(DecisionTally, WhoLeavesTheHoldWasNotRefused) {
  DecisionRecord arrives = decision_at(1, 7, Decision::defer(Reason::kQueueAge));
  arrives.held = true;
  DecisionRecord gone = decision_at(3, 7, Decision::reject(Reason::kClientGone));
  gone.cause = DecisionCause::kHeld;
  gone.request.held = Duration::from_seconds(2);
  const DecisionFigures figures = figures_of(std::vector<DecisionRecord>{arrives, gone});
  EXPECT_EQ(figures.left, 1);
  EXPECT_EQ(figures.rejected, 0);
  EXPECT_EQ(figures.policy_decisions, 1);
  EXPECT_DOUBLE_EQ(figures.defer_s.max, 2);
}

TEST(DecisionTally, AHoldThatExpiresIsNoDecisionOfThePolicy) {
  DecisionRecord arrives = decision_at(1, 7, Decision::defer(Reason::kQueueAge));
  arrives.held = true;
  DecisionRecord expires = decision_at(6, 7, Decision::defer(Reason::kHoldExpired));
  expires.cause = DecisionCause::kHeld;
  expires.request.held = Duration::from_seconds(5);
  const DecisionFigures figures = figures_of(std::vector<DecisionRecord>{arrives, expires});
  EXPECT_EQ(figures.deferred, 1);
  EXPECT_EQ(by(figures, Reason::kHoldExpired).deferred, 1);
  EXPECT_EQ(figures.policy_decisions, 1);
  EXPECT_DOUBLE_EQ(figures.hold_s.max, 5);
}

// Each replica has a gate: an attempt whose replica failed comes to another one.
TEST(DecisionTally, WhoIsReroutedIsCountedOnce) {
  std::vector<DecisionRecord> records;
  for (std::uint64_t request = 0; request < 3; ++request) {
    records.push_back(decision_at(1, request, Decision::admit()));
  }
  records.push_back(decision_at(2, 0, Decision::admit()));
  records.push_back(decision_at(2, 1, Decision::reject(Reason::kConcurrency)));
  records.push_back(decision_at(2, 2, Decision::defer(Reason::kConcurrency)));
  records.push_back(decision_at(3, 2, Decision::admit()));
  for (std::size_t i = 3; i < 6; ++i) records[i].cause = DecisionCause::kRerouted;
  records[5].held = true;
  records[6].cause = DecisionCause::kHeld;
  const DecisionFigures figures = figures_of(records);
  EXPECT_EQ(figures.presented, 3);
  EXPECT_EQ(figures.rerouted, 3);
  EXPECT_EQ(figures.admitted, 2);
  EXPECT_EQ(figures.rejected, 1);
  EXPECT_EQ(figures.deferred, 0);
  EXPECT_EQ(figures.held, 1);
}

// From the first defer to the admission (2 to 5 s), to the last answer before it gave up (3 to
// 7 s), and to nothing where it never came again (4 s).
TEST(DecisionTally, DeferTimeRunsFromTheFirstDefer) {
  const DecisionFigures figures = figures_of(std::vector<DecisionRecord>{
      decision_at(2, 1, Decision::defer(Reason::kQueueDepth)),
      decision_at(3, 2, Decision::defer(Reason::kQueueDepth)),
      decision_at(4, 1, Decision::defer(Reason::kQueueDepth)),
      decision_at(4, 3, Decision::defer(Reason::kQueueDepth)), decision_at(5, 1, Decision::admit()),
      decision_at(7, 2, Decision::reject(Reason::kRetryTooLong)),
      decision_at(9, 4, Decision::reject(Reason::kRateLimit)),  // never deferred: not put off
  });
  EXPECT_EQ(figures.defer_s.count, 3);
  EXPECT_DOUBLE_EQ(figures.defer_s.mean, 7.0 / 3);
  EXPECT_DOUBLE_EQ(figures.defer_s.p50, 3);
  EXPECT_DOUBLE_EQ(figures.defer_s.p95, 4);
  EXPECT_DOUBLE_EQ(figures.defer_s.max, 4);
}

// Attempts 0, 1, 3 and 5 are those of one request, 2 and 4 those of another, whatever the door
// could tell; 6 was never put off.
TEST(DecisionTally, TheClientsRecordsJoinAttempts) {
  std::vector<DecisionRecord> records = {
      decision_at(1, 0, Decision::defer(Reason::kQueueDepth)),
      decision_at(2, 1, Decision::reject(Reason::kRetryTooLong)),
      decision_at(3, 2, Decision::defer(Reason::kQueueDepth)),
      decision_at(4, 3, Decision::admit()),  // served badly: it comes again
      decision_at(5, 4, Decision::reject(Reason::kRateLimit)),
      decision_at(6, 5, Decision::defer(Reason::kQueueDepth)),
      decision_at(7, 6, Decision::admit()),
  };
  for (DecisionRecord& record : records) record.request.identity_is_known = false;
  DecisionTally tally(kMaxAge, true);
  for (const DecisionRecord& record : records) tally.on_decision(record);
  ClientRecords clients;
  clients.request_of = {0, 0, 1, 0, 1, 0, 2};
  clients.requests.resize(3);
  const DecisionFigures figures = tally.figures(&clients);
  EXPECT_EQ(figures.defer_s.count, 3);  // 1 to 4 s, 3 to 5 s, and 6 s, of which nothing came
  EXPECT_DOUBLE_EQ(figures.defer_s.mean, 5.0 / 3);
  EXPECT_DOUBLE_EQ(figures.defer_s.max, 3);
}

// Without request ids and records a further attempt is a new request: only what was held at the
// door is known.
TEST(DecisionTally, AnAnsweredDeferOfAnUnknownCallerIsNotATimeOfZero) {
  std::vector<DecisionRecord> records = {decision_at(1, 1, Decision::defer(Reason::kQueueDepth)),
                                         decision_at(2, 2, Decision::defer(Reason::kQueueDepth)),
                                         decision_at(5, 2, Decision::defer(Reason::kHoldExpired))};
  for (DecisionRecord& record : records) record.request.identity_is_known = false;
  records[1].held = true;
  records[2].cause = DecisionCause::kHeld;
  const DecisionFigures figures = figures_of(records);
  EXPECT_EQ(figures.defer_s.count, 1);
  EXPECT_DOUBLE_EQ(figures.defer_s.max, 3);
}

TEST(DecisionTally, F12_ShadowRefusalsRefuseNobody) {
  DecisionRecord shadow = decision_at(1, 1, Decision::reject(Reason::kKvPressure));
  shadow.enforced = false;
  shadow.effective = Decision::admit();
  const DecisionFigures figures = figures_of(std::vector<DecisionRecord>(5, shadow));
  EXPECT_EQ(figures.admitted, 5);
  EXPECT_EQ(figures.rejected, 0);
  EXPECT_EQ(figures.shadow, 5);
  EXPECT_EQ(figures.shadow_refusals, 5);
  EXPECT_EQ(by(figures, Reason::kKvPressure).rejected, 0);
  EXPECT_EQ(by(figures, Reason::kKvPressure).shadow_rejected, 5);
  EXPECT_EQ(figures.policy_decisions, 0);
  EXPECT_EQ(figures.policy_refusals, 0);
}

TEST(DecisionTally, OthersRefusalsAreNotThePolicys) {
  DecisionRecord stale = decision_at(1, 1, Decision::reject(Reason::kNoSignal));
  stale.stale = StaleRule::kClosed;
  DecisionRecord failed = decision_at(2, 2, Decision::reject(Reason::kPolicyError));
  failed.policy_failed = true;
  DecisionRecord lease = decision_at(3, 3, Decision::admit());
  lease.effective = Decision::reject(Reason::kLease);
  const DecisionFigures figures = figures_of(std::vector<DecisionRecord>{stale, failed, lease});
  EXPECT_EQ(figures.rejected, 3);
  EXPECT_EQ(figures.stale_decisions, 1);
  EXPECT_EQ(figures.policy_failures, 1);
  EXPECT_EQ(figures.policy_decisions, 1);
  EXPECT_EQ(figures.policy_refusals, 0);
}

TEST(DecisionTally, ASignalIsKnownWhereItsReadingIsFresh) {
  std::vector<DecisionRecord> records;
  for (int i = 0; i < 4; ++i) records.push_back(decision_at(10 + i, 0, Decision::admit()));
  for (DecisionRecord& record : records) record.needed = {Signal::kQueueDepth};
  auto reading = [](DecisionRecord& record) -> Reading& {
    return record.readings[static_cast<std::size_t>(Signal::kQueueDepth)];
  };
  reading(records[0]) = Reading::of(Signal::kQueueDepth, 3, at(10));
  reading(records[1]) = Reading::of(Signal::kQueueDepth, 8, at(6));   // 5 s old: fresh still
  reading(records[2]) = Reading::of(Signal::kQueueDepth, 99, at(6));  // 6 s old
  records[0].readings[static_cast<std::size_t>(Signal::kRunning)] =
      Reading::of(Signal::kRunning, 1, at(10));  // not read
  const DecisionFigures figures = figures_of(records);
  ASSERT_EQ(figures.signals.size(), 1U);
  const SignalFigures& queue = figures.signals.front();
  EXPECT_EQ(queue.signal, Signal::kQueueDepth);
  EXPECT_EQ(queue.known, 2);
  EXPECT_DOUBLE_EQ(*queue.known_share(), 0.5);
  EXPECT_EQ(queue.min, 3);
  EXPECT_EQ(queue.p50, 3);
  EXPECT_EQ(queue.max, 8);
}

TEST(ValueRange, F11_QuantilesAreNearestRanksToItsError) {
  RandomStream random(3, "values");
  ValueRange range;
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) {
    const double value = i % 3 == 0 ? 1e6 * random.uniform() : random.uniform();
    values.push_back(value);
    range.add(value);
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(range.min(), values.front());
  EXPECT_EQ(range.max(), values.back());
  for (const double q : {0.01, 0.5, 0.66, 0.95, 1.0}) {
    const double exact = nearest_rank(values, q);
    EXPECT_NEAR(range.quantile(q), exact, ValueRange::kRelativeError * exact) << q;
  }
}

TEST(ValueRange, SmallCountsAreExact) {
  ValueRange range;
  for (int i = 0; i <= 200; ++i) range.add(i);
  EXPECT_EQ(range.quantile(0.5), 100);
  EXPECT_EQ(range.quantile(0.95), 190);
  EXPECT_EQ(range.quantile(1), 200);
}

}  // namespace
}  // namespace inferscale

// What admission bought: ten requests worked by hand, and mistakes that others made with such
// figures, by their numbers.

#include "metrics/admission_summary.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/random.h"
#include "metrics/admission_fold.h"
#include "metrics/admission_test_support.h"
#include "metrics/jain.h"

namespace inferscale {
namespace {

constexpr Duration kMaxAge = Duration::nanos(5'000'000'000);
const Slo kSlo = {.ttft = Duration::from_seconds(1)};

// One request a second, of two tenants; 14 attempts. Those that met the SLO: 0, 1, 3, 8.
AttemptedRequests ten_requests() {
  AttemptedRequests run;
  const auto refused = [](double arrival_s, Reason reason) {
    return attempt_at(arrival_s, OutcomeStatus::kRefused, reason);
  };
  const auto deferred = [](double arrival_s) {
    return attempt_at(arrival_s, OutcomeStatus::kDeferred, Reason::kQueueDepth);
  };
  run.add(0, finished_at(0, 0.1, 0.2, 2));
  run.add(1, finished_at(1, 1.1, 1.3, 3));
  run.add(2, deferred(2));
  run.add(3, deferred(3));
  run.add(3, finished_at(3.5, 3.6, 3.9, 5));
  run.add(4, refused(4, Reason::kRateLimit));
  run.add(2, finished_at(4.2, 4.3, 4.7, 6));  // 2.7 s after it first came
  run.add(5, refused(5, Reason::kRateLimit));
  run.add(6, finished_at(6, 7.5, 8, 9));
  run.add(5, refused(6.5, Reason::kQueueFull));  // admitted, and then refused by the engine
  Outcome left = attempt_at(7, OutcomeStatus::kAbandoned, Reason::kClientGone);
  left.start = at(9.1);
  left.first_token = at(9.5);
  left.output_tokens = 3;
  run.add(7, left);
  Outcome broken = finished_at(8, 8.1, 8.2, 8.5);
  broken.output_tokens = 4;
  run.add(8, broken);
  run.add(9, refused(9, Reason::kPoolFull));
  Outcome resumed = finished_at(9.1, 9.2, 9.3, 9.6);
  resumed.prompt_tokens = 104;
  resumed.output_tokens = 6;
  run.add(8, resumed);
  run.of(4).status = run.of(5).status = RequestStatus::kGaveUp;
  run.of(7).status = RequestStatus::kTimedOut;
  run.of(8).first_token = at(8.2);
  run.of(8).resumed_tokens = 4;
  run.of(9).status = RequestStatus::kElsewhere;
  return run;
}

AdmissionSummary summary_of(const AttemptedRequests& run, const AdmissionFacts& facts,
                            const DecisionTally* decisions = nullptr) {
  const std::vector<Outcome> requests = fold_attempts(run.attempts, run.clients, facts.slo);
  return summarize_admission(run.attempts, requests, &run.clients, decisions, facts);
}

TEST(AdmissionSummary, TenRequestsByHand) {
  const AdmissionSummary s = summary_of(ten_requests(), {.slo = kSlo});
  EXPECT_EQ(s.requests, 10);
  EXPECT_EQ(s.attempts, 14);
  EXPECT_DOUBLE_EQ(*s.amplification, 1.4);
  EXPECT_EQ(s.gave_up, 2);
  EXPECT_EQ(s.left, 1);
  EXPECT_EQ(s.elsewhere, 1);
  EXPECT_EQ(s.engine_refusals, 1);
  EXPECT_EQ(s.met, 4);
  EXPECT_DOUBLE_EQ(*s.goodput, 0.4);
  EXPECT_EQ(s.admitted, 7);
  EXPECT_DOUBLE_EQ(*s.attainment_admitted, 4.0 / 7);
  EXPECT_DOUBLE_EQ(s.arrival_window_s, 9);
  EXPECT_DOUBLE_EQ(*s.offered_rps, 1);
  EXPECT_DOUBLE_EQ(*s.goodput_rps, 0.4);
}

TEST(AdmissionSummary, WastedTokensOfTenRequestsByHand) {
  const TokenUse use = summary_of(ten_requests(), {.slo = kSlo}).tokens;
  EXPECT_EQ(use.worked.prompt, 7 * 100 + 104);
  EXPECT_EQ(use.worked.output, 5 * 10 + 3 + 4 + 6);
  EXPECT_EQ(use.useful.prompt, 400);
  EXPECT_EQ(use.useful.output, 40);  // the resumed answer is 4 + 6
  EXPECT_EQ(use.missed.prompt, 200);
  EXPECT_EQ(use.missed.output, 20);
  EXPECT_EQ(use.gone.prompt, 100);
  EXPECT_EQ(use.gone.output, 3);
  EXPECT_EQ(use.repeated.prompt, 104);
  EXPECT_EQ(use.repeated.output, 0);
  EXPECT_DOUBLE_EQ(*use.wasted_share(), 427.0 / 867);
}

TEST(AdmissionSummary, WhatWasFoundInACacheWasNotComputed) {
  AttemptedRequests run;
  Outcome late = finished_at(0, 0.1, 5, 6);
  late.cached_tokens = 64;
  run.add(0, late);
  const TokenUse use = summary_of(run, {.slo = kSlo}).tokens;
  EXPECT_EQ(use.worked.prompt, 36);
  EXPECT_EQ(use.missed.prompt, 36);
  EXPECT_DOUBLE_EQ(*use.wasted_share(), 1);
}

// The engine's answers after its client went: 10 s of work, and none of it counts.
TEST(AdmissionSummary, AnAnswerForNobodyIsWasted) {
  AttemptedRequests run;
  run.add(0, finished_at(0, 0.1, 0.5, 10));
  run.of(0).status = RequestStatus::kTimedOut;
  const AdmissionSummary s = summary_of(run, {.slo = kSlo});
  EXPECT_EQ(s.met, 0);
  EXPECT_EQ(s.left, 1);
  EXPECT_EQ(s.tokens.gone.output, 10);
}

TEST(AdmissionSummary, RequestsOfTheWarmUpAreNotJudged) {
  const AdmissionSummary s = summary_of(ten_requests(), {.slo = kSlo, .measured_from = at(3)});
  EXPECT_EQ(s.counted, 7);
  EXPECT_EQ(s.met, 2);
  EXPECT_EQ(s.admitted, 4);
  EXPECT_EQ(s.requests, 10);
  EXPECT_DOUBLE_EQ(s.arrival_window_s, 6);
}

// 90 requests at 12/s, the last answer after 8.05 s: 90 / 8.05 would be 11.18.
TEST(AdmissionSummary, D5_RatesAreOverTheArrivalsNotTheDrain) {
  AttemptedRequests run;
  for (std::uint32_t i = 0; i < 90; ++i) {
    const double arrival_s = i / 12.0;
    run.add(i, finished_at(arrival_s, arrival_s, arrival_s + 0.1, 8.05));
  }
  const AdmissionSummary s = summary_of(run, {.slo = kSlo});
  EXPECT_NEAR(*s.offered_rps, 12, 1e-6);
  EXPECT_NEAR(*s.goodput_rps, 12, 1e-6);
}

// Failures stay in the denominator: of four, one met, one is lost, one hangs, one missed.
TEST(AdmissionSummary, F9_FailuresAndHungRequestsAreMisses) {
  AttemptedRequests run;
  run.add(0, finished_at(0, 0.1, 0.2, 1));
  run.add(1, attempt_at(1, OutcomeStatus::kLost, Reason::kReplicaFailed));
  run.of(1).status = RequestStatus::kGaveUp;
  run.add(2, attempt_at(2));
  run.add(3, finished_at(3, 5, 6, 7));
  const AdmissionSummary s = summary_of(run, {.slo = kSlo});
  EXPECT_DOUBLE_EQ(*s.goodput, 0.25);
  EXPECT_DOUBLE_EQ(*s.attainment_admitted, 0.25);
}

// As many requests in twice the time are another load, and say so.
TEST(AdmissionSummary, F13_EqualCountsAtAnotherRateAreAnotherLoad) {
  AttemptedRequests fast;
  AttemptedRequests slow;
  for (std::uint32_t i = 0; i < 21; ++i) {
    fast.add(i, finished_at(i, i, i + 0.5, i + 1));
    slow.add(i, finished_at(2 * i, 2 * i, 2 * i + 0.5, 2 * i + 1));
  }
  const AdmissionSummary one = summary_of(fast, {.slo = kSlo});
  const AdmissionSummary other = summary_of(slow, {.slo = kSlo});
  EXPECT_EQ(one.requests, other.requests);
  EXPECT_DOUBLE_EQ(*one.offered_rps, 1);
  EXPECT_DOUBLE_EQ(*other.offered_rps, 0.5);
}

TEST(AdmissionSummary, RefusingMoreRaisesAttainmentAndNotGoodput) {
  AttemptedRequests run;
  run.add(0, finished_at(0, 0.1, 0.2, 1));
  for (std::uint32_t i = 1; i < 10; ++i) {
    run.add(i, attempt_at(i, OutcomeStatus::kRefused, Reason::kShed));
    run.of(i).status = RequestStatus::kGaveUp;
  }
  const AdmissionSummary s = summary_of(run, {.slo = kSlo});
  EXPECT_DOUBLE_EQ(*s.attainment_admitted, 1);
  EXPECT_DOUBLE_EQ(*s.goodput, 0.1);
}

TEST(AdmissionSummary, NothingIsMadeUpOfNothing) {
  const AdmissionSummary s = summary_of({}, {.slo = kSlo});
  EXPECT_EQ(s.amplification, std::nullopt);
  EXPECT_EQ(s.goodput, std::nullopt);
  EXPECT_EQ(s.attainment_admitted, std::nullopt);
  EXPECT_EQ(s.tokens.wasted_share(), std::nullopt);
  AttemptedRequests one;
  one.add(0, finished_at(0, 0.1, 0.2, 1));
  const AdmissionSummary unjudged = summary_of(one, {});
  EXPECT_EQ(unjudged.goodput, std::nullopt);
  EXPECT_EQ(unjudged.offered_rps, std::nullopt);
  EXPECT_EQ(unjudged.tokens.wasted().all(), 0);  // without targets a finished answer is useful
}

class Liveliness : public testing::Test {
 protected:
  // Decisions that saw these readings of the KV use, enforced or not.
  AdmissionSummary judged(std::initializer_list<double> readings, const Decision& decision,
                          bool enforced = true) {
    DecisionTally tally(kMaxAge);
    for (const double value : readings) {
      DecisionRecord record = decision_at(1, 1, decision);
      record.enforced = enforced;
      if (!enforced) record.effective = Decision::admit();
      record.needed = {Signal::kKvUsedFraction};
      record.readings[static_cast<std::size_t>(Signal::kKvUsedFraction)] =
          Reading::of(Signal::kKvUsedFraction, value, at(1));
      tally.on_decision(record);
    }
    const SignalThreshold threshold = {.signal = Signal::kKvUsedFraction, .value = 0.9};
    return summary_of({}, {.slo = kSlo, .threshold = threshold}, &tally);
  }
};

TEST_F(Liveliness, R2_4_ASignalFarFromItsThresholdIsInert) {
  const AdmissionSummary s = judged({0.01, 0.043}, Decision::admit());
  EXPECT_EQ(s.signal_reached, Liveness::kInert);
  EXPECT_NEAR(*s.signal_headroom, 0.952, 0.0005);
  EXPECT_EQ(s.policy_acted, Liveness::kInert);
}

TEST_F(Liveliness, WithinATenthOfItIsMarginalAndAtItLive) {
  EXPECT_EQ(judged({0.809}, Decision::admit()).signal_reached, Liveness::kInert);
  EXPECT_EQ(judged({0.811}, Decision::admit()).signal_reached, Liveness::kMarginal);
  EXPECT_EQ(judged({0.9}, Decision::admit()).signal_reached, Liveness::kLive);
  EXPECT_EQ(judged({}, Decision::admit()).signal_reached, Liveness::kUnknown);
}

// The queue went far beyond 0.9, and the threshold is one of the KV cache's.
TEST_F(Liveliness, F11_AThresholdIsComparedWithItsOwnSignal) {
  DecisionTally tally(kMaxAge);
  DecisionRecord record = decision_at(1, 1, Decision::admit());
  record.needed = {Signal::kKvUsedFraction, Signal::kQueueDepth};
  for (const auto& [signal, value] :
       {std::pair(Signal::kKvUsedFraction, 0.2), std::pair(Signal::kQueueDepth, 40.0)}) {
    record.readings[static_cast<std::size_t>(signal)] = Reading::of(signal, value, at(1));
  }
  tally.on_decision(record);
  const SignalThreshold kv = {.signal = Signal::kKvUsedFraction, .value = 0.9};
  const AdmissionSummary s = summary_of({}, {.slo = kSlo, .threshold = kv}, &tally);
  EXPECT_EQ(s.signal_reached, Liveness::kInert);
  EXPECT_NEAR(*s.signal_headroom, 0.7 / 0.9, 1e-12);
}

// Of a policy that does not compare one signal with one number.
TEST_F(Liveliness, R2_2_WithoutAThresholdNoneIsReached) {
  DecisionTally tally(kMaxAge);
  tally.on_decision(decision_at(1, 1, Decision::reject(Reason::kRateLimit)));
  const AdmissionSummary s = summary_of({}, {.slo = kSlo}, &tally);
  EXPECT_EQ(s.signal_reached, Liveness::kUnknown);
  EXPECT_EQ(s.policy_acted, Liveness::kLive);
}

TEST_F(Liveliness, F12_ReachingTheThresholdInShadowIsNotActing) {
  const AdmissionSummary shadow = judged({0.95}, Decision::reject(Reason::kKvPressure), false);
  EXPECT_EQ(shadow.signal_reached, Liveness::kLive);
  EXPECT_EQ(shadow.policy_acted, Liveness::kUnknown);
  const AdmissionSummary enforced = judged({0.95}, Decision::reject(Reason::kKvPressure));
  EXPECT_EQ(enforced.policy_acted, Liveness::kLive);
}

TEST(Jain, KnownVectors) {
  const auto jain = [](std::vector<double> values) { return jain_index(values); };
  EXPECT_DOUBLE_EQ(*jain({2, 2, 2, 2}), 1);
  EXPECT_DOUBLE_EQ(*jain({5, 0, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(*jain({1, 1, 0, 0}), 0.5);
  EXPECT_DOUBLE_EQ(*jain({1, 2, 3}), 36.0 / 42);
  EXPECT_EQ(jain({}), std::nullopt);
  EXPECT_EQ(jain({0, 0}), std::nullopt);
}

// Requests 0, 2, 4, ... are of tenant 0, the others of tenant 2; nobody is tenant 1.
TEST(TenantFairness, TwoTenantsByHand) {
  const AttemptedRequests run = ten_requests();
  const std::vector<std::uint32_t> tenant_of = {0, 2, 0, 2, 0, 2, 0, 2, 0, 2};
  const std::vector<double> weights = {3, 1, 2};
  const AdmissionSummary s =
      summary_of(run, {.slo = kSlo, .tenant_of = tenant_of, .tenant_weights = weights});
  ASSERT_EQ(s.fairness.tenants.size(), 2U);
  const TenantFigures& even = s.fairness.tenants[0];  // met 0, 8; finished 0, 2, 6, 8
  const TenantFigures& odd = s.fairness.tenants[1];   // met 1, 3; finished 1, 3
  EXPECT_EQ(even.tenant, 0U);
  EXPECT_EQ(odd.tenant, 2U);
  EXPECT_EQ(even.met, 2);
  EXPECT_EQ(odd.met, 2);
  EXPECT_EQ(even.served_tokens, 440);
  EXPECT_EQ(odd.served_tokens, 220);
  EXPECT_DOUBLE_EQ(*even.e2e_p95_ms, 4000);  // request 2, from 2 s to 6 s
  EXPECT_DOUBLE_EQ(*odd.e2e_p95_ms, 2000);
  EXPECT_DOUBLE_EQ(*s.fairness.goodput_jain, 1);
  const double a = 440.0 / 3;
  const double b = 220.0 / 2;
  EXPECT_NEAR(*s.fairness.tokens_jain, (a + b) * (a + b) / (2 * (a * a + b * b)), 1e-12);
  EXPECT_DOUBLE_EQ(*s.fairness.latency_jain, 36.0 / 40);
}

TEST(TenantFairness, WhoWasNeverServedHasNoLatencyAndPullsTheOthersDown) {
  const std::vector<Outcome> requests = {finished_at(0, 0, 0.1, 1),
                                         attempt_at(1, OutcomeStatus::kRefused, Reason::kShed)};
  const std::vector<std::uint32_t> tenant_of = {0, 1};
  const TenantFairness fairness = tenant_fairness(requests, tenant_of, {}, kSlo);
  EXPECT_EQ(fairness.without_latency, 1);
  EXPECT_DOUBLE_EQ(*fairness.goodput_jain, 0.5);
  EXPECT_DOUBLE_EQ(*fairness.tokens_jain, 0.5);
  EXPECT_DOUBLE_EQ(*fairness.latency_jain, 1);
}

// Requests of up to four attempts with every kind of ending, some with streams that broke.
AttemptedRequests random_run(RandomStream& random) {
  AttemptedRequests run;
  for (std::uint32_t request = 0; request < 200; ++request) {
    const double arrival_s = 0.25 * request;
    const std::uint64_t tries = random.below(4);
    for (std::uint64_t i = 0; i < tries; ++i) {
      const double again_s = arrival_s + 0.1 * static_cast<double>(i);
      run.add(request, random.below(2) == 0
                           ? attempt_at(again_s, OutcomeStatus::kDeferred, Reason::kQueueDepth)
                           : attempt_at(again_s, OutcomeStatus::kRefused, Reason::kShed));
    }
    const double last_s = arrival_s + 0.1 * static_cast<double>(tries);
    const double first_s = last_s + 2 * random.uniform();
    Outcome last = finished_at(last_s, last_s, first_s, first_s + 1);
    last.cached_tokens = static_cast<std::uint32_t>(random.below(100));
    run.add(request, last);
    if (random.below(3) == 0) run.of(request).status = RequestStatus::kTimedOut;
  }
  return run;
}

TEST(AdmissionSummary, RandomRunsAddUp) {
  RandomStream random(11, "runs");
  for (int repeat = 0; repeat < 20; ++repeat) {
    const AttemptedRequests run = random_run(random);
    const AdmissionSummary s = summary_of(run, {.slo = kSlo});
    std::int64_t met = 0;
    TokenSums useful;
    for (std::size_t id = 0; id < run.attempts.size(); ++id) {  // the simple way, over attempts
      const RequestRecord& request = run.clients.requests[run.clients.request_of[id]];
      const Outcome& attempt = run.attempts[id];
      if (!attempt.finished() || request.status != RequestStatus::kFinished) continue;
      if (attempt.first_token - request.first_arrival > *kSlo.ttft) continue;
      ++met;
      useful += {.prompt = 100 - TokenCount{attempt.cached_tokens}, .output = 10};
    }
    ASSERT_GT(met, 0);
    EXPECT_EQ(s.met, met);
    EXPECT_EQ(s.tokens.useful.prompt, useful.prompt);
    EXPECT_EQ(s.tokens.useful.output, useful.output);
    TokenSums causes = s.tokens.missed;
    causes += s.tokens.gone;
    causes += s.tokens.repeated;
    EXPECT_EQ(causes.prompt, s.tokens.wasted().prompt);
    EXPECT_EQ(causes.output, s.tokens.wasted().output);
    EXPECT_EQ(s.attempts, std::ssize(run.attempts));
    EXPECT_LE(*s.goodput, *s.attainment_admitted);
  }
}

TEST(AdmissionSummary, SessionsThatCompletedAreOfAllThatBegan) {
  const AdmissionSummary s = summary_of({}, {.slo = kSlo, .sessions = 4, .sessions_complete = 1});
  EXPECT_DOUBLE_EQ(*s.completion, 0.25);
}

}  // namespace
}  // namespace inferscale

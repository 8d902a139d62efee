// The table's rows one by one, each just at its threshold, and their order.

#include "admission/policies/eight_signals.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

// A calm pool and a request that carries everything.
class EightSignals : public testing::Test {
 protected:
  EightSignals() {
    policy_ = make_policy_for_test("eight_signals");
    pool_.set_declared(policy_->needs().signals);
    pool_.set_now(100);
    pool_.set(Signal::kReplicasFullFraction, 0.5);
    pool_.set(Signal::kTenantTokenShare, 0.5);
    pool_.set(Signal::kQueueDepth, 3);
    pool_.set(Signal::kSessionInFlight, 7);
    pool_.set(Signal::kKvFreeTokens, 5000);
    pool_.set(Signal::kQueueAgeS, 0.5);
    pool_.set(Signal::kKvUsedFraction, 0.89);
    ServiceModel& service = pool_.service_model();
    service.provenance = ServiceProvenance::kCatalogue;
    service.step_ns = 10e6;
    service.prefill_ns_per_token = 40e3;
    service.chunk_tokens = 8192;
    request_ = {.tenant = 1, .session = 2, .prompt_tokens = 5000};
    request_.ttft_deadline = Instant::nanos(102'000'000'000);
  }
  Decision decide() { return policy_->decide(request_, pool_); }
  void expect(Verdict verdict, Reason reason) {
    EXPECT_EQ(decide().verdict, verdict);
    EXPECT_EQ(reason_name(decide().reason), reason_name(reason));
  }

  std::unique_ptr<AdmissionPolicy> policy_;
  FakePool pool_;
  RequestView request_;
};

TEST_F(EightSignals, AdmitACalmPoolsRequest) {
  expect(Verdict::kAdmit, Reason::kNone);
}

TEST_F(EightSignals, EveryReplicaFullIsReject529) {
  pool_.set(Signal::kReplicasFullFraction, 1);
  expect(Verdict::kReject, Reason::kPoolFull);
  EXPECT_EQ(StatusMap().rejected(Reason::kPoolFull), 529);
}

TEST_F(EightSignals, ATenantOverItsShareIsReject429WhileOthersWait) {
  pool_.set(Signal::kTenantTokenShare, 0.51);
  expect(Verdict::kReject, Reason::kTenantShare);
  EXPECT_EQ(StatusMap().rejected(Reason::kTenantShare), 429);
  pool_.set(Signal::kQueueDepth, 0);
  expect(Verdict::kAdmit, Reason::kNone);
}

// Its own prefill takes 0.010 + 5000 x 40e-6 = 0.21 s, the queue 0.5 s: due in 0.71 s is in time.
TEST_F(EightSignals, AWaitThatWouldMissTheDeadlineIsReject) {
  request_.ttft_deadline = Instant::nanos(100'711'000'000);
  expect(Verdict::kAdmit, Reason::kNone);
  request_.ttft_deadline = Instant::nanos(100'709'000'000);
  expect(Verdict::kReject, Reason::kDeadlineInfeasible);
  pool_.set_unknown(Signal::kQueueAgeS);  // nobody waits
  expect(Verdict::kAdmit, Reason::kNone);
  request_.ttft_deadline = Instant::nanos(100'209'000'000);
  expect(Verdict::kReject, Reason::kDeadlineInfeasible);
}

TEST_F(EightSignals, ASessionWithTooManyCallsIsDeferred) {
  pool_.set(Signal::kSessionInFlight, 8);
  expect(Verdict::kDefer, Reason::kSessionInFlight);
}

TEST_F(EightSignals, APromptThatDoesNotFitIsDeferred) {
  request_.prompt_tokens = 5001;
  expect(Verdict::kDefer, Reason::kNoHeadroom);
}

TEST_F(EightSignals, AnOldQueueDefers) {
  pool_.set(Signal::kQueueAgeS, 0.51);
  expect(Verdict::kDefer, Reason::kQueueAge);
  EXPECT_EQ(StatusMap().deferred(Reason::kQueueAge), 503);
}

TEST_F(EightSignals, TheKvHighWaterMarkDefers) {
  pool_.set(Signal::kKvUsedFraction, 0.9);
  expect(Verdict::kDefer, Reason::kKvPressure);
}

TEST_F(EightSignals, WhatIsCachedPassesTheLoadAndGoesFirst) {
  pool_.set(Signal::kQueueAgeS, 1.2);
  pool_.set(Signal::kKvUsedFraction, 0.95);
  request_.reusable_tokens = 2499;
  expect(Verdict::kDefer, Reason::kQueueAge);
  RequestView cached = request_;
  cached.reusable_tokens = 2500;
  EXPECT_TRUE(policy_->decide(cached, pool_).admitted());
  EXPECT_LT(*policy_->rank(cached), *policy_->rank(request_));
  pool_.set(Signal::kSessionInFlight, 8);  // but not the rows about its caller
  EXPECT_EQ(policy_->decide(cached, pool_).reason, Reason::kSessionInFlight);
}

TEST_F(EightSignals, RejectionsComeBeforeDefers) {
  pool_.set(Signal::kKvUsedFraction, 1);
  pool_.set(Signal::kQueueAgeS, 9);
  pool_.set(Signal::kSessionInFlight, 40);
  request_.prompt_tokens = 9000;
  expect(Verdict::kReject, Reason::kDeadlineInfeasible);
  pool_.set(Signal::kTenantTokenShare, 0.9);
  expect(Verdict::kReject, Reason::kTenantShare);
  pool_.set(Signal::kReplicasFullFraction, 1);
  expect(Verdict::kReject, Reason::kPoolFull);
}

TEST_F(EightSignals, NothingKnownAdmits) {
  for (const SignalSpec& spec : all_signals()) pool_.set_unknown(spec.signal);
  pool_.service_model() = {};
  expect(Verdict::kAdmit, Reason::kNone);
}

TEST(EightSignalsParameters, ANullSwitchesARowAndItsNeedsOff) {
  const auto all = make_policy_for_test("eight_signals");
  EXPECT_TRUE(all->needs().request.tenant && all->needs().request.session &&
              all->needs().request.deadline && all->needs().service_model);
  ConfigNode written = parameters_for_test({{"deadline", "false"}});
  for (const char* key : {"tenant_share", "session_in_flight"}) {
    written.put(key, ConfigNode::null({}), {});
  }
  ConfigSession session;
  ConfigReader reader(written, session);
  const auto some = read_eight_signals(reader)({});
  reader.finish();
  ASSERT_FALSE(session.failed()) << session.error().to_string();
  EXPECT_FALSE(some->needs().request.tenant || some->needs().request.session ||
               some->needs().request.deadline || some->needs().service_model);
  EXPECT_FALSE(some->needs().signals.has(Signal::kTenantTokenShare));
  EXPECT_TRUE(some->needs().signals.has(Signal::kKvUsedFraction));
}

}  // namespace
}  // namespace inferscale

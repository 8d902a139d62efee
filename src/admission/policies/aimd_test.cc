// The law step by step.

#include "admission/policies/aimd.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

class AimdTest : public testing::Test {
 protected:
  void make(const WrittenParameters& parameters) {
    policy_ = make_policy_for_test("aimd", parameters);
    pool_.set_declared(policy_->needs().signals);
  }

  // The limit after an outcome with this TTFT, of a request that met `in_flight` at its admission.
  double after(double ttft_ms, std::int64_t in_flight = 1000, PermitEnd how = PermitEnd::kFinished,
               TokenCount prompt = 100) {
    now_s_ += 100;
    const Instant admitted = Instant() + Duration::from_seconds(now_s_);
    policy_->on_outcome({.prompt_tokens = prompt},
                        {.end = how,
                         .admitted_at = admitted,
                         .first_token = admitted + Duration::from_millis(ttft_ms),
                         .now = admitted + Duration::from_seconds(50),
                         .in_flight_at_admission = in_flight});
    return *policy_->limit();
  }

  std::unique_ptr<AdmissionPolicy> policy_;
  FakePool pool_;
  double now_s_ = 0;
};

TEST_F(AimdTest, GrowsByOneOverItselfAndShrinksByTheFactor) {
  make({{"target_ms", "1000"}, {"initial", "20"}, {"backoff", "0.5"}});
  EXPECT_DOUBLE_EQ(after(999), 20.05);
  EXPECT_DOUBLE_EQ(after(1000), 20.05 + 1 / 20.05);  // the target itself is in time
  EXPECT_DOUBLE_EQ(after(1001), (20.05 + 1 / 20.05) / 2);
}

TEST_F(AimdTest, GrowsByTheIncreaseOnceAround) {
  make({{"initial", "100"}, {"increase", "2"}});
  for (int i = 0; i < 100; ++i) after(1);
  EXPECT_NEAR(*policy_->limit(), 102, 0.05);
}

TEST_F(AimdTest, AFailureShrinksItAndWhatSaysNothingDoesNot) {
  make({{"initial", "20"}, {"backoff", "0.5"}});
  EXPECT_EQ(after(1, 1000, PermitEnd::kIgnored), 20);
  EXPECT_EQ(after(1, 1000, PermitEnd::kDropped), 10);
}

TEST_F(AimdTest, DoesNotGrowWhileLessThanHalfIsUsed) {
  make({{"initial", "20"}});
  EXPECT_EQ(after(1, 9), 20);
  EXPECT_GT(after(1, 10), 20);
}

TEST_F(AimdTest, StaysWithinItsBounds) {
  make({{"initial", "20"}, {"least", "15"}, {"most", "20"}, {"backoff", "0.5"}});
  EXPECT_EQ(after(1), 20);
  EXPECT_EQ(after(5000), 15);
}

TEST_F(AimdTest, TimeAtTheDoorIsNotThePools) {
  make({{"target_ms", "1000"}, {"initial", "20"}});
  const Instant admitted = Instant() + Duration::from_seconds(1);
  const Instant dispatched = admitted + Duration::from_seconds(5);
  policy_->on_outcome({}, {.end = PermitEnd::kFinished,
                           .admitted_at = admitted,
                           .dispatched_at = dispatched,
                           .first_token = dispatched + Duration::from_millis(900),
                           .now = dispatched + Duration::from_seconds(2),
                           .in_flight_at_admission = 20});
  EXPECT_GT(*policy_->limit(), 20);
}

TEST_F(AimdTest, OneCongestionCountsOnce) {
  make({{"initial", "100"}, {"backoff", "0.5"}});
  // Ten late ones that were all admitted before the first of them ended.
  for (int i = 0; i < 10; ++i) {
    policy_->on_outcome({}, {.end = PermitEnd::kDropped,
                             .admitted_at = Instant() + Duration::from_seconds(1 + 0.1 * i),
                             .now = Instant() + Duration::from_seconds(5 + 0.1 * i)});
  }
  EXPECT_EQ(*policy_->limit(), 50);
  policy_->on_outcome({}, {.end = PermitEnd::kDropped,
                           .admitted_at = Instant() + Duration::from_seconds(5),
                           .now = Instant() + Duration::from_seconds(9)});
  EXPECT_EQ(*policy_->limit(), 25);
}

TEST_F(AimdTest, QueueingIsWhatThePromptDoesNotTakeAlone) {
  make({{"measure", "queueing"}, {"target_ms", "100"}, {"initial", "20"}, {"backoff", "0.5"}});
  EXPECT_TRUE(policy_->needs().service_model);
  pool_.service_model() = {.prefill_ns_per_token = 1e6,
                           .provenance = ServiceProvenance::kCalibrated};
  pool_.set(Signal::kInFlight, 0);
  policy_->decide({}, pool_);
  // 5000 tokens take 5000 ms alone.
  EXPECT_GT(after(5099, 1000, PermitEnd::kFinished, 5000), 20);
  EXPECT_LT(after(5101, 1000, PermitEnd::kFinished, 5000), 20);
}

TEST_F(AimdTest, RefusesAboveTheLimit) {
  make({{"initial", "20"}});
  pool_.set(Signal::kInFlight, 19);
  EXPECT_TRUE(policy_->decide({}, pool_).admitted());
  pool_.set(Signal::kInFlight, 20);
  const Decision refused = policy_->decide({}, pool_);
  EXPECT_EQ(refused.verdict, Verdict::kReject);
  EXPECT_EQ(refused.reason, Reason::kConcurrency);
  pool_.set_unknown(Signal::kInFlight);
  EXPECT_TRUE(policy_->decide({}, pool_).admitted());
}

TEST(AimdParameters, TheFirstLimitIsWithinTheBounds) {
  EXPECT_FALSE(read_policy_for_test("aimd", {{"initial", "5"}, {"least", "6"}}).has_value());
}

}  // namespace
}  // namespace inferscale

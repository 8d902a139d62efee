// By hand: places that are left, prompts that queue.

#include "admission/policies/oracle_deadline.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

class OracleDeadlineTest : public testing::Test {
 protected:
  OracleDeadlineTest() {
    policy_ = make_policy_for_test("oracle.deadline");
    pool_.set_declared(policy_->needs().signals);
    // Two places; a token takes 10 + 2 x 5 = 20 ms, a prompt of 100 tokens 10 + 10 = 20 ms.
    pool_.service_model() = {.step_ns = 10e6,
                             .prefill_ns_per_token = 100e3,
                             .decode_ns_per_sequence = 5e6,
                             .max_num_seqs = 2,
                             .provenance = ServiceProvenance::kCatalogue};
    pool_.set_replica(0, Signal::kInFlight, 0);
  }

  Decision decide(double deadline_ms, TokenCount output) {
    view_ = {};
    view_.request = ++number_;
    view_.prompt_tokens = 100;
    view_.predicted_output_tokens = output;
    view_.ttft_deadline = pool_.now() + Duration::from_millis(deadline_ms);
    const Decision decision = policy_->decide(view_, pool_);
    if (decision.admitted()) policy_->on_admit(view_, pool_.now());
    return decision;
  }

  std::unique_ptr<AdmissionPolicy> policy_;
  FakePool pool_;
  RequestView view_;
  std::uint64_t number_ = 0;
};

TEST_F(OracleDeadlineTest, NeedsTheTruth) {
  EXPECT_TRUE(policy_->needs().request.true_output);
  EXPECT_TRUE(policy_->needs().signals.is_empty());
}

TEST_F(OracleDeadlineTest, PromptsQueueBeforeOneAnother) {
  EXPECT_FALSE(decide(19, 10).admitted());
  EXPECT_TRUE(decide(20, 10).admitted());
  EXPECT_EQ(decide(39, 10).reason, Reason::kDeadlineInfeasible);
  EXPECT_TRUE(decide(40, 10).admitted());
}

TEST_F(OracleDeadlineTest, ReplicasShareThePrompts) {
  pool_.set_replica(1, Signal::kInFlight, 0);
  EXPECT_TRUE(decide(20, 10).admitted());
  EXPECT_FALSE(decide(29, 10).admitted());
  EXPECT_TRUE(decide(30, 10).admitted());
}

TEST_F(OracleDeadlineTest, APlaceIsFreeWhenTheShorterAnswerEnds) {
  EXPECT_TRUE(decide(1000, 100).admitted());  // leaves at 20 + 2000 ms
  EXPECT_TRUE(decide(1000, 10).admitted());   // leaves at 40 + 200 ms
  EXPECT_FALSE(decide(259, 10).admitted());
  EXPECT_TRUE(decide(260, 10).admitted());  // leaves at 260 + 200 ms
  EXPECT_FALSE(decide(479, 10).admitted());
  EXPECT_TRUE(decide(480, 10).admitted());
}

TEST_F(OracleDeadlineTest, WhoEndsEarlierLeavesItsPlace) {
  EXPECT_TRUE(decide(1000, 100).admitted());
  EXPECT_TRUE(decide(1000, 100).admitted());
  const RequestView second = view_;
  pool_.set_now(0.1);
  EXPECT_FALSE(decide(200, 10).admitted());
  policy_->on_outcome(second, {.end = PermitEnd::kFinished, .now = pool_.now()});
  EXPECT_TRUE(decide(20, 10).admitted());
}

TEST_F(OracleDeadlineTest, WithoutADeadlineEverybodyIsInTime) {
  for (int i = 0; i < 50; ++i) {
    view_ = {.request = ++number_, .prompt_tokens = 100, .predicted_output_tokens = 1000};
    EXPECT_TRUE(policy_->decide(view_, pool_).admitted());
    policy_->on_admit(view_, pool_.now());
  }
}

}  // namespace
}  // namespace inferscale

// The figures of the paper, of its reproductions, and by hand.

#include "admission/policies/wcrt.h"

#include <gtest/gtest.h>

#include <cmath>

#include "admission/policies/busiest_bucket.h"
#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

// The paper's roofline of a 7B model on an A100: C(512) = 47.96 ms, C(1024) = 95.92 ms.
ServiceModel paper_model() {
  return {.step_ns = 7e6,
          .prefill_ns_per_token = 8e4,
          .decode_ns_per_sequence = 2.5e5,
          .chunk_tokens = 512,
          .provenance = ServiceProvenance::kCatalogue,
          .confidence = 1};
}

class WcrtTest : public testing::Test {
 protected:
  void make(const WrittenParameters& parameters) {
    policy_ = make_policy_for_test("wcrt", parameters);
    pool_.set_declared(policy_->needs().signals);
    pool_.service_model() = paper_model();
    set_replicas(1);
    pool_.set(Signal::kRunning, 0);
  }

  void set_replicas(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) pool_.set_replica(i, Signal::kRunning, 0);
  }

  RequestView request(TokenCount prompt, double deadline_ms) const {
    RequestView view;
    view.request = number_;
    view.prompt_tokens = prompt;
    view.arrival = pool_.now();
    view.ttft_deadline = pool_.now() + Duration::from_millis(deadline_ms);
    return view;
  }

  Decision decide(const RequestView& view) {
    ++number_;
    const Decision decision = policy_->decide(view, pool_);
    if (decision.admitted()) policy_->on_admit(view, pool_.now());
    return decision;
  }

  // `rate` arrivals a second of 512 tokens for two buckets; what becomes of the last one.
  Decision after_steady(double rate, double deadline_ms) {
    Decision last;
    const int arrivals = static_cast<int>(std::lround(10 * rate));
    for (int i = 0; i < arrivals; ++i) {
      pool_.set_now(i / rate);
      last = decide(request(512, deadline_ms));
    }
    return last;
  }

  std::unique_ptr<AdmissionPolicy> policy_;
  FakePool pool_;
  std::uint64_t number_ = 0;
};

const WrittenParameters kArrivals = {{"counts", "arrivals"}};
const WrittenParameters kArrivalsTriple = {{"counts", "arrivals"}, {"safety_factor", "3"}};
const WrittenParameters kFifty = {
    {"counts", "arrivals"}, {"alpha_ns_per_token", "0"}, {"gamma_ns", "5e7"}};

TEST(WorstResponse, IsTheTheorem) {
  EXPECT_DOUBLE_EQ(worst_response(0.5, 2000, 100), 2100);
  EXPECT_TRUE(std::isinf(worst_response(1, 2000, 100)));
  // What it comes to: rho may be at most (D - C) / (2 D - C).
  const double most = (2000.0 - 100) / (2 * 2000.0 - 100);
  EXPECT_NEAR(worst_response(most, 2000, 100), 2000, 1e-9);
}

TEST(MostDecoding, IsTheTheorem) {
  EXPECT_EQ(most_decoding(200, 7, 0.25), 772);
  EXPECT_EQ(most_decoding(6.9, 7, 0.25), 0);
  EXPECT_EQ(most_decoding(7, 7, 0.25), 0);
  EXPECT_TRUE(std::isinf(most_decoding(8, 7, 0)));
}

TEST(BusiestBucket, TenASecondOf50MsAreHalfALoad) {
  BusiestBucket window(Duration::from_seconds(5), 12);
  for (int i = 0; i < 600; ++i) {
    window.advance(Instant() + Duration::from_seconds(0.1 * i));
    window.add(0.05);
  }
  const BusiestBucket::Load load = window.load();
  EXPECT_DOUBLE_EQ(load.rate_per_s * load.mean_cost, 0.5);
}

TEST(BusiestBucket, ForgetsWhatHasLeftTheWindow) {
  BusiestBucket window(Duration::from_seconds(5), 12);
  for (int i = 0; i < 100; ++i) window.add(1);
  window.advance(Instant() + Duration::from_seconds(59.9));
  EXPECT_DOUBLE_EQ(window.load().rate_per_s, 20);
  window.advance(Instant() + Duration::from_seconds(60));
  EXPECT_DOUBLE_EQ(window.load().rate_per_s, 0);
  window.add(1);
  window.advance(Instant() + Duration::from_seconds(1e6));
  EXPECT_DOUBLE_EQ(window.load().mean_cost, 0);
}

TEST_F(WcrtTest, EightASecondMeetAMinuteAndNot100Ms) {
  make(kArrivals);
  const Decision tight = after_steady(8, 100);
  EXPECT_EQ(tight.verdict, Verdict::kReject);
  EXPECT_EQ(tight.reason, Reason::kDeadlineInfeasible);
  make(kArrivals);
  EXPECT_TRUE(after_steady(8, 60'000).admitted());
}

TEST_F(WcrtTest, FifteenASecondAreNoOverloadButLateFor100Ms) {
  make(kArrivals);
  EXPECT_EQ(after_steady(15, 100).reason, Reason::kDeadlineInfeasible);
}

TEST_F(WcrtTest, AHundredASecondOf50MsAreOverloadWhateverTheDeadline) {
  make(kFifty);
  const Decision decision = after_steady(100, 1);
  EXPECT_EQ(decision.verdict, Verdict::kReject);
  EXPECT_EQ(decision.reason, Reason::kOverloaded);
  make(kFifty);
  EXPECT_EQ(after_steady(100, 1e6).reason, Reason::kOverloaded);
}

TEST_F(WcrtTest, NineASecondMeet1200MsAndNotThreeTimesTheBound) {
  make(kArrivals);
  EXPECT_TRUE(after_steady(9, 1200).admitted());
  make(kArrivalsTriple);
  EXPECT_EQ(after_steady(9, 1200).reason, Reason::kDeadlineInfeasible);
}

TEST_F(WcrtTest, TheMeanCostIsTheWindowsAndNotTheArrivingRequests) {
  // 40 prompts of 10 ms in the bucket and one of 1000 ms: rho is 41/5 x 34.146 ms = 0.28, its
  // bound 0.3889 D + 1000 ms, which is D at 1636 ms. By its own cost rho would be 8.2.
  make({{"alpha_ns_per_token", "1e6"}, {"gamma_ns", "0"}});
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(decide(request(10, 2000)).admitted());
  EXPECT_TRUE(decide(request(1000, 1640)).admitted());
  make({{"alpha_ns_per_token", "1e6"}, {"gamma_ns", "0"}});
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(decide(request(10, 2000)).admitted());
  EXPECT_FALSE(decide(request(1000, 1630)).admitted());
}

TEST_F(WcrtTest, WhoIsRefusedBringsNoLoad) {
  // D = 2000, C = 47.96: rho may be 0.4939, that is 10.3 a second, 51 in a bucket of 5 s.
  for (const bool arrivals : {false, true}) {
    make(arrivals ? kArrivals : WrittenParameters());
    int admitted = 0;
    for (int i = 0; i < 3000; ++i) {
      pool_.set_now(0.01 * i);
      admitted += decide(request(512, 2000)).admitted();
    }
    // Of six buckets; counted by arrivals, the first full one closes the door for a minute.
    EXPECT_EQ(admitted, arrivals ? 51 : 6 * 51);
  }
}

TEST_F(WcrtTest, ReplicasShareTheLoad) {
  make(kArrivals);
  EXPECT_FALSE(after_steady(12, 2000).admitted());
  make(kArrivals);
  set_replicas(2);
  EXPECT_TRUE(after_steady(12, 2000).admitted());
}

TEST_F(WcrtTest, OneThatIsDecidedAboutAgainIsNotCountedAgain) {
  make(kArrivals);
  RequestView view = request(512, 2000);
  EXPECT_TRUE(policy_->decide(view, pool_).admitted());
  view.held = Duration::from_seconds(0.1);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(policy_->decide(view, pool_).admitted());
}

TEST_F(WcrtTest, ALimitForTokenGapsBoundsTheBatch) {
  make({});
  RequestView view = request(512, 60'000);
  view.itl_target = Duration::from_millis(200);
  pool_.set(Signal::kRunning, 771);
  EXPECT_TRUE(decide(view).admitted());
  pool_.set(Signal::kRunning, 772);
  EXPECT_EQ(decide(view).reason, Reason::kItlInfeasible);
  pool_.set_unknown(Signal::kRunning);
  EXPECT_TRUE(decide(view).admitted());
  view.itl_target = Duration::from_millis(6.9);  // below gamma: never
  EXPECT_EQ(decide(view).reason, Reason::kItlInfeasible);
  view.itl_target = Duration();
  pool_.set(Signal::kRunning, 5000);
  EXPECT_TRUE(decide(view).admitted());
}

TEST_F(WcrtTest, WithoutJudgingGapsItReadsNoSignal) {
  make({{"judges_gaps", "false"}});
  EXPECT_TRUE(policy_->needs().signals.is_empty());
  RequestView view = request(512, 60'000);
  view.itl_target = Duration::from_millis(1);
  EXPECT_TRUE(decide(view).admitted());
}

TEST_F(WcrtTest, DefersWhatTimeMayHealAndRejectsTheRest) {
  make({{"counts", "arrivals"}, {"then", "defer"}});
  EXPECT_EQ(after_steady(12, 2000).verdict, Verdict::kDefer);
  // 47.96 ms alone: no waiting helps.
  make({{"then", "defer"}});
  EXPECT_EQ(decide(request(512, 47)).verdict, Verdict::kReject);
  EXPECT_TRUE(decide(request(512, 49)).admitted());
}

TEST_F(WcrtTest, AdmitsWhileTheServiceEstimateIsUnknown) {
  make({});
  EXPECT_TRUE(policy_->needs().service_model);
  pool_.service_model().provenance = ServiceProvenance::kUnknown;
  EXPECT_TRUE(after_steady(100, 1).admitted());
}

TEST_F(WcrtTest, NeedsNoEstimateWhereAllOfItIsGiven) {
  make({{"alpha_ns_per_token", "80000"}, {"gamma_ns", "7e6"}, {"beta_ns_per_sequence", "250000"}});
  EXPECT_FALSE(policy_->needs().service_model);
  pool_.service_model() = {.chunk_tokens = 512};
  EXPECT_FALSE(after_steady(100, 100).admitted());
}

TEST(WcrtParameters, ABucketIsNoLongerThanTheWindow) {
  const auto factory = read_policy_for_test("wcrt", {{"window_s", "4"}, {"bucket_s", "5"}});
  ASSERT_FALSE(factory.has_value());
  EXPECT_NE(factory.error().to_string().find("bucket_s"), std::string::npos);
}

}  // namespace
}  // namespace inferscale

// The balance by hand, and groups that form and go.

#include "admission/policies/fluid_wait.h"

#include <gtest/gtest.h>

#include <vector>

#include "admission/policies/fluid_balance.h"
#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

TEST(FluidBalance, IsThePapersForOneType) {
  // n = lambda d0 / (1 - lambda d1 (l' + 1) (l + l' / 2)) with lambda = 10/s, d0 = 50 ms,
  // d1 = 2 us a token, l = 100, l' = 40: memory 41 x 120 = 4920 tokens, 9.84 ms a request;
  // 1 - 0.0984 = 0.9016; tau = 50 / 0.9016 = 55.457 ms, n = 0.55457.
  EXPECT_DOUBLE_EQ(stage_memory_tokens(100, 40), 4920);
  const std::vector<FluidClass> one = {
      {.rate_per_s = 10, .work_s = 2e-6 * 4920, .memory_tokens = 4920}};
  EXPECT_NEAR(*balanced_iteration_s(one, 0.05), 0.05 / 0.9016, 1e-12);
  EXPECT_EQ(fluid_thresholds(one, 0.05, 0, 64), (std::vector<std::int64_t>{1}));
  // At 90/s: 1 - 0.8856 = 0.1144; tau = 437.06 ms, n = 39.34: 40, with which an iteration takes
  // 50 + 40 x 9.84 = 443.6 ms, in which 39.92 come.
  const std::vector<FluidClass> many = {
      {.rate_per_s = 90, .work_s = 2e-6 * 4920, .memory_tokens = 4920}};
  EXPECT_NEAR(*balanced_iteration_s(many, 0.05), 0.437063, 1e-6);
  EXPECT_EQ(fluid_thresholds(many, 0.05, 0, 64), (std::vector<std::int64_t>{40}));
}

TEST(FluidBalance, IsThereIfAndOnlyIfTheWorkFitsIntoTheTime) {
  const std::vector<FluidClass> full = {{.rate_per_s = 5, .work_s = 0.1},
                                        {.rate_per_s = 5, .work_s = 0.1}};
  EXPECT_FALSE(balanced_iteration_s(full, 0.01).has_value());
  EXPECT_EQ(fluid_thresholds(full, 0.01, 0, 64), (std::vector<std::int64_t>{64, 64}));
}

TEST(FluidBalance, EveryClassKeepsUpWithItsRate) {
  const std::vector<FluidClass> classes = {{.rate_per_s = 100, .work_s = 0.002},
                                           {.rate_per_s = 30, .work_s = 0.02},
                                           {.rate_per_s = 3, .work_s = 0.03},
                                           {}};
  const std::vector<std::int64_t> n = fluid_thresholds(classes, 0.1, 0, 10'000);
  double iteration = 0.1;
  for (std::size_t j = 0; j < 3; ++j) iteration += static_cast<double>(n[j]) * classes[j].work_s;
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_GE(static_cast<double>(n[j]), classes[j].rate_per_s * iteration) << j;
    // And no threshold is larger than rounding asks for.
    EXPECT_LE(static_cast<double>(n[j] - 1), classes[j].rate_per_s * iteration) << j;
  }
  EXPECT_EQ(n[3], 1);
}

TEST(FluidBalance, TheMemoryBoundsTheGroups) {
  const std::vector<FluidClass> classes = {
      {.rate_per_s = 90, .work_s = 2e-6 * 4920, .memory_tokens = 4920},
      {.rate_per_s = 1, .work_s = 1e-6, .memory_tokens = 10}};
  const std::vector<std::int64_t> n = fluid_thresholds(classes, 0.05, 100'000, 64);
  // 90 x 4920 + 10 tokens a second fill it in 225.8 ms: 20.3 requests.
  EXPECT_EQ(n, (std::vector<std::int64_t>{20, 1}));
}

class FluidWaitTest : public testing::Test {
 protected:
  // Thresholds are reckoned from 10 s of arrivals of `rate` a second.
  void make(WrittenParameters parameters, double rate) {
    parameters.emplace_back("step_ns_per_kv_token", "2000");
    policy_ = make_policy_for_test("fluid_wait", parameters);
    pool_.set_declared(policy_->needs().signals);
    pool_.service_model() = {.step_ns = 50e6, .provenance = ServiceProvenance::kCatalogue};
    pool_.set_replica(0, Signal::kHeld, 0);
    for (int i = 0; i < static_cast<int>(10 * rate); ++i) {
      pool_.set_now((i + 1) / rate);
      policy_->on_admit(request(), pool_.now());
      policy_->decide(last_, pool_);
    }
    policy_->on_tick(pool_);
  }

  RequestView request(TokenCount prompt = 100) {
    last_ = {};
    last_.request = ++number_;
    last_.prompt_tokens = prompt;
    last_.predicted_output_tokens = 40;
    return last_;
  }

  // As the gate does it: those deferred are held, those admitted leave.
  Decision present(const RequestView& view) {
    const Decision decision = policy_->decide(view, pool_);
    if (decision.admitted()) {
      policy_->on_admit(view, pool_.now());
    } else if (view.held == Duration()) {
      policy_->on_held(view, pool_.now());
    }
    return decision;
  }

  std::unique_ptr<AdmissionPolicy> policy_;
  FakePool pool_;
  RequestView last_;
  std::uint64_t number_ = 0;
};

TEST_F(FluidWaitTest, GathersAGroupAndLetsItInTogether) {
  make({}, 90);
  std::vector<RequestView> held;
  Decision last;
  for (int i = 0; i < 60 && !last.wakes_held; ++i) {
    held.push_back(request());
    last = present(held.back());
    if (last.wakes_held) break;
    EXPECT_EQ(last.verdict, Verdict::kDefer);
    EXPECT_EQ(last.reason, Reason::kBatchForming);
    ASSERT_TRUE(last.retry_after.has_value());
    EXPECT_EQ(last.retry_after->millis(), 500);
  }
  // About the 40 of the balance: the rate is learned.
  EXPECT_GE(held.size(), 36U);
  EXPECT_LE(held.size(), 44U);
  held.pop_back();
  for (RequestView& view : held) {
    view.held = Duration::from_millis(1);
    EXPECT_TRUE(present(view).admitted());
  }
  // The next group begins from nothing.
  EXPECT_FALSE(present(request()).admitted());
}

TEST_F(FluidWaitTest, WhoComesWhileAGroupGoesIsNotOfIt) {
  for (const bool some_leave : {false, true}) {
    make({}, 90);
    std::vector<RequestView> held;
    while (true) {
      const RequestView view = request();
      if (present(view).admitted()) break;
      held.push_back(view);
      held.back().held = Duration::from_millis(1);
    }
    ASSERT_GT(held.size(), 30U);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_TRUE(present(held[i]).admitted());
    RequestView later = request();
    EXPECT_FALSE(present(later).admitted());
    later.held = Duration::from_millis(1);
    for (std::size_t i = 20; i < held.size(); ++i) {
      if (some_leave) {
        policy_->on_left_hold(held[i], pool_.now());
      } else {
        EXPECT_TRUE(present(held[i]).admitted());
      }
    }
    EXPECT_FALSE(present(later).admitted());
  }
}

TEST_F(FluidWaitTest, AGroupGoesAsItIsWhenOneHasWaitedLongEnough) {
  make({{"max_hold_s", "0.2"}}, 90);
  RequestView first = request();
  RequestView second = request();
  EXPECT_FALSE(present(first).admitted());
  EXPECT_FALSE(present(second).admitted());
  pool_.set_now(10.1);
  first.held = second.held = Duration::from_millis(199);
  EXPECT_FALSE(present(first).admitted());
  first.held = second.held = Duration::from_millis(200);
  const Decision decision = present(first);
  EXPECT_TRUE(decision.admitted());
  EXPECT_TRUE(decision.wakes_held);
  EXPECT_TRUE(present(second).admitted());
}

TEST_F(FluidWaitTest, NobodyIsHeldBeyondWhatItsDeadlineAllows) {
  make({}, 90);
  RequestView urgent = request();
  urgent.ttft_deadline = pool_.now() + Duration::from_millis(150);  // its prompt takes 50 ms
  const Decision decision = present(urgent);
  ASSERT_TRUE(decision.retry_after.has_value());
  EXPECT_EQ(decision.retry_after->millis(), 100);
  urgent = request();
  urgent.ttft_deadline = pool_.now() + Duration::from_millis(50);
  EXPECT_TRUE(present(urgent).admitted());
}

TEST_F(FluidWaitTest, ClassesAreGatheredApart) {
  make({}, 90);
  RequestView short_one = request();
  EXPECT_FALSE(present(short_one).admitted());
  EXPECT_TRUE(present(request(1000)).admitted());  // of a class that does not come
  short_one.held = Duration::from_millis(1);
  EXPECT_FALSE(present(short_one).admitted());
}

TEST_F(FluidWaitTest, AtALowRateEverybodyPasses) {
  make({}, 10);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(present(request()).admitted());
}

TEST_F(FluidWaitTest, WhereNobodyIsHeldNothingIsGathered) {
  make({}, 90);
  EXPECT_FALSE(policy_->decide(request(), pool_).admitted());
  EXPECT_TRUE(policy_->decide(request(), pool_).admitted());
}

TEST_F(FluidWaitTest, WhoLeavesTheHoldIsNotCounted) {
  make({{"max_hold_s", "0.2"}}, 90);
  std::vector<RequestView> held;
  for (int i = 0; i < 20; ++i) {
    held.push_back(request());
    EXPECT_FALSE(present(held.back()).admitted());
  }
  for (const RequestView& view : held) policy_->on_left_hold(view, pool_.now());
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(present(request()).admitted()) << i;
}

TEST(FluidWaitParameters, EdgesRise) {
  ConfigNode map = parameters_for_test({});
  ConfigNode list = ConfigNode::list({.source = "test"});
  for (const char* edge : {"512", "512"}) {
    list.append(ConfigNode::scalar(edge, false, {.source = "test"}));
  }
  map.put("prompt_edges", list, {.source = "test"});
  ConfigSession session;
  ConfigReader reader(map, session);
  read_fluid_wait(reader);
  ASSERT_TRUE(session.failed());
  EXPECT_NE(session.error().to_string().find("prompt_edges"), std::string::npos);
}

}  // namespace
}  // namespace inferscale

// The window's law step by step, and sessions that come and go.

#include "admission/policies/session_window.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

class SessionWindowTest : public testing::Test {
 protected:
  void make(const WrittenParameters& parameters) {
    policy_ = make_policy_for_test("session_window", parameters);
    pool_.set_declared(policy_->needs().signals);
  }

  static RequestView call(CallerKey session, std::uint64_t request = 0, CallerKey root = 0) {
    RequestView view;
    view.request = request;
    view.session = session;
    view.root_session = root;
    return view;
  }

  Decision decide(const RequestView& view) {
    const Decision decision = policy_->decide(view, pool_);
    if (decision.admitted()) policy_->on_admit(view, pool_.now());
    return decision;
  }

  void end(const RequestView& view) {
    policy_->on_outcome(view, {.end = PermitEnd::kFinished, .now = pool_.now()});
  }

  // The window after a control step with these readings.
  double step(double kv, double hits) {
    pool_.set(Signal::kKvUsedFraction, kv);
    pool_.set(Signal::kPrefixHitRate, hits);
    policy_->on_tick(pool_);
    return *policy_->limit();
  }

  std::unique_ptr<AdmissionPolicy> policy_;
  FakePool pool_;
};

TEST_F(SessionWindowTest, OpensByTwoAndClosesByHalf) {
  make({{"initial_sessions", "8"}});
  EXPECT_EQ(*policy_->limit(), 8);
  EXPECT_EQ(step(0.19, 0.9), 10);
  EXPECT_EQ(step(0.1, 0.1), 12);  // the hit rate is looked at only where the cache is full
  EXPECT_EQ(step(0.2, 0.1), 12);  // between the two bounds it stays
  EXPECT_EQ(step(0.5, 0.1), 12);
  EXPECT_EQ(step(0.51, 0.2), 12);  // full, but well used
  EXPECT_EQ(step(0.51, 0.19), 6);
  EXPECT_EQ(step(0.9, 0), 3);
  EXPECT_EQ(step(0.9, 0), 1.5);
  EXPECT_EQ(step(0.9, 0), 1);  // never below one
  EXPECT_EQ(step(0.9, 0), 1);
  EXPECT_EQ(step(0.0, 0), 3);
}

TEST_F(SessionWindowTest, NeverGrowsBeyondTheMost) {
  make({{"initial_sessions", "8"}, {"most_sessions", "9"}});
  EXPECT_EQ(step(0, 0), 9);
}

TEST_F(SessionWindowTest, StaysWhereAReadingIsUnknown) {
  make({});
  pool_.set(Signal::kPrefixHitRate, 0);
  policy_->on_tick(pool_);
  EXPECT_EQ(*policy_->limit(), 8);
  pool_.set(Signal::kKvUsedFraction, 0.9);
  pool_.set_unknown(Signal::kPrefixHitRate);
  policy_->on_tick(pool_);
  EXPECT_EQ(*policy_->limit(), 8);
}

TEST_F(SessionWindowTest, LetsWholeSessionsInOrDefersThem) {
  make({{"initial_sessions", "2"}});
  EXPECT_TRUE(decide(call(1)).admitted());
  EXPECT_TRUE(decide(call(2)).admitted());
  const Decision third = decide(call(3));
  EXPECT_EQ(third.verdict, Verdict::kDefer);
  EXPECT_EQ(third.reason, Reason::kSessionWindow);
  EXPECT_TRUE(third.may_hold);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(decide(call(1)).admitted());
}

TEST_F(SessionWindowTest, WhoIsInStaysInWhenTheWindowCloses) {
  make({{"initial_sessions", "4"}});
  for (CallerKey session = 1; session <= 4; ++session) decide(call(session));
  step(0.9, 0);
  step(0.9, 0);
  for (CallerKey session = 1; session <= 4; ++session) {
    EXPECT_TRUE(decide(call(session)).admitted());
  }
  EXPECT_FALSE(decide(call(5)).admitted());
}

TEST_F(SessionWindowTest, SubAgentsAreInWithTheirRoot) {
  make({{"initial_sessions", "1"}});
  EXPECT_TRUE(decide(call(10, 0, 1)).admitted());
  EXPECT_TRUE(decide(call(11, 1, 1)).admitted());
  EXPECT_TRUE(decide(call(1, 2, 0)).admitted());
  EXPECT_FALSE(decide(call(12, 3, 2)).admitted());
}

TEST_F(SessionWindowTest, AnIdleSessionLosesItsPlaceAndOneWithACallInFlightDoesNot) {
  make({{"initial_sessions", "2"}, {"idle_s", "60"}});
  decide(call(1));
  decide(call(2));
  pool_.set_now(1);
  end(call(1));
  pool_.set_now(61);
  EXPECT_FALSE(decide(call(3)).admitted());
  pool_.set_now(61.5);
  EXPECT_TRUE(decide(call(3)).admitted());
  EXPECT_FALSE(decide(call(1)).admitted());
  pool_.set_now(1000);
  end(call(3));
  pool_.set_now(2000);
  EXPECT_TRUE(decide(call(2)).admitted());
  EXPECT_TRUE(decide(call(1)).admitted());
}

TEST_F(SessionWindowTest, WhoWasSeenLastGoesLastWhateverCameFirst) {
  make({{"initial_sessions", "2"}, {"idle_s", "60"}});
  decide(call(1));
  pool_.set_now(1);
  decide(call(2));
  pool_.set_now(2);
  end(call(2));
  pool_.set_now(50);
  end(call(1));
  pool_.set_now(63);
  EXPECT_TRUE(decide(call(3)).admitted());  // in the second one's place
  EXPECT_TRUE(decide(call(1)).admitted());
  EXPECT_FALSE(decide(call(2)).admitted());
}

TEST_F(SessionWindowTest, ARequestWithoutASessionIsInWhileItIsInFlight) {
  make({{"initial_sessions", "1"}});
  EXPECT_TRUE(decide(call(0, 100)).admitted());
  EXPECT_FALSE(decide(call(0, 101)).admitted());
  end(call(0, 100));
  EXPECT_TRUE(decide(call(0, 101)).admitted());
}

TEST_F(SessionWindowTest, AnAdmissionThatNeverTookEffectTakesNoPlace) {
  make({{"initial_sessions", "1"}});
  EXPECT_TRUE(policy_->decide(call(1), pool_).admitted());
  EXPECT_TRUE(decide(call(2)).admitted());
}

TEST(SessionWindowParameters, BoundsAreInOrder) {
  EXPECT_FALSE(read_policy_for_test("session_window", {{"kv_low", "0.6"}}).has_value());
  EXPECT_FALSE(read_policy_for_test("session_window", {{"initial_sessions", "0.5"}}).has_value());
  EXPECT_FALSE(read_policy_for_test("session_window", {{"most_sessions", "4"}}).has_value());
}

}  // namespace
}  // namespace inferscale

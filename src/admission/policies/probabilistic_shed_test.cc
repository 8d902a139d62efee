#include "admission/policies/probabilistic_shed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kAttempts = 100'000;

// How many of kAttempts are shed.
double shed(AdmissionPolicy& policy, const FakePool& pool) {
  double count = 0;
  for (std::uint64_t request = 0; request < kAttempts; ++request) {
    const Decision decision = policy.decide({.request = request}, pool);
    if (decision.verdict == Verdict::kReject && decision.reason == Reason::kShed) ++count;
  }
  return count;
}

// Five standard deviations of a binomial count.
void expect_part(double count, double part) {
  const double expected = part * static_cast<double>(kAttempts);
  EXPECT_NEAR(count, expected, 5 * std::sqrt(expected * (1 - part)));
}

TEST(ProbabilisticShed, ShedsThePartThatIsWritten) {
  const FakePool pool;
  expect_part(shed(*make_policy_for_test("probabilistic_shed"), pool), 0.1);
  expect_part(shed(*make_policy_for_test("probabilistic_shed", {{"probability", "0.73"}}), pool),
              0.73);
  EXPECT_EQ(shed(*make_policy_for_test("probabilistic_shed", {{"probability", "0"}}), pool), 0);
  EXPECT_EQ(shed(*make_policy_for_test("probabilistic_shed", {{"probability", "1"}}), pool),
            static_cast<double>(kAttempts));
}

TEST(ProbabilisticShed, GrowsWithItsSignalBetweenLowAndHigh) {
  const auto policy = make_policy_for_test(
      "probabilistic_shed",
      {{"probability", "0.8"}, {"signal", "queue_depth"}, {"low", "20"}, {"high", "60"}});
  FakePool pool(policy->needs().signals);
  for (const auto& [waiting, part] :
       {std::pair{20.0, 0.0}, {30.0, 0.2}, {50.0, 0.6}, {60.0, 0.8}, {500.0, 0.8}}) {
    pool.set(Signal::kQueueDepth, waiting);
    expect_part(shed(*policy, pool), part);
  }
  pool.set_unknown(Signal::kQueueDepth);
  EXPECT_EQ(shed(*policy, pool), 0);
}

TEST(ProbabilisticShed, AHigherProbabilityShedsTheSameAttemptsAndMore) {
  const FakePool pool;
  const auto some = make_policy_for_test("probabilistic_shed", {{"probability", "0.2"}});
  const auto more = make_policy_for_test("probabilistic_shed", {{"probability", "0.5"}});
  for (std::uint64_t request = 0; request < 10'000; ++request) {
    if (some->decide({.request = request}, pool).admitted()) continue;
    ASSERT_FALSE(more->decide({.request = request}, pool).admitted()) << request;
  }
}

TEST(ProbabilisticShed, TheNextAttemptDrawsAnew) {
  const FakePool pool;
  const auto policy = make_policy_for_test("probabilistic_shed", {{"probability", "0.5"}});
  double both = 0;
  for (std::uint64_t request = 0; request < kAttempts; ++request) {
    const bool first = policy->decide({.request = request, .attempt = 0}, pool).admitted();
    if (!first && !policy->decide({.request = request, .attempt = 1}, pool).admitted()) ++both;
  }
  expect_part(both, 0.25);
}

// Settings that nothing would read, or that lack what they need, are errors.
TEST(ProbabilisticShed, D4ASlopeNeedsItsSignalAndBothEnds) {
  const auto is_read = [](const WrittenParameters& written) {
    return read_policy_for_test("probabilistic_shed", written).has_value();
  };
  EXPECT_FALSE(is_read({{"low", "1"}}));
  EXPECT_FALSE(is_read({{"signal", "queue_depth"}, {"low", "1"}}));
  EXPECT_FALSE(is_read({{"signal", "queue_depth"}, {"low", "2"}, {"high", "2"}}));
  EXPECT_FALSE(is_read({{"signal", "queue_dept"}, {"low", "1"}, {"high", "2"}}));
  EXPECT_TRUE(is_read({{"signal", "queue_depth"}, {"low", "1"}, {"high", "2"}}));
}

}  // namespace
}  // namespace inferscale

#include "admission/policies/equal_volume_shed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kAttempts = 100'000;

// For each request, whether it was admitted; decided about in steps of `stride`.
std::vector<bool> admitted(AdmissionPolicy& policy, std::uint64_t stride) {
  const FakePool pool;
  std::vector<bool> answers(kAttempts);
  for (std::uint64_t i = 0; i < kAttempts; ++i) {
    const std::uint64_t request = i * stride % kAttempts;
    answers[request] = policy.decide({.request = request}, pool).admitted();
  }
  return answers;
}

TEST(EqualVolumeShed, RejectsTheMeasuredPart) {
  const auto policy = make_policy_for_test("equal_volume_shed", {{"rate", "0.111"}});
  double rejected = 0;
  for (const bool answer : admitted(*policy, 1)) rejected += answer ? 0 : 1;
  const double expected = 0.111 * static_cast<double>(kAttempts);
  EXPECT_NEAR(rejected, expected, 5 * std::sqrt(expected * (1 - 0.111)));
}

TEST(EqualVolumeShed, WhoIsRejectedDoesNotHangOnTheOrder) {
  const auto policy = make_policy_for_test("equal_volume_shed", {{"rate", "0.4"}});
  const auto again = make_policy_for_test("equal_volume_shed", {{"rate", "0.4"}});
  EXPECT_EQ(admitted(*policy, 1), admitted(*again, 77'777));
}

TEST(EqualVolumeShed, AnotherSeedRejectsOthers) {
  const auto policy = make_policy_for_test("equal_volume_shed", {{"rate", "0.5"}}, 1);
  const auto other = make_policy_for_test("equal_volume_shed", {{"rate", "0.5"}}, 2);
  const std::vector<bool> answers = admitted(*policy, 1);
  const std::vector<bool> others = admitted(*other, 1);
  double same = 0;
  for (std::size_t i = 0; i < kAttempts; ++i) same += answers[i] == others[i] ? 1 : 0;
  const double half = 0.5 * static_cast<double>(kAttempts);
  EXPECT_NEAR(same, half, 5 * std::sqrt(half / 2));
}

TEST(EqualVolumeShed, TheRateCanBeGivenByWhoMeasuredIt) {
  const auto written = make_policy_for_test("equal_volume_shed", {{"rate", "0.25"}});
  const auto given = equal_volume_shed(0.25)({.seed = 42});
  EXPECT_EQ(admitted(*written, 1), admitted(*given, 1));
}

TEST(EqualVolumeShed, ARateThatIsNotMeasuredYetIsAnError) {
  const auto read = read_policy_for_test("equal_volume_shed", {{"of", "queue_depth"}});
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find("rate: expected the part of attempts that queue_depth"),
            std::string::npos)
      << read.error().message;
  EXPECT_FALSE(read_policy_for_test("equal_volume_shed", {}).has_value());
  EXPECT_FALSE(read_policy_for_test("equal_volume_shed", {{"rate", "1.5"}}).has_value());
  EXPECT_FALSE(
      read_policy_for_test("equal_volume_shed", {{"rate", "0.5"}, {"of", "queue"}}).has_value());
  EXPECT_TRUE(read_policy_for_test("equal_volume_shed", {{"rate", "0.5"}, {"of", "queue_depth"}})
                  .has_value());
}

}  // namespace
}  // namespace inferscale

// The verdict on a request, against a direct count over its own gaps.

#include "core/slo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace inferscale {
namespace {

Outcome outcome_of(const std::vector<std::int64_t>& gaps_ms, std::int64_t limit_ms) {
  Outcome outcome;
  outcome.status = OutcomeStatus::kFinished;
  outcome.start = Instant::nanos(0);
  outcome.first_token = Instant::nanos(0);
  outcome.output_tokens = static_cast<std::uint32_t>(gaps_ms.size() + 1);
  Instant last = outcome.first_token;
  for (std::int64_t gap : gaps_ms) {
    const Duration d = Duration::nanos(gap * 1'000'000);
    last = last + d;
    outcome.itl_max = std::max(outcome.itl_max, d);
    if (gap > limit_ms) ++outcome.gaps_over_limit;
  }
  outcome.finish = last;
  return outcome;
}

TEST(Slo, P95RuleAgreesWithTheNearestRankOfTheGaps) {
  for (int n = 1; n <= 130; ++n) {
    for (int over = 0; over <= std::min(n, 9); ++over) {
      std::vector<std::int64_t> gaps(static_cast<size_t>(n), 10);
      for (int i = 0; i < over; ++i) gaps[static_cast<size_t>(i)] = 90;
      const Slo slo{.itl = Duration::from_millis(50)};
      std::vector<std::int64_t> sorted = gaps;
      std::sort(sorted.begin(), sorted.end());
      const int rank = (95 * n + 99) / 100;  // ceil(0.95 n)
      const bool met = sorted[static_cast<size_t>(rank - 1)] <= 50;
      EXPECT_EQ(slo_met(slo, outcome_of(gaps, 50)), met) << n << " gaps, " << over << " over";
    }
  }
}

TEST(Slo, MaxRuleLooksAtTheLongestGap) {
  std::vector<std::int64_t> gaps(100, 10);
  gaps[3] = 51;
  Slo slo{.itl = Duration::from_millis(50)};
  EXPECT_TRUE(slo_met(slo, outcome_of(gaps, 50)));
  slo.itl_rule = ItlRule::kMax;
  EXPECT_FALSE(slo_met(slo, outcome_of(gaps, 50)));
}

TEST(Slo, SingleTokenHasNoGapToJudge) {
  const Slo slo{.itl = Duration::from_millis(1)};
  EXPECT_TRUE(slo_met(slo, outcome_of({}, 1)));
}

TEST(Slo, RefusedAndUnfinishedNeverMeetIt) {
  Outcome outcome = outcome_of({10}, 50);
  outcome.status = OutcomeStatus::kUnfinished;
  EXPECT_FALSE(slo_met(Slo{}, outcome));
  outcome.status = OutcomeStatus::kRefused;
  EXPECT_FALSE(slo_met(Slo{}, outcome));
}

TEST(Slo, TargetsAreInclusive) {
  Outcome outcome = outcome_of({10}, 50);
  outcome.arrival = Instant::nanos(-500'000'000);
  EXPECT_TRUE(slo_met(Slo{.ttft = Duration::from_millis(500)}, outcome));
  EXPECT_FALSE(slo_met(Slo{.ttft = Duration::from_millis(499)}, outcome));
  EXPECT_TRUE(slo_met(Slo{.e2e = Duration::from_millis(510)}, outcome));
  EXPECT_FALSE(slo_met(Slo{.e2e = Duration::from_millis(509)}, outcome));
}

}  // namespace
}  // namespace inferscale

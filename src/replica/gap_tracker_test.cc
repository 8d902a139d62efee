// Shared gaps against a list of every gap of every sequence.

#include "replica/gap_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

constexpr Duration kLimit = Duration::nanos(500);

struct Watcher {
  GapRecord record;
  std::vector<Duration> gaps;
};

// What a sequence of the class counts when it lists all its gaps.
std::uint32_t over(const std::vector<Duration>& gaps, std::optional<Duration> limit) {
  if (!limit) return 0;
  return static_cast<std::uint32_t>(
      std::count_if(gaps.begin(), gaps.end(), [&](Duration gap) { return gap > *limit; }));
}

// Sequences of random classes come and go; `limits` has the limit of each class.
void watch(GapTracker& tracker, const std::vector<std::optional<Duration>>& limits) {
  RandomStream random(11, "gaps");
  std::vector<Watcher> inside;
  for (int event = 0; event < 20'000; ++event) {
    const std::uint64_t kind = random.below(10);
    if (kind < 3) {
      Watcher watcher;
      watcher.record.slo_class = static_cast<std::uint8_t>(random.below(limits.size()));
      const Duration own = Duration::nanos(static_cast<std::int64_t>(random.below(1000)));
      tracker.judge(own, watcher.record);
      watcher.gaps.push_back(own);
      tracker.join(watcher.record);
      inside.push_back(watcher);
    } else if (kind < 6 && !inside.empty()) {
      const size_t index = random.below(inside.size());
      Watcher leaving = inside[index];
      inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(index));
      tracker.leave(leaving.record);
      ASSERT_EQ(leaving.record.longest,
                *std::max_element(leaving.gaps.begin(), leaving.gaps.end()));
      ASSERT_EQ(leaving.record.over, over(leaving.gaps, limits[leaving.record.slo_class]));
    } else {
      const Duration gap = Duration::nanos(static_cast<std::int64_t>(random.below(1000)));
      tracker.add(gap, static_cast<std::int64_t>(inside.size()));
      for (Watcher& watcher : inside) watcher.gaps.push_back(gap);
    }
    if (tracker.wants_forgetting(inside.size()) && !inside.empty()) {
      std::int64_t oldest = inside.front().record.time_mark;
      for (const Watcher& watcher : inside) oldest = std::min(oldest, watcher.record.time_mark);
      tracker.forget_before(oldest);
    }
  }
}

TEST(GapTracker, EachSequenceGetsItsOwnCountAndMaximum) {
  DurationHistogram population;
  GapTracker tracker(kLimit, population);
  watch(tracker, {kLimit});
}

TEST(GapTracker, EachClassHasItsOwnLimit) {
  // Two classes share a limit, and two have none.
  const std::vector<std::optional<Duration>> limits = {Duration::nanos(900), kLimit,
                                                       std::nullopt,         Duration::nanos(900),
                                                       Duration::nanos(20),  std::nullopt};
  DurationHistogram population;
  GapTracker tracker(Duration::nanos(1), limits, population);
  watch(tracker, limits);
}

TEST(GapTracker, FallingGapsAreForgottenWhenNoOneCanAskForThem) {
  DurationHistogram population;
  GapTracker tracker(std::nullopt, population);
  GapRecord record;
  for (std::int64_t i = 0; i < 1000; ++i) tracker.add(Duration::nanos(5000 - i), 1);
  EXPECT_TRUE(tracker.wants_forgetting(1));
  tracker.join(record);
  tracker.forget_before(record.time_mark);
  EXPECT_FALSE(tracker.wants_forgetting(1));
  tracker.add(Duration::nanos(7), 1);
  tracker.leave(record);
  EXPECT_EQ(record.longest, Duration::nanos(7));
}

}  // namespace
}  // namespace inferscale

#include "admission/policies/recent_callers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

TEST(RecentCallers, TheOneSeenLongestAgoLosesItsPlace) {
  RecentCallers callers(2);
  const std::uint32_t of_seven = callers.see(7).place;
  const std::uint32_t of_eight = callers.see(8).place;
  EXPECT_FALSE(callers.see(7).is_new);
  const RecentCallers::Seat of_nine = callers.see(9);
  EXPECT_TRUE(of_nine.is_new);
  EXPECT_EQ(of_nine.place, of_eight);
  EXPECT_EQ(callers.see(7).place, of_seven);
  EXPECT_FALSE(callers.see(7).is_new);
  EXPECT_TRUE(callers.see(8).is_new);
}

TEST(RecentCallers, AgreesWithAListInOrderOfUse) {
  constexpr std::size_t kMost = 20;
  RandomStream random(5, "callers");
  RecentCallers callers(kMost);
  std::vector<CallerKey> by_use;  // the oldest first
  std::map<CallerKey, std::uint32_t> places;
  for (int step = 0; step < 50'000; ++step) {
    const CallerKey caller = random.below(35);
    const auto found = std::find(by_use.begin(), by_use.end(), caller);
    const bool is_new = found == by_use.end();
    std::uint32_t place = static_cast<std::uint32_t>(by_use.size());
    if (!is_new) {
      place = places[caller];
      by_use.erase(found);
    } else if (by_use.size() == kMost) {
      place = places[by_use.front()];
      by_use.erase(by_use.begin());
    }
    by_use.push_back(caller);
    places[caller] = place;
    const RecentCallers::Seat seat = callers.see(caller);
    ASSERT_EQ(seat.is_new, is_new) << "step " << step;
    ASSERT_EQ(seat.place, place) << "step " << step;
  }
}

TEST(RecentCallers, AMillionCallersTakeNoMorePlacesThanThereAre) {
  RecentCallers callers(1000);
  for (CallerKey caller = 0; caller < 1'000'000; ++caller) {
    ASSERT_LT(callers.see(caller * 0x9e3779b97f4a7c15).place, 1000U);
  }
  EXPECT_EQ(callers.size(), 1000U);
}

}  // namespace
}  // namespace inferscale

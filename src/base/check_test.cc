// A failed check says where, what, and the values that it was given; as std::ostream prints them.

#include "base/check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace inferscale {
namespace {

TEST(Check, HoldsInSilence) {
  int looked_at = 0;
  CHECK(true) << ++looked_at;
  EXPECT_EQ(looked_at, 0);
}

TEST(CheckDeathTest, SaysWhereAndWhat) {
  EXPECT_DEATH(CHECK(1 > 2) << "so", "check_test.cc:[0-9]+: check failed: 1 > 2: so");
}

TEST(CheckDeathTest, PrintsNumbersAndText) {
  const std::string text = "text";
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_DEATH(CHECK(false) << text << ' ' << -1 << ' ' << lowest << ' ' << highest,
               "text -1 -9223372036854775808 18446744073709551615");
  EXPECT_DEATH(CHECK(false) << 0.5 << ' ' << 1234567.0 << ' ' << 1e-7, "0.5 1.23457e\\+06 1e-07");
}

}  // namespace
}  // namespace inferscale

// Cells: exact decimals, UTC times against dates whose seconds since 1970 are well known, names.

#include "workload/readers/cell_values.h"

#include <gtest/gtest.h>

#include <string>

namespace inferscale {
namespace {

TEST(ScaledDecimal, IsExactWhereADoubleWouldNotBe) {
  EXPECT_EQ(scaled_decimal("0", 9), 0);
  EXPECT_EQ(scaled_decimal("1.25", 9), 1'250'000'000);
  EXPECT_EQ(scaled_decimal(".5", 9), 500'000'000);
  EXPECT_EQ(scaled_decimal("7.", 9), 7'000'000'000);
  EXPECT_EQ(scaled_decimal("+3", 6), 3'000'000);
  EXPECT_EQ(scaled_decimal("-0.5", 9), -500'000'000);
  // 2^53 nanoseconds are 104 days; these two differ by one nanosecond after 50 years.
  EXPECT_EQ(scaled_decimal("1700158623.979960001", 9), 1'700'158'623'979'960'001);
  EXPECT_EQ(scaled_decimal("1700158623.979960002", 9), 1'700'158'623'979'960'002);
}

TEST(ScaledDecimal, RoundsHalfUpOnlyWhatDoesNotFit) {
  EXPECT_EQ(scaled_decimal("0.0000000014", 9), 1);
  EXPECT_EQ(scaled_decimal("0.0000000015", 9), 2);
  EXPECT_EQ(scaled_decimal("0.00000000149999", 9), 1);
  EXPECT_EQ(scaled_decimal("0.9999999999", 9), 1'000'000'000);
}

TEST(ScaledDecimal, TakesExponents) {
  EXPECT_EQ(scaled_decimal("1.5e3", 9), 1'500'000'000'000);
  EXPECT_EQ(scaled_decimal("2E-3", 9), 2'000'000);
}

TEST(ScaledDecimal, RefusesWhatIsNoNumberOrDoesNotFit) {
  for (const char* text : {"", ".", "-", "+", "nan", "inf", "1,5", "0x1", "1 ", " 1", "1.2.3",
                           "--1", "1e", "1e308", "-1e308", "9300000000", "99999999999999999999"}) {
    EXPECT_EQ(scaled_decimal(text, 9), std::nullopt) << text;
  }
}

TEST(UtcNanoseconds, AgreesWithWellKnownInstants) {
  EXPECT_EQ(utc_nanoseconds("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(utc_nanoseconds("2001-09-09T01:46:40"), 1'000'000'000'000'000'000);
  EXPECT_EQ(utc_nanoseconds("2009-02-13 23:31:30Z"), 1'234'567'890'000'000'000);
  // A leap day, and seven, six and nine digits of fraction.
  EXPECT_EQ(utc_nanoseconds("2024-02-29 12:00:00.0000001"), 1'709'208'000'000'000'100);
  EXPECT_EQ(utc_nanoseconds("2024-05-10 00:00:00.009930+00:00"), 1'715'299'200'009'930'000);
  EXPECT_EQ(utc_nanoseconds("2024-05-10 00:00:00+00:00"), 1'715'299'200'000'000'000);
  EXPECT_EQ(utc_nanoseconds("1970-01-01 00:00:00.123456789"), 123'456'789);
}

TEST(UtcNanoseconds, RefusesTimesThatDoNotExistOrAreNotUtc) {
  for (const char* text :
       {"", "2024-05-10", "2023-02-29 00:00:00", "2024-13-01 00:00:00", "2024-00-10 00:00:00",
        "2024-05-10 24:00:00", "2024-05-10 00:60:00", "2024-05-10 00:00:60", "2024-05-10_00:00:00",
        "2024/05/10 00:00:00", "2024-05-10 00:00:00.", "2024-05-10 00:00:00.1234567890",
        "2024-05-10 00:00:00+02:00", "2024-05-10 00:00:00 ", "1969-12-31 23:59:59",
        "9999-01-01 00:00:00", "24-05-10 00:00:00", "2024-5-10 00:00:00"}) {
    EXPECT_EQ(utc_nanoseconds(text), std::nullopt) << text;
  }
}

TEST(TokenCount, IsAWholeNumberInItsRange) {
  EXPECT_EQ(token_count("1", 1), 1U);
  EXPECT_EQ(token_count("512.0", 1), 512U);
  EXPECT_EQ(token_count("10000000", 1), 10'000'000U);
  EXPECT_EQ(token_count("0", 0), 0U);
  for (const char* text : {"0", "-5", "", "1.5", "10000001", "4294967297", "1e308", "nan", "x"}) {
    EXPECT_EQ(token_count(text, 1), std::nullopt) << text;
  }
}

TEST(Names, AreShortUtf8WithoutControlCharacters) {
  EXPECT_TRUE(is_name(""));
  EXPECT_TRUE(is_name("Größe 7"));
  EXPECT_FALSE(is_name("a\tb"));
  EXPECT_FALSE(is_name("\xff"));
  EXPECT_FALSE(is_name("\x7f"));
  EXPECT_TRUE(is_name(std::string(256, 'x')));
  EXPECT_FALSE(is_name(std::string(257, 'x')));
}

}  // namespace
}  // namespace inferscale

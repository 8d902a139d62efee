// Splitting lines into cells.

#include "workload/readers/csv_rows.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace inferscale {
namespace {

using Cells = std::vector<std::string>;

std::optional<Cells> split(std::string line) {
  std::vector<std::string_view> views;
  if (!split_csv_line(line, views)) return std::nullopt;
  return Cells(views.begin(), views.end());
}

TEST(SplitCsvLine, SeparatesAtCommasAndTrims) {
  EXPECT_EQ(split("a,b,c"), (Cells{"a", "b", "c"}));
  EXPECT_EQ(split(" a ,\tb c\t,"), (Cells{"a", "b c", ""}));
  EXPECT_EQ(split(""), (Cells{""}));
  EXPECT_EQ(split(",,"), (Cells{"", "", ""}));
}

TEST(SplitCsvLine, KeepsWhatStandsInQuotationMarks) {
  EXPECT_EQ(split(R"("a,b",c)"), (Cells{"a,b", "c"}));
  EXPECT_EQ(split(R"(x, " a ""b"" " ,"")"), (Cells{"x", R"( a "b" )", ""}));
  EXPECT_EQ(split(R"("""")"), (Cells{"\""}));
  EXPECT_EQ(split(R"(a"b,c)"), (Cells{"a\"b", "c"}));
}

TEST(SplitCsvLine, RefusesQuotationMarksThatDoNotClose) {
  for (const char* line : {"\"a", "a,\"", "\"a\"b,c", "\"a\"\"", "\"a\" b"}) {
    EXPECT_EQ(split(line), std::nullopt) << line;
  }
}

TEST(QuotedForError, IsShortAndHarmless) {
  EXPECT_EQ(quoted_for_error("abc"), "'abc'");
  EXPECT_EQ(quoted_for_error("a\x1b[31m\xff"), "'a?[31m?'");
  EXPECT_EQ(quoted_for_error(std::string(1000, 'x')).size(), 65U);
}

}  // namespace
}  // namespace inferscale

// The splitter on texts whose parts are known.

#include "tidy/source_text.h"

#include <gtest/gtest.h>

namespace inferscale::tidy {
namespace {

TEST(SourceText, TellsCommentsFromCode) {
  const SourceText parts = split_source("a; // b \"c\n/* d\n// e */ f;\n");
  EXPECT_EQ(parts.code, "a;        \n    \n        f;\n");
  EXPECT_EQ(parts.comments, "   // b \"c\n/* d\n// e */   \n");
}

TEST(SourceText, BlanksWhatQuotationMarksHold) {
  EXPECT_EQ(split_source(R"(f("a // b", '"', "\"c"); g())").code,
            R"(f("      ", ' ', "   "); g())");
  EXPECT_EQ(split_source(R"(f("a") // b)").uncommented, R"(f("a")     )");
  EXPECT_EQ(split_source("x = R\"(a\" // )b\")\"; y").code, "x = R\"           \"; y");
  EXPECT_EQ(split_source("x = R\"k(a)\" b)k\"; y").code, "x = R\"         \"; y");
}

TEST(SourceText, KnowsTheApostropheOfNumbers) {
  EXPECT_EQ(split_source("n = 1'000'000; s = \"x\";").code, "n = 1'000'000; s = \" \";");
}

TEST(SourceText, EndsWithATextThatIsCutOff) {
  for (const char* text : {"\"open", "R\"x(open", "R\"open", "/* open", "'", "\"\\", "// end"}) {
    const SourceText parts = split_source(text);
    EXPECT_EQ(parts.code.size(), std::string_view(text).size());
  }
}

TEST(SourceText, CountsLines) {
  EXPECT_EQ(line_of("a\nb\nc", 0), 1);
  EXPECT_EQ(line_of("a\nb\nc", 4), 3);
  EXPECT_EQ(lines_of("a\n\nb"), (std::vector<std::string_view>{"a", "", "b"}));
}

}  // namespace
}  // namespace inferscale::tidy

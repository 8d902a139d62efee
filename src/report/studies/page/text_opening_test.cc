#include "report/studies/page/text_opening.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

using Opening = std::vector<OpeningPart>;

OpeningPart sentence(const std::string& text) {
  return {.head = {}, .text = text};
}

TEST(TextOpening, IsEachSentenceUpToTheFirstTable) {
  EXPECT_EQ(opening_of("Capacity of chat.yaml (simulated)\n\n"
                       "Carries 3 requests/s: in each of 5 repetitions.\n"
                       "Recommended: 2.4 requests/s.\n\n"
                       "A note of its own.\n\n"
                       "  load   attainment\n  3      99 %\n\nNot this any more.\n"),
            (Opening{sentence("Carries 3 requests/s: in each of 5 repetitions."),
                     sentence("Recommended: 2.4 requests/s."), sentence("A note of its own.")}));
}

TEST(TextOpening, JoinsWrappedLinesUnderTheirHead) {
  EXPECT_EQ(
      opening_of("Paired comparison (simulated)\n"
                 "Verdict    The treatment is better in goodput. For\n"
                 "           TTFT no difference is shown.\n"
                 "Runs       10 of each.\n\n  metric   baseline\n"),
      (Opening{{.head = "Verdict",
                .text = "The treatment is better in goodput. For TTFT no difference is shown."},
               {.head = "Runs", .text = "10 of each."}}));
  EXPECT_EQ(opening_of("One sentence that\ngoes on here.\nAnother.\n"),
            (Opening{sentence("One sentence that goes on here."), sentence("Another.")}));
}

TEST(TextOpening, TellsCommandsFromSentences) {
  EXPECT_EQ(opening_of("Most goodput      big: 6 requests/s.\n"
                       "                  --set deployment.replicas=2\n"
                       "Least TTFT p95    the same candidate\n"),
            (Opening{{.head = "Most goodput", .text = "big: 6 requests/s."},
                     {.head = {}, .text = "--set deployment.replicas=2", .command = true},
                     {.head = "Least TTFT p95", .text = "the same candidate"}}));
}

TEST(TextOpening, EndsAtTheTitleOfATable) {
  EXPECT_EQ(opening_of("7 cases.\n\nErrors by load\n\n  load   n\n"),
            Opening{sentence("7 cases.")});
  EXPECT_EQ(opening_of("Carries none.\n\nLoads and what they missed.\n\n  load   carried\n"),
            (Opening{sentence("Carries none."), sentence("Loads and what they missed.")}));
  EXPECT_EQ(opening_of("Carries none.\n\nLoads and what they missed.\n  load   carried\n  3  no\n"),
            Opening{sentence("Carries none.")});
  EXPECT_EQ(opening_of(""), Opening{});
  EXPECT_EQ(opening_of("Only a title"), Opening{});
  EXPECT_EQ(opening_of("  a table at once\n"), Opening{});
}

}  // namespace
}  // namespace inferscale

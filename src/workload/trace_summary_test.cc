// Summaries of small traces whose figures can be worked out by hand.

#include "workload/trace_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace inferscale {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Trace trace_at(const std::vector<std::int64_t>& arrivals) {
  Trace trace;
  trace.arrival_ns = arrivals;
  for (std::uint32_t i = 1; i <= arrivals.size(); ++i) {
    trace.prompt_tokens.push_back(10 * i);
    trace.output_tokens.push_back(7);
  }
  return trace;
}

TEST(TraceSummary, WorksOutTimesByHand) {
  // Gaps of 1, 3, 0 and 4 s: mean 2, deviation sqrt((1 + 1 + 4 + 4) / 4).
  const TraceSummary summary =
      summarize_trace(trace_at({kSecond, 2 * kSecond, 5 * kSecond, 5 * kSecond, 9 * kSecond}));
  EXPECT_EQ(summary.rows, 5U);
  EXPECT_DOUBLE_EQ(summary.first_arrival_s, 1);
  EXPECT_DOUBLE_EQ(summary.span_s, 8);
  EXPECT_DOUBLE_EQ(*summary.mean_rate_rps, 0.5);
  EXPECT_DOUBLE_EQ(*summary.gap_cv, std::sqrt(2.5) / 2);
  EXPECT_EQ(summary.distinct_timestamps, 4U);
  EXPECT_EQ(summary.tenants, std::nullopt);
  EXPECT_EQ(summary.prefix, std::nullopt);
}

TEST(TraceSummary, TakesNearestRanks) {
  std::vector<std::int64_t> arrivals;
  for (int i = 0; i < 99; ++i) arrivals.push_back(i);
  const TraceSummary summary = summarize_trace(trace_at(arrivals));
  // Of 99 values the ranks are ceil(9.9), ceil(49.5), ceil(89.1) and ceil(98.01).
  EXPECT_EQ(summary.prompt_tokens.p10, 100U);
  EXPECT_EQ(summary.prompt_tokens.p50, 500U);
  EXPECT_EQ(summary.prompt_tokens.p90, 900U);
  EXPECT_EQ(summary.prompt_tokens.p99, 990U);
  EXPECT_EQ(summary.prompt_tokens.max, 990U);
  EXPECT_EQ(summary.prompt_tokens.total, 49'500U);
  EXPECT_DOUBLE_EQ(summary.prompt_tokens.mean, 500);
  EXPECT_EQ(summary.output_tokens.total, 693U);
}

TEST(TraceSummary, OfASingleRowHasNoRate) {
  const TraceSummary summary = summarize_trace(trace_at({0}));
  EXPECT_EQ(summary.mean_rate_rps, std::nullopt);
  EXPECT_EQ(summary.gap_cv, std::nullopt);
  EXPECT_EQ(summary.distinct_timestamps, 1U);
  EXPECT_EQ(summary.prompt_tokens.p10, 10U);
  EXPECT_TRUE(summary.warnings.empty());
}

TEST(TraceSummary, CountsNamesThatRowsHave) {
  Trace trace = trace_at({0, 1, 2, 3});
  trace.tenant = {1, CarriedColumns::kNoName, 1, 4};
  const TraceSummary summary = summarize_trace(trace);
  ASSERT_TRUE(summary.tenants);
  EXPECT_EQ(summary.tenants->names, 2U);
  EXPECT_EQ(summary.tenants->rows_without, 1U);
  EXPECT_EQ(summary.sessions, std::nullopt);
}

TEST(TraceSummary, HitsEndAtTheFirstBlockThatIsNew) {
  Trace trace = trace_at({0, 1, 2});
  // Row 2 shares one block; in row 3 the known block 3 comes after a new one and is no hit. The
  // first piece has two blocks, the second of which is not full.
  trace.content.block_tokens = 512;
  for (const std::uint64_t key : {1U, 2U, 3U, 1U, 9U, 1U, 2U, 8U, 3U}) {
    trace.content.pieces.push_back({key, key == 1 ? 600U : 512U});
  }
  trace.content.offsets = {0, 3, 5, 9};
  const TraceSummary summary = summarize_trace(trace);
  ASSERT_TRUE(summary.prefix);
  EXPECT_EQ(summary.prefix->blocks, 12U);
  EXPECT_EQ(summary.prefix->blocks_hit, 5U);
  EXPECT_DOUBLE_EQ(summary.prefix->hit_rate, 5.0 / 12);
}

TEST(TraceSummary, WarnsOfACoarseClock) {
  std::vector<std::int64_t> arrivals;
  for (int i = 0; i < 100; ++i) arrivals.push_back(i / 5 * 3 * kSecond);
  const TraceSummary summary = summarize_trace(trace_at(arrivals));
  EXPECT_EQ(summary.distinct_timestamps, 20U);
  ASSERT_EQ(summary.warnings.size(), 1U);
  EXPECT_EQ(summary.warnings.front(),
            "80 of 100 arrivals have the timestamp of the row above them; timestamps mostly step "
            "by 3000 ms. Where that was the clock's tick, the bursts are not real: "
            "workload.trace.jitter_ms: 3000 spreads them (a derived workload)");
}

TEST(TraceSummary, WarnsWhereTheBeginningsOfSessionsAreNotKnown) {
  Trace trace = trace_at({0, kSecond, 3 * kSecond});
  trace.format = TraceFormat::kClaudeCodeCsv;
  const TraceSummary summary = summarize_trace(trace);
  ASSERT_EQ(summary.warnings.size(), 1U);
  EXPECT_TRUE(summary.warnings[0].starts_with("times count from each session's own beginning"));
}

TEST(TraceSummary, WarnsOfBurstsAndOfALateStart) {
  std::vector<std::int64_t> arrivals;
  for (int i = 0; i < 100; ++i) arrivals.push_back(5000 * kSecond + i + i / 20 * 100 * kSecond);
  const TraceSummary summary = summarize_trace(trace_at(arrivals));
  ASSERT_EQ(summary.warnings.size(), 2U);
  EXPECT_TRUE(summary.warnings[0].starts_with("arrivals are bursty")) << summary.warnings[0];
  EXPECT_TRUE(summary.warnings[1].starts_with("the first arrival is at 5000 s"))
      << summary.warnings[1];
}

}  // namespace
}  // namespace inferscale

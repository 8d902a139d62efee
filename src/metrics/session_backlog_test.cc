#include "metrics/session_backlog.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

// 2,000 sessions, one a second; session i lasts `span_s(i)`.
template <typename Span>
Backlog judged(Span span_s) {
  ProgramRecords records;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const Instant begin = Instant::nanos(i * 1'000'000'000);
    records.sessions.push_back({.begin = begin, .end = begin + Duration::from_seconds(span_s(i))});
  }
  return judge_sessions(records);
}

TEST(SessionBacklog, SessionsThatLastAsLongAsBeforeAreSteady) {
  EXPECT_EQ(judged([](std::int64_t i) { return 2.0 + static_cast<double>(i % 7); }).verdict,
            BacklogVerdict::kStable);
}

TEST(SessionBacklog, SessionsThatLastEverLongerPileUp) {
  // Half of what begins in a second is left at its end.
  const Backlog backlog = judged([](std::int64_t i) { return 20.0 + static_cast<double>(i); });
  EXPECT_EQ(backlog.verdict, BacklogVerdict::kSaturated);
  EXPECT_NEAR(backlog.growth_rps, 0.5, 0.05);
}

TEST(SessionBacklog, AFewSessionsSayNothing) {
  ProgramRecords records;
  records.sessions.resize(60);
  EXPECT_EQ(judge_sessions(records).verdict, BacklogVerdict::kUndecided);
  EXPECT_EQ(judge_sessions(records).doubt, BacklogDoubt::kFewArrivals);
}

TEST(SessionBacklog, OneThatNeverEndsStaysInProgress) {
  ProgramRecords records;
  for (std::int64_t i = 0; i < 1000; ++i) {
    records.sessions.push_back({.begin = Instant::nanos(i * 1'000'000'000)});
  }
  EXPECT_EQ(judge_sessions(records).verdict, BacklogVerdict::kSaturated);
}

}  // namespace
}  // namespace inferscale

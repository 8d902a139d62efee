// Traces in memory: sorting keeps rows together, limits and jitter say what they changed.

#include "workload/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace inferscale {
namespace {

// Row i has i + 1 in every column, so that a row that was torn apart shows.
Trace trace_of(const std::vector<std::int64_t>& arrivals) {
  Trace trace;
  trace.file_name = "test.csv";
  trace.rows_in_file = arrivals.size();
  trace.arrival_ns = arrivals;
  trace.content.block_tokens = 512;
  trace.content.offsets = {0};
  for (std::uint32_t i = 1; i <= arrivals.size(); ++i) {
    trace.prompt_tokens.push_back(i);
    trace.output_tokens.push_back(i);
    trace.tenant.push_back(i);
    trace.session.push_back(i);
    trace.priority.push_back(i);
    trace.deadline_ms.push_back(i);
    for (std::uint32_t piece = 0; piece < i; ++piece) {
      trace.content.pieces.push_back({100 * i + piece, 512});
    }
    trace.content.offsets.push_back(trace.content.pieces.size());
  }
  return trace;
}

void expect_rows(const Trace& trace, const std::vector<std::uint32_t>& rows) {
  EXPECT_EQ(trace.prompt_tokens, rows);
  EXPECT_EQ(trace.output_tokens, rows);
  EXPECT_EQ(trace.tenant, rows);
  EXPECT_EQ(trace.session, rows);
  ASSERT_EQ(trace.content.offsets.size(), rows.size() + 1);
  EXPECT_EQ(trace.content.offsets.back(), trace.content.pieces.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(trace.priority[i], rows[i]);
    EXPECT_EQ(trace.deadline_ms[i], rows[i]);
    ASSERT_EQ(trace.content.of(i).size(), rows[i]);
    EXPECT_EQ(trace.content.of(i).front().key, 100 * rows[i]);
  }
}

TEST(SortByArrival, KeepsRowsTogetherAndEqualInstantsInOrder) {
  Trace trace = trace_of({50, 10, 50, 10, 20});
  EXPECT_EQ(sort_by_arrival(trace), 2U);
  EXPECT_EQ(trace.arrival_ns, (std::vector<std::int64_t>{10, 10, 20, 50, 50}));
  expect_rows(trace, {2, 4, 5, 1, 3});
  EXPECT_EQ(sort_by_arrival(trace), 0U);
}

TEST(KeepFirstRows, CutsEveryColumnAndCountsTheRest) {
  Trace trace = trace_of({10, 20, 30, 40});
  keep_first_rows(trace, 3);
  expect_rows(trace, {1, 2, 3});
  EXPECT_EQ(trace.rows_in_file, trace.rows() + trace.rows_failed + trace.rows_beyond_limit);
  ASSERT_EQ(trace.changes.size(), 1U);
  keep_first_rows(trace, 3);
  EXPECT_EQ(trace.changes.size(), 1U) << "nothing changed the second time";
}

TEST(JitterArrivals, SpreadsATickEvenlyAndSaysSo) {
  const std::int64_t tick = 3'000'000'000;
  std::vector<std::int64_t> arrivals;
  for (int i = 0; i < 10'000; ++i) arrivals.push_back(i / 1000 * tick);
  Trace trace = trace_of({});
  trace.arrival_ns = arrivals;
  trace.prompt_tokens.assign(arrivals.size(), 1);
  trace.output_tokens.assign(arrivals.size(), 1);
  trace.content = TraceContent();
  jitter_arrivals(trace, Duration::nanos(tick), RandomStream(1, "trace_jitter"));
  EXPECT_TRUE(std::is_sorted(trace.arrival_ns.begin(), trace.arrival_ns.end()));
  double distance = 0;
  for (std::size_t i = 0; i < trace.rows(); ++i) {
    const double uniform =
        static_cast<double>(trace.arrival_ns[i]) / (10.0 * static_cast<double>(tick));
    distance = std::max(distance, std::fabs(uniform - static_cast<double>(i) / 10'000));
    EXPECT_EQ(trace.arrival_ns[i] / tick, static_cast<std::int64_t>(i) / 1000) << "left its tick";
  }
  EXPECT_LT(distance * 100, 1.95);
  ASSERT_EQ(trace.changes.size(), 1U);
  EXPECT_EQ(trace.changes.front(), "each arrival is moved later by up to 3000 ms at random");
}

TEST(JitterArrivals, OfZeroChangesNothing) {
  Trace trace = trace_of({10, 10, 20});
  jitter_arrivals(trace, Duration(), RandomStream(1, "trace_jitter"));
  EXPECT_EQ(trace.arrival_ns, (std::vector<std::int64_t>{10, 10, 20}));
  EXPECT_TRUE(trace.changes.empty());
}

TEST(ScaleArrivals, DividesTheTimesOfRequests) {
  Trace trace = trace_of({0, 10, 31, 100});
  trace.session.clear();
  ASSERT_TRUE(scale_arrivals(trace, 4));
  EXPECT_EQ(trace.arrival_ns, (std::vector<std::int64_t>{0, 3, 8, 25})) << "to the nearest";
  EXPECT_EQ(trace.changes, (std::vector<std::string>{"arrival times are divided by 4"}));
  EXPECT_EQ(trace.prompt_tokens, (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

// Session 0 begins at 0 and calls again at 300 and 700, session 1 begins at 400 and calls again at
// 600; a call at 500 has no session. With twice the load they begin at 0, 200 and 250.
TEST(ScaleArrivals, OfSessionsDividesTheBeginningsOnlyAndSortsAgain) {
  Trace trace = trace_of({0, 300, 400, 500, 600, 700});
  trace.session = {0, 0, 1, CarriedColumns::kNoName, 1, 0};
  trace.session_names = {"a", "b"};
  ASSERT_TRUE(scale_arrivals(trace, 2));
  EXPECT_EQ(trace.arrival_ns, (std::vector<std::int64_t>{0, 200, 250, 300, 400, 700}));
  EXPECT_EQ(trace.prompt_tokens, (std::vector<std::uint32_t>{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(trace.session, (std::vector<std::uint32_t>{0, 1, CarriedColumns::kNoName, 0, 1, 0}));
  ASSERT_EQ(trace.changes.size(), 1U);
  EXPECT_EQ(trace.changes.front(),
            "the times at which sessions begin are divided by 2, the gaps inside a session stay");
}

// The file says when the session began that both agents are part of: 100 before the first call.
TEST(ScaleArrivals, TakesTheBeginningsThatTheFileSays) {
  Trace trace = trace_of({200, 300, 1000});
  trace.session = {0, 1, 0};
  trace.session_names = {"a", "a/sub"};
  trace.session_begin_ns = {100, 100, 100};
  ASSERT_TRUE(scale_arrivals(trace, 0.5));
  EXPECT_EQ(trace.arrival_ns, (std::vector<std::int64_t>{300, 400, 1100}));
}

TEST(ScaleArrivals, OfOneChangesNothingAndBeyondAllTimeIsRefused) {
  Trace trace = trace_of({0, 9'000'000'000'000'000});
  trace.session.clear();
  ASSERT_TRUE(scale_arrivals(trace, 1));
  EXPECT_TRUE(trace.changes.empty());
  EXPECT_FALSE(scale_arrivals(trace, 0.0009));
  EXPECT_EQ(trace.arrival_ns.back(), 9'000'000'000'000'000);
  EXPECT_TRUE(trace.changes.empty());
  EXPECT_TRUE(scale_arrivals(trace, 0.0011));
}

TEST(TraceSource, GivesTheRowsAsTheyAre) {
  const Trace trace = trace_of({0, 10, 10});
  TraceSource source(trace);
  EXPECT_EQ(source.size(), 3U);
  Request request;
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(source.next(request));
    EXPECT_EQ(request.id, i);
    EXPECT_EQ(request.arrival.ns(), trace.arrival_ns[i]);
    EXPECT_EQ(request.prompt_tokens, i + 1);
    EXPECT_EQ(request.output_tokens, i + 1);
    EXPECT_EQ(request.max_tokens, i + 1);
    EXPECT_EQ(request.tenant, i + 1);
    EXPECT_EQ(request.session, i + 1);
    EXPECT_EQ(request.priority, static_cast<std::int32_t>(i + 1));
    ASSERT_EQ(request.content_pieces, i + 1);
    EXPECT_EQ(request.content, trace.content.of(i).data()) << "pieces stay where they are";
    EXPECT_FALSE(request.output_is_content);
  }
  EXPECT_FALSE(source.next(request));
  EXPECT_FALSE(source.next(request));
}

TEST(TraceSource, LeavesEmptyWhatTheTraceDoesNotSay) {
  Trace trace = trace_of({0, 10});
  trace.content = TraceContent();
  trace.session.clear();
  trace.tenant = {CarriedColumns::kNoName, 3};
  trace.priority = {CarriedColumns::kNoPriority, -7};
  TraceSource source(trace);
  Request request;
  ASSERT_TRUE(source.next(request));
  EXPECT_EQ(request.tenant, Request::kNobody);
  EXPECT_EQ(request.session, Request::kNobody);
  EXPECT_EQ(request.priority, 0);
  EXPECT_EQ(request.content, nullptr);
  EXPECT_EQ(request.content_pieces, 0U);
  ASSERT_TRUE(source.next(request));
  EXPECT_EQ(request.tenant, 3U);
  EXPECT_EQ(request.priority, -7);
}

TEST(TraceSourceDeathTest, RefusesRowsOutOfOrder) {
  const Trace trace = trace_of({10, 5});
  EXPECT_DEATH(TraceSource source(trace), "test.csv");
}

TEST(TraceFormats, HaveNamesThatFindThem) {
  for (TraceFormat format :
       {TraceFormat::kInferscale, TraceFormat::kAzure2023, TraceFormat::kMooncake,
        TraceFormat::kBurstGpt, TraceFormat::kClaudeCodeCsv, TraceFormat::kClaudeCodeJsonl}) {
    EXPECT_EQ(trace_format_named(trace_format_name(format)), format);
  }
  EXPECT_EQ(trace_format_named("auto"), std::nullopt);
}

}  // namespace
}  // namespace inferscale

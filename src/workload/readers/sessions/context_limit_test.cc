#include "workload/readers/sessions/context_limit.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

RecordedCall call(std::uint32_t prompt, std::uint32_t output, std::int64_t gap_s = 0) {
  return {.prompt_tokens = prompt,
          .output_tokens = output,
          .gap = Duration::nanos(gap_s * 1'000'000'000)};
}

RecordedTrace trace_of(std::vector<RecordedSession> sessions) {
  RecordedTrace trace(1);
  trace.sessions = std::move(sessions);
  return trace;
}

TEST(ContextLimit, ASessionEndsBeforeTheFirstCallThatIsTooLong) {
  RecordedTrace trace =
      trace_of({{"a", {{.calls = {call(90, 10, 5), call(91, 10, 6), call(50, 10)}}}},
                {"b", {{.calls = {call(101, 1)}}}},
                {"c", {{.calls = {call(10, 1, 2), call(20, 1)}}}}});
  end_at_context(100, trace);
  ASSERT_EQ(trace.sessions.size(), 2U);
  ASSERT_EQ(trace.sessions[0].chains[0].calls.size(), 1U);
  // Exactly 100 tokens fit, and nothing follows the last call.
  EXPECT_EQ(trace.sessions[0].chains[0].calls[0].gap, Duration());
  EXPECT_EQ(trace.sessions[1].name, "c");
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_EQ(trace.notes[0],
            "1 session ends before a call longer than trace.max_context_tokens, 100, and 1 session "
            "is left out whose first call is: a derived workload");
}

TEST(ContextLimit, WhatLaterCallsSpawnIsLeftOutWithThem) {
  // Of the main chain two calls stay. Chain 1 is of the first, 2 of the second, 3 of the third and
  // 4 of chain 3; chain 5 is too long itself.
  const Duration rest = Duration::nanos(7);
  RecordedTrace trace =
      trace_of({{"a",
                 {{.calls = {call(10, 1), call(20, 1), call(200, 1)}},
                  {.spawner = 0, .spawner_call = 0, .rest = rest, .calls = {call(5, 1)}},
                  {.spawner = 0, .spawner_call = 1, .rest = rest, .calls = {call(6, 1)}},
                  {.spawner = 0, .spawner_call = 2, .calls = {call(7, 1)}},
                  {.spawner = 3, .spawner_call = 0, .calls = {call(8, 1)}},
                  {.spawner = 0, .spawner_call = 0, .calls = {call(300, 1)}},
                  {.spawner = 2, .spawner_call = 0, .calls = {call(9, 1)}}}}});
  end_at_context(100, trace);
  ASSERT_EQ(trace.sessions.size(), 1U);
  const std::vector<RecordedChain>& chains = trace.sessions[0].chains;
  ASSERT_EQ(chains.size(), 4U);
  EXPECT_EQ(chains[1].calls[0].prompt_tokens, 5U);
  EXPECT_EQ(chains[1].rest, rest);
  // Of the call that is the last one now: nobody waits for it.
  EXPECT_EQ(chains[2].calls[0].prompt_tokens, 6U);
  EXPECT_EQ(chains[2].rest, Duration());
  EXPECT_EQ(chains[3].calls[0].prompt_tokens, 9U);
  EXPECT_EQ(chains[3].spawner, 2U);
  EXPECT_EQ(broken_structure(build_programs(trace)), nullptr);
}

TEST(ContextLimit, WhereNothingIsTooLongNothingIsSaid) {
  RecordedTrace trace = trace_of({{"a", {{.calls = {call(90, 10)}}}}});
  end_at_context(100, trace);
  EXPECT_EQ(trace.sessions.size(), 1U);
  EXPECT_TRUE(trace.notes.empty());
}

}  // namespace
}  // namespace inferscale

// Summaries of small programs whose figures can be worked out by hand.

#include "workload/programs/program_summary.h"

#include <gtest/gtest.h>

#include <vector>

#include "workload/programs/programs_test_support.h"

namespace inferscale {
namespace {

// Prompts of a chain have 10, 20, 30 tokens, answers 3; of a later prompt all but 7 are history.
//
// The first session: three calls, of which the first waits for a sub-agent of two calls (2 until it
// begins, a gap of 7) and has no gap of its own; behind the second a person takes 60.
Programs two_sessions() {
  Programs programs = assemble({{.chains = {{.calls = {{.spawns = {1}}, {.gap = 60}, {}}},
                                            {.calls = {{.gap = 7}, {}}, .delay = 2, .rest = 5}}},
                                {.chains = {{.calls = {{}}}}}});
  programs.turns[1].waits_for_person = true;
  EXPECT_EQ(broken_structure(programs), nullptr);
  return programs;
}

TEST(ProgramSummary, CountsSessionsChainsAndCalls) {
  const ProgramSummary summary = summarize_programs(two_sessions());
  EXPECT_EQ(summary.sessions, 2U);
  EXPECT_EQ(summary.chains, 3U);
  EXPECT_EQ(summary.sub_agents, 1U);
  EXPECT_EQ(summary.calls, 6U);
  EXPECT_EQ(summary.session_turns.count, 2U);
  EXPECT_EQ(summary.session_turns.p50, 1);
  EXPECT_EQ(summary.session_turns.max, 5) << "the sub-agent's calls are turns of its session";
  EXPECT_DOUBLE_EQ(summary.session_turns.mean, 3);
}

TEST(ProgramSummary, TellsFirstPromptsFromWhatLaterOnesAdd) {
  const ProgramSummary summary = summarize_programs(two_sessions());
  EXPECT_EQ(summary.prompt_tokens.count, 6U);
  EXPECT_DOUBLE_EQ(summary.prompt_tokens.mean, 100 / 6.0);  // 10 20 30, 10 20, 10
  EXPECT_EQ(summary.prompt_tokens.max, 30);
  EXPECT_EQ(summary.first_prompt_tokens.count, 2U);
  EXPECT_EQ(summary.sub_agent_prompt_tokens.count, 1U);
  EXPECT_EQ(summary.sub_agent_prompt_tokens.max, 10);
  EXPECT_EQ(summary.new_tokens.count, 3U);
  EXPECT_EQ(summary.new_tokens.p10, 7);
  EXPECT_EQ(summary.new_tokens.max, 7);
  EXPECT_EQ(summary.output_tokens.count, 6U);
  EXPECT_EQ(summary.output_tokens.p99, 3);
  // The main agents end with 33 and 13 tokens; histories are 13 + 23 + 13 tokens of 100.
  EXPECT_EQ(summary.end_context_tokens.p50, 13);
  EXPECT_EQ(summary.end_context_tokens.max, 33);
  EXPECT_DOUBLE_EQ(summary.history_share, 0.49);
}

TEST(ProgramSummary, KeepsPeopleAndToolsApart) {
  const ProgramSummary summary = summarize_programs(two_sessions());
  EXPECT_EQ(summary.tool_gap_ns.count, 1U) << "waiting for a sub-agent is no tool's time";
  EXPECT_EQ(summary.tool_gap_ns.max, 7);
  EXPECT_EQ(summary.person_gap_ns.count, 1U);
  EXPECT_EQ(summary.person_gap_ns.p50, 60);
  EXPECT_EQ(summary.session_gaps_ns.p50, 0);
  EXPECT_EQ(summary.session_gaps_ns.max, 2 + 7 + 5 + 60);
}

TEST(ProgramSummary, AGapOfNoTimeIsOneUnlessASubAgentIsWaitedFor) {
  const ProgramSummary instant =
      summarize_programs(assemble({{.chains = {{.calls = {{.gap = 0}, {.gap = 9}, {}}}}}}));
  EXPECT_EQ(instant.tool_gap_ns.count, 2U);
  EXPECT_DOUBLE_EQ(instant.tool_gap_ns.mean, 4.5);
  // Nobody waits for this sub-agent, so the 0 is the tool's own.
  const ProgramSummary apart = summarize_programs(
      assemble({{.chains = {{.calls = {{.spawns = {1}}, {}}}, {.calls = {{}}, .joined = false}}}}));
  EXPECT_EQ(apart.tool_gap_ns.count, 1U);
  EXPECT_EQ(apart.person_gap_ns.count, 0U);
  EXPECT_EQ(apart.person_gap_ns.max, 0);
}

TEST(ProgramSummary, TakesNearestRanks) {
  std::vector<TestSession> sessions(99);
  for (TestSession& session : sessions) session.chains = {{.calls = {{}}}};
  Programs programs = assemble(sessions);
  // From the largest down, so that they have to be sorted.
  for (std::uint32_t i = 0; i < 99; ++i) programs.turns[i].prompt_tokens = 10 * (99 - i);
  const ProgramSummary summary = summarize_programs(programs);
  // Of 99 values the ranks are ceil(9.9), ceil(49.5), ceil(89.1) and ceil(98.01).
  EXPECT_EQ(summary.prompt_tokens.p10, 100);
  EXPECT_EQ(summary.prompt_tokens.p50, 500);
  EXPECT_EQ(summary.prompt_tokens.p90, 900);
  EXPECT_EQ(summary.prompt_tokens.p99, 990);
  EXPECT_EQ(summary.prompt_tokens.max, 990);
  EXPECT_DOUBLE_EQ(summary.prompt_tokens.mean, 500);
}

// A call of exactly the context's length fits, as in an engine.
TEST(ProgramSummary, CountsWhatAContextIsTooShortFor) {
  Programs programs = two_sessions();
  programs.turns[1].prompt_tokens = 131'072 - 3;
  programs.turns[2].prompt_tokens = 131'072 - 2;
  programs.turns[5].prompt_tokens = 40'000;
  const ProgramSummary summary = summarize_programs(programs);
  EXPECT_EQ(summary.longest_call, 131'073);
  const auto expect_beyond = [&](std::size_t i, TokenCount tokens, std::uint64_t calls,
                                 std::uint64_t sessions) {
    EXPECT_EQ(summary.beyond[i].tokens, tokens);
    EXPECT_EQ(summary.beyond[i].calls, calls) << tokens;
    EXPECT_EQ(summary.beyond[i].sessions, sessions) << tokens;
  };
  expect_beyond(0, 32'768, 3, 2);
  expect_beyond(1, 65'536, 2, 1);
  expect_beyond(2, 131'072, 1, 1);
  expect_beyond(3, 200'000, 0, 0);
}

}  // namespace
}  // namespace inferscale

// The real session traces in the data folder, whole. Expected figures were counted with Python's
// csv and json over the same files, or are those of the data folder's README. Skipped where the
// folder isn't.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/edge/test_folder.h"
#include "workload/programs/program_summary.h"
#include "workload/readers/session_trace_reader.h"
#include "workload/readers/test_real_files.h"

namespace inferscale {
namespace {

class RealSessionTraces : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(traces_folder())) {
      GTEST_SKIP() << "no data folder: set INFERSCALE_DATA";
    }
  }
  static Programs read(const std::string& file, const SessionTraceOptions& options = {}) {
    Result<Programs> programs = read_session_trace(options, traces_folder() + "/" + file);
    EXPECT_TRUE(programs.has_value()) << programs.error().to_string();
    if (!programs) return {};
    EXPECT_EQ(broken_structure(*programs), nullptr);
    return *std::move(programs);
  }
};

TEST_F(RealSessionTraces, TheTableHasItsSessionsAndCalls) {
  const Programs programs = read("claude_code_requests.csv.gz");
  EXPECT_EQ(programs.sessions.size(), 692U);
  EXPECT_EQ(programs.chains.size(), 692U + 63U);
  ASSERT_EQ(programs.turns.size(), 46'218U - 27U) << "27 failed calls";
  std::uint64_t prompt = 0;
  std::uint64_t output = 0;
  std::uint64_t people = 0;
  for (const ProgramTurn& turn : programs.turns) {
    prompt += turn.prompt_tokens;
    output += turn.output_tokens;
    people += turn.waits_for_person ? 1 : 0;
  }
  EXPECT_EQ(prompt, 5'461'037'136U);
  EXPECT_EQ(output, 20'339'420U);
  EXPECT_EQ(people, 2'213U) << "calls that ended with end_turn, a chain's last left out";
  EXPECT_LT(programs.pieces.size(), 150'000U) << "calls of a chain share their pieces";
}

// "Block hit rate vs previous turn 96.5 %" is the mean, over the calls that have one before them,
// of the share of a prompt's blocks that it has in common with that one. Weighted by tokens it is
// less, since each chain's first prompt has none.
TEST_F(RealSessionTraces, HistoriesAreWhatTheTableShares) {
  const Programs programs = read("claude_code_requests.csv.gz");
  double shares = 0;
  std::uint64_t later = 0;
  std::uint64_t history = 0;
  std::uint64_t prompt = 0;
  for (std::size_t k = 0; k < programs.turns.size(); ++k) {
    const ProgramTurn& turn = programs.turns[k];
    history += turn.call.history_tokens;
    prompt += turn.prompt_tokens;
    const bool is_first = k == 0 || programs.turns[k - 1].call.ends_chain;
    if (is_first) {
      EXPECT_EQ(turn.call.history_tokens, 0U);
      continue;
    }
    const double blocks = turn.prompt_tokens / 64;
    if (blocks > 0) shares += turn.call.history_tokens / 64 / blocks;
    ++later;
  }
  EXPECT_EQ(later, 46'191U - 755U);
  EXPECT_NEAR(shares / static_cast<double>(later), 0.9646, 0.0002);
  // 21 calls come behind a failed one; the table says what they share with that.
  EXPECT_GE(history / 64, 82'014'469U);
  EXPECT_LE(history / 64, 82'014'469U + 53'249U) << "all blocks of the 21";
  EXPECT_NEAR(static_cast<double>(history) / static_cast<double>(prompt), 0.9616, 0.0005);
}

TEST_F(RealSessionTraces, SummariesAreThoseCountedFromTheTable) {
  const ProgramSummary summary = summarize_programs(read("claude_code_requests.csv.gz"));
  const auto expect_quantiles = [](const ValueSummary& values, std::int64_t p10, std::int64_t p50,
                                   std::int64_t p90, std::int64_t p99, std::int64_t max) {
    EXPECT_EQ(values.p10, p10);
    EXPECT_EQ(values.p50, p50);
    EXPECT_EQ(values.p90, p90);
    EXPECT_EQ(values.p99, p99);
    EXPECT_EQ(values.max, max);
  };
  EXPECT_EQ(summary.sub_agents, 63U);
  expect_quantiles(summary.session_turns, 7, 44, 150, 346, 561);
  expect_quantiles(summary.prompt_tokens, 41'761, 100'430, 208'983, 505'205, 894'371);
  expect_quantiles(summary.first_prompt_tokens, 15'485, 24'236, 260'297, 720'472, 851'858);
  expect_quantiles(summary.sub_agent_prompt_tokens, 9096, 10'335, 12'277, 18'259, 18'259);
  expect_quantiles(summary.output_tokens, 104, 218, 894, 3729, 18'195);
  expect_quantiles(summary.end_context_tokens, 58'490, 134'381, 338'420, 820'090, 895'166);
  EXPECT_DOUBLE_EQ(summary.session_turns.mean, 66.75);
  EXPECT_EQ(summary.person_gap_ns.count, 2213U);
  EXPECT_EQ(summary.longest_call, 895'166);
  const std::uint64_t calls[] = {43'468, 34'606, 12'927, 4865};
  const std::uint64_t sessions[] = {677, 629, 448, 154};
  for (std::size_t i = 0; i < summary.beyond.size(); ++i) {
    EXPECT_EQ(summary.beyond[i].calls, calls[i]) << summary.beyond[i].tokens;
    EXPECT_EQ(summary.beyond[i].sessions, sessions[i]) << summary.beyond[i].tokens;
  }
}

// With a cache that forgets nothing and keeps whole blocks of prompts: the sum of the table's
// column blocks_seen_before, but for what calls that are left out had computed.
TEST_F(RealSessionTraces, PiecesHitAsOftenAsTheTableSays) {
  const Programs programs = read("claude_code_requests.csv.gz");
  std::set<std::uint64_t> seen;
  std::uint64_t hits = 0;
  std::uint64_t blocks = 0;
  for (const ProgramTurn& turn : programs.turns) {
    for (std::uint64_t i = 0; i < turn.content_pieces; ++i) {
      const ContentPiece& piece = programs.pieces[turn.content_begin + i];
      blocks += piece.tokens / 64;
      if (!seen.insert(piece.key).second) hits += piece.tokens / 64;
    }
  }
  EXPECT_EQ(blocks, 85'305'852U);
  EXPECT_LE(hits, 82'108'797U);
  EXPECT_GE(hits, 82'108'797U - 10'000U);
}

TEST_F(RealSessionTraces, ForksAreThoseOfTheListOfSessions) {
  std::map<std::string, std::uint32_t> groups;
  for (const Row& row : rows_of("claude_code_sessions.csv.gz")) ++groups[row[1]];
  std::uint32_t several = 0;
  std::uint32_t forks = 0;
  for (const auto& [group, sessions] : groups) {
    if (sessions < 2) continue;
    ++several;
    forks += sessions;
  }
  ASSERT_EQ(several, 9U);
  const Programs programs = read("claude_code_requests.csv.gz");
  EXPECT_EQ(programs.duplicates.fork_groups, several);
  EXPECT_EQ(programs.duplicates.forks, forks);
  EXPECT_EQ(programs.duplicates.duplicates, 0U) << "the table was made without them";
}

TEST_F(RealSessionTraces, SessionsWithHashesShareWhatTheirHashesSay) {
  const Programs programs = read("claude_code_raw60.jsonl.gz");
  EXPECT_EQ(programs.sessions.size(), 60U);
  EXPECT_EQ(programs.chains.size(), 70U);
  ASSERT_EQ(programs.turns.size(), 2'563U);
  std::uint64_t history = 0;
  std::uint64_t prompt = 0;
  std::uint64_t shared = 0;
  for (const ProgramTurn& turn : programs.turns) {
    history += turn.call.history_tokens;
    prompt += turn.prompt_tokens;
    shared += turn.call.own_pieces_from > 0 ? 1 : 0;
  }
  EXPECT_EQ(history / 64, 2'949'384U);
  EXPECT_EQ(prompt, 199'503'075U);
  EXPECT_EQ(shared, 146U) << "calls whose first block another agent of the session has too";
}

// The table knows nothing of what agents share; all else of these sessions it says too.
TEST_F(RealSessionTraces, TableAndLinesGiveTheSamePrograms) {
  const Programs lines = read("claude_code_raw60.jsonl.gz");
  const std::set<std::string> names(lines.session_names.begin(), lines.session_names.end());
  const TestFolder folder;
  Result<LineReader> reader = LineReader::open(traces_folder() + "/claude_code_requests.csv.gz");
  ASSERT_TRUE(reader.has_value());
  std::string kept;
  std::string line;
  while (reader->next(line).value_or(false)) {
    const std::string name = line.substr(0, line.find(','));
    if (name == "trace_id" || names.contains(name)) kept += line + "\n";
  }
  const Result<Programs> table = read_session_trace({}, folder.write("calls.csv", kept));
  ASSERT_TRUE(table.has_value()) << table.error().to_string();
  ASSERT_EQ(table->turns.size(), lines.turns.size());
  std::map<std::string, std::uint32_t> places;
  for (std::uint32_t s = 0; s < table->sessions.size(); ++s) places[table->session_names[s]] = s;
  for (std::uint32_t s = 0; s < lines.sessions.size(); ++s) {
    const ProgramSession& one = lines.sessions[s];
    const ProgramSession& other = table->sessions[places[lines.session_names[s]]];
    ASSERT_EQ(one.chains, other.chains);
    for (std::uint32_t c = 0; c < one.chains; ++c) {
      const ProgramChain& a = lines.chains[one.first_chain + c];
      const ProgramChain& b = table->chains[other.first_chain + c];
      EXPECT_EQ(a.delay, b.delay);
      EXPECT_EQ(a.rest, b.rest);
      EXPECT_EQ(a.joined, b.joined);
      ASSERT_EQ(a.turns, b.turns);
      for (std::uint32_t k = 0; k < a.turns; ++k) {
        const ProgramTurn& x = lines.turns[a.first_turn + k];
        const ProgramTurn& y = table->turns[b.first_turn + k];
        EXPECT_EQ(x.prompt_tokens, y.prompt_tokens);
        EXPECT_EQ(x.call.history_tokens, y.call.history_tokens);
        EXPECT_EQ(x.gap, y.gap);
        EXPECT_EQ(x.waits_for_person, y.waits_for_person);
        EXPECT_EQ(x.spawns, y.spawns);
      }
    }
  }
}

// Figures of a Python program that walks the hashes by the same rule.
TEST_F(RealSessionTraces, MooncakeCallsJoinToSessions) {
  const Programs conversation = read("mooncake_conversation_trace.jsonl.gz");
  EXPECT_EQ(conversation.turns.size(), 12'031U);
  EXPECT_EQ(conversation.sessions.size(), 8'723U);
  std::map<std::uint32_t, int> by_turns;
  std::uint64_t answers_in = 0;
  for (const ProgramChain& chain : conversation.chains) {
    ++by_turns[chain.turns];
    for (std::uint32_t k = chain.first_turn; k + 1 < chain.first_turn + chain.turns; ++k) {
      const ProgramTurn& turn = conversation.turns[k];
      EXPECT_GT(turn.gap, Duration());
      const ProgramTurn& next = conversation.turns[k + 1];
      answers_in += next.prompt_tokens >= turn.prompt_tokens + turn.output_tokens ? 1 : 0;
    }
  }
  EXPECT_EQ(by_turns[1], 6'500);
  EXPECT_EQ(by_turns[2], 1'603);
  EXPECT_EQ(by_turns[3], 402);
  // Not looked at when they are joined: that it holds for nearly all says that the joining is
  // right.
  EXPECT_EQ(answers_in, 2'956U) << "of 3,308";
  EXPECT_EQ(read("mooncake_synthetic_trace.jsonl.gz").sessions.size(), 3'724U);
}

TEST_F(RealSessionTraces, TraceLabRoundsHaveTheGapsOfTheirEvents) {
  const Programs programs = read("tracelab_example_round_trace.jsonl");
  ASSERT_EQ(programs.sessions.size(), 2U);
  ASSERT_EQ(programs.turns.size(), 19U);
  const ProgramTurn* claude = &programs.turns[0];
  EXPECT_EQ(claude[0].gap, Duration::from_millis(19'291)) << "the wall latency of a web search";
  EXPECT_EQ(claude[4].gap, Duration::from_millis(19'913)) << "05:42:23.420 to 05:42:43.333";
  EXPECT_TRUE(claude[4].waits_for_person);
  EXPECT_FALSE(claude[3].waits_for_person);
  EXPECT_EQ(claude[1].call.history_tokens, 32'272U);
  const ProgramTurn* codex = &programs.turns[10];
  EXPECT_EQ(codex[1].call.history_tokens, 9'324U + 444U) << "the cache had 9,600: the answer too";
  EXPECT_TRUE(codex[0].output_is_content);
  EXPECT_EQ(codex[3].call.history_tokens, 10'058U) << "though the cache had 3,456";
  EXPECT_EQ(codex[5].call.history_tokens, 9'216U) << "of a prompt that got shorter";
}

}  // namespace
}  // namespace inferscale

// The times of the real table of sessions in the data folder: programs that are played with the
// recorded answers against the table's own times, read here from its cells. Skipped where the
// folder isn't.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "workload/readers/session_trace_reader.h"
#include "workload/readers/test_real_files.h"

namespace inferscale {
namespace {

// Cells of the table of calls.
enum Cell { kTrace, kAgent, kIndex, kTime, kType, kPrompt, kOutput, kBlocks, kShared, kSeen };
constexpr std::size_t kAnswer = 10;
constexpr std::size_t kStop = 13;
constexpr std::size_t kDuration = 14;

std::int64_t ns_of(const std::string& seconds) {
  return std::llround(std::stod(seconds) * 1e9);
}

class RealSessionTimes : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(traces_folder())) {
      GTEST_SKIP() << "no data folder: set INFERSCALE_DATA";
    }
  }
  static Programs read_table() {
    Result<Programs> programs =
        read_session_trace({}, traces_folder() + "/claude_code_requests.csv.gz");
    EXPECT_TRUE(programs.has_value()) << programs.error().to_string();
    if (!programs) return {};
    EXPECT_EQ(broken_structure(*programs), nullptr);
    return *std::move(programs);
  }
};

// Plays programs with given answers, in the order of the definition (programs.h).
class Replay {
 public:
  Replay(const Programs& programs, std::vector<std::int64_t> answers_ns)
      : ready_ns(programs.turns.size()), programs_(programs), answers_(std::move(answers_ns)) {
    for (const ProgramSession& session : programs.sessions) play(session.first_chain, 0);
  }
  std::vector<std::int64_t> ready_ns;  // by turn

 private:
  std::int64_t play(std::uint32_t index, std::int64_t ready) {
    const ProgramChain& chain = programs_.chains[index];
    std::int64_t finish = ready;
    for (std::uint32_t k = chain.first_turn; k < chain.first_turn + chain.turns; ++k) {
      const ProgramTurn& turn = programs_.turns[k];
      ready_ns[k] = ready;
      finish = ready + answers_[k];
      ready = finish + turn.gap.ns();
      for (std::uint32_t i = 0; i < turn.spawns; ++i) {
        const std::uint32_t child = programs_.spawned[turn.first_spawn + i];
        const std::int64_t end = play(child, finish + programs_.chains[child].delay.ns());
        const ProgramChain& spawned = programs_.chains[child];
        if (spawned.joined) ready = std::max(ready, end + spawned.rest.ns());
      }
    }
    return finish;
  }

  const Programs& programs_;
  std::vector<std::int64_t> answers_;
};

// The calls of the table in the order of Programs: by session and chain; failed ones left out.
struct TableCalls {
  std::vector<Row> rows;
  std::vector<std::int64_t> start_ns;  // from the session's beginning
  std::vector<std::int64_t> answer_ns;
  std::int64_t median_answer_ns = 0;
};

TableCalls table_calls() {
  struct Chain {
    std::int64_t begin_ns = 0;
    std::vector<Row> rows;
  };
  std::vector<Chain> chains;
  std::map<std::string, std::size_t> places;
  TableCalls table;
  std::vector<std::int64_t> answers;
  for (const Row& row : rows_of("claude_code_requests.csv.gz")) {
    const std::string path = row[kTrace] + "/" + row[kAgent];
    if (!places.contains(path)) {
      places[path] = chains.size();
      chains.emplace_back();
    }
    Chain& chain = chains[places[path]];
    if (row[kType] != "spawn") {
      if (row[kOutput] != "0") chain.rows.push_back(row);
      if (row[kOutput] != "0" && !row[kAnswer].empty()) answers.push_back(ns_of(row[kAnswer]));
      continue;
    }
    const std::int64_t ran = row[kDuration].empty() ? 0 : std::stoll(row[kDuration]) * 1'000'000;
    const std::int64_t begin = chain.begin_ns + ns_of(row[kTime]) - ran;
    places[path + "/" + row[kStop]] = chains.size();
    chains.push_back({.begin_ns = begin});
  }
  std::sort(answers.begin(), answers.end());
  table.median_answer_ns = answers[(answers.size() - 1) / 2];
  for (const Chain& chain : chains) {
    for (std::size_t k = 0; k < chain.rows.size(); ++k) {
      const Row& row = chain.rows[k];
      table.rows.push_back(row);
      table.start_ns.push_back(chain.begin_ns + ns_of(row[kTime]));
      std::int64_t answer = row[kAnswer].empty() ? table.median_answer_ns : ns_of(row[kAnswer]);
      if (row[kAnswer].empty() && k + 1 < chain.rows.size()) {
        answer = std::min(answer, ns_of(chain.rows[k + 1][kTime]) - ns_of(row[kTime]));
      }
      table.answer_ns.push_back(answer);
    }
  }
  return table;
}

// What the recorded answers took is the trace's only word about when calls began. With just that
// the programs must give the recorded beginnings back.
TEST_F(RealSessionTimes, RecordedAnswersGiveTheRecordedBeginningsBack) {
  const Programs programs = read_table();
  const TableCalls table = table_calls();
  ASSERT_EQ(table.rows.size(), programs.turns.size());
  EXPECT_EQ(table.median_answer_ns, 6'050'000'000);
  const Replay replay(programs, table.answer_ns);
  std::uint64_t exact = 0;
  std::uint64_t beyond_a_second = 0;
  std::int64_t largest = 0;
  for (const ProgramSession& session : programs.sessions) {
    const ProgramChain& last = programs.chains[session.first_chain + session.chains - 1];
    const std::uint32_t first = programs.chains[session.first_chain].first_turn;
    for (std::uint32_t k = first; k < last.first_turn + last.turns; ++k) {
      const std::int64_t late = replay.ready_ns[k] - (table.start_ns[k] - table.start_ns[first]);
      EXPECT_GE(late, 0);
      exact += late == 0 ? 1 : 0;
      beyond_a_second += late > 1'000'000'000 ? 1 : 0;
      largest = std::max(largest, late);
    }
  }
  // Two sessions make calls side by side, which a chain cannot; other calls begin up to a second,
  // the resolution of t_s, before the one above them is answered.
  EXPECT_EQ(beyond_a_second, 8U);
  EXPECT_EQ(largest, 13'800'000'000);
  EXPECT_GT(exact, 46'130U);
}

// The first answers of sub-agents take a minute more than recorded, or half a second less: each
// call that waits for some comes just so much later or earlier.
TEST_F(RealSessionTimes, SubAgentsMoveTheNextCall) {
  const Programs programs = read_table();
  const TableCalls table = table_calls();
  const Replay recorded(programs, table.answer_ns);
  for (const std::int64_t more_ns : {std::int64_t{60'000'000'000}, std::int64_t{-500'000'000}}) {
    std::vector<std::int64_t> answers = table.answer_ns;
    for (const ProgramChain& chain : programs.chains) {
      const bool is_main = programs.sessions[chain.session].first_chain ==
                           programs.turns[chain.first_turn].call.chain;
      if (!is_main) answers[chain.first_turn] += more_ns;
    }
    const Replay other(programs, answers);
    std::uint64_t waits = 0;
    for (const ProgramSession& session : programs.sessions) {
      const ProgramChain& chain = programs.chains[session.first_chain];
      std::int64_t moved_ns = 0;
      for (std::uint32_t k = chain.first_turn; k < chain.first_turn + chain.turns; ++k) {
        EXPECT_EQ(other.ready_ns[k] - recorded.ready_ns[k], moved_ns);
        const ProgramTurn& turn = programs.turns[k];
        if (turn.spawns == 0 || turn.call.ends_chain || turn.waits_for_person) continue;
        if (!programs.chains[programs.spawned[turn.first_spawn]].joined) continue;
        moved_ns += more_ns;
        ++waits;
      }
    }
    EXPECT_EQ(waits, 35U) << "36 calls spawn agents with durations, one of them before a person";
  }
}

// An agent's row has the time at which it had ended, if it says how long it ran: it then began
// within a second or so of its spawning call's answer.
TEST_F(RealSessionTimes, AgentsBeginWhenTheCallThatSpawnsThemIsAnswered) {
  const Programs programs = read_table();
  std::uint64_t background = 0;
  std::uint64_t late = 0;
  for (const ProgramTurn& turn : programs.turns) {
    for (std::uint32_t i = 0; i < turn.spawns; ++i) {
      const ProgramChain& chain = programs.chains[programs.spawned[turn.first_spawn + i]];
      background += chain.joined ? 0 : 1;
      late += chain.delay > Duration::from_seconds(1.1) ? 1U : 0U;
      EXPECT_LT(chain.first_turn, programs.turns.size());
    }
  }
  EXPECT_EQ(background, 4U) << "agent_002 to agent_005 of trace_0295, which have no duration";
  EXPECT_EQ(late, 2U) << "agent_001 and agent_002 of trace_0004, whose spawning call isn't there";
}

}  // namespace
}  // namespace inferscale

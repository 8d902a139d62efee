// Small session traces worked out by hand: times and spawns, histories, content, what is there
// twice.

#include "workload/readers/session_trace_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/edge/test_folder.h"

namespace inferscale {
namespace {

using Tokens = std::vector<std::uint32_t>;

const std::string kHeader =
    "trace_id,agent,idx,t_s,type,in_tokens,out_tokens,n_blocks64,shared_prefix_blocks_prev,"
    "blocks_seen_before,api_time_s,think_time_s,ttft_s,stop_or_subagent,"
    "output_types_or_duration_ms,model_or_n\n";

// "4,n,640,5,10,0,0,2.5" is time, type, lengths, blocks and the answer's time.
std::string call(const std::string& trace, const std::string& agent, const std::string& cells,
                 const std::string& stop = "tool_use") {
  std::string text = trace + "," + agent + ",0," + cells + ",,," + stop + ",text,m\n";
  return text;
}

std::string spawn(const std::string& trace, const std::string& agent, const std::string& time,
                  const std::string& name, const std::string& ran_ms) {
  return trace + "," + agent + ",0," + time + ",spawn,,,,,,,,," + name + "," + ran_ms + ",2\n";
}

class SessionTraces : public testing::Test {
 protected:
  Result<Programs> try_read(const std::string& content, const SessionTraceOptions& options = {}) {
    return read_session_trace(options, folder_.write("sessions", content));
  }
  Programs read(const std::string& content, const SessionTraceOptions& options = {}) {
    Result<Programs> programs = try_read(content, options);
    EXPECT_TRUE(programs.has_value()) << programs.error().to_string();
    if (!programs) return {};
    EXPECT_EQ(broken_structure(*programs), nullptr);
    return *std::move(programs);
  }
  TestFolder folder_;
};

std::vector<double> gaps_of(const Programs& programs) {
  std::vector<double> gaps;
  for (const ProgramTurn& turn : programs.turns)
    gaps.push_back(static_cast<double>(turn.gap.ns()) / 1e9);
  return gaps;
}

Tokens histories_of(const Programs& programs) {
  Tokens histories;
  for (const ProgramTurn& turn : programs.turns) histories.push_back(turn.call.history_tokens);
  return histories;
}

Tokens piece_tokens(const Programs& programs, std::size_t turn) {
  Tokens tokens;
  const ProgramTurn& made = programs.turns[turn];
  for (std::uint64_t i = 0; i < made.content_pieces; ++i) {
    tokens.push_back(programs.pieces[made.content_begin + i].tokens);
  }
  return tokens;
}

bool has_note(const Programs& programs, const std::string& beginning) {
  for (const std::string& note : programs.notes) {
    if (note.starts_with(beginning)) return true;
  }
  return false;
}

// The first call is answered at 2. One agent ends at 12.5 after 10 s, so it began at 2.5; its calls
// are from 2.5 to 4.5 and 7.5 to 12. The next call begins at 20. Then two run in the background
// from 23 on, while the main agent goes on at 24.
const std::string kTable = kHeader + call("a", "main", "0,n,650,5,10,0,0,2") +
                           spawn("a", "main", "12.5", "agent_001", "10000") +
                           call("a", "main/agent_001", "0,n,128,6,2,0,0,2") +
                           call("a", "main/agent_001", "5,n,200,7,3,2,2,4.5") +
                           call("a", "main", "20,n,1000,8,15,10,10,3", "end_turn") +
                           spawn("a", "main", "23", "agent_002", "") +
                           call("a", "main/agent_002", "0,s,64,6,1,0,0,9") +
                           call("a", "main", "24,n,1100,9,17,15,15,1");

const std::string kLines =
    R"({"id":"a","block_size":64,"hash_id_scope":"local","requests":[)"
    R"({"t":0,"type":"n","in":650,"out":5,"hash_ids":[1,2,3,4,5,6,7,8,9,10],"api_time":2,)"
    R"("stop":"tool_use"},)"
    R"({"t":12.5,"type":"subagent","agent_id":"agent_001","duration_ms":10000,"requests":[)"
    R"({"t":0,"type":"n","in":128,"out":6,"hash_ids":[30,31],"api_time":2.0},)"
    R"({"t":5,"type":"n","in":200,"out":7,"hash_ids":[30,31,32],"api_time":4.5}]},)"
    R"({"t":20,"type":"n","in":1000,"out":8,)"
    R"("hash_ids":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15],"api_time":3,"stop":"end_turn"},)"
    R"({"t":23,"type":"subagent","agent_id":"agent_002","duration_ms":null,"requests":[)"
    R"({"t":0,"type":"s","in":64,"out":6,"hash_ids":[30],"api_time":9,"stop":null}]},)"
    R"({"t":24,"type":"n","in":1100,"out":9,)"
    R"("hash_ids":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17],"api_time":1}]})"
    "\n";

TEST_F(SessionTraces, TimesBecomeGapsAndSpawns) {
  for (const bool table : {true, false}) {
    const Programs programs = read(table ? kTable : kLines);
    ASSERT_EQ(programs.sessions.size(), 1U);
    EXPECT_EQ(programs.session_names, std::vector<std::string>{"a"});
    ASSERT_EQ(programs.chains.size(), 3U);
    EXPECT_EQ(gaps_of(programs), (std::vector<double>{0, 1, 0, 3, 0, 0}))
        << "main: none of its own, 23 to 24; agent: 2 to 5";
    EXPECT_EQ(histories_of(programs), (Tokens{0, 640, 960, 0, 128, 0}));
    EXPECT_TRUE(programs.turns[1].waits_for_person);
    EXPECT_FALSE(programs.turns[0].waits_for_person);
    const ProgramChain& joined = programs.chains[1];
    EXPECT_EQ(joined.delay, Duration::from_millis(500));
    EXPECT_TRUE(joined.joined);
    EXPECT_EQ(joined.rest, Duration::from_seconds(8)) << "12 to 20";
    const ProgramChain& background = programs.chains[2];
    EXPECT_EQ(background.delay, Duration());
    EXPECT_EQ(background.rest, Duration());
    EXPECT_FALSE(background.joined);
    EXPECT_EQ(programs.spawned, (Tokens{1, 2}));
    EXPECT_EQ(programs.turns[0].spawns, 1U);
    EXPECT_EQ(programs.turns[1].spawns, 1U);
    EXPECT_TRUE(programs.turns[2].call.ends_chain);
    EXPECT_EQ(programs.turns[4].prompt_tokens, 200U);
    EXPECT_EQ(programs.turns[4].output_tokens, 7U);
    EXPECT_TRUE(has_note(programs, "1 sub-agent is waited for, 1 runs in the background"));
  }
}

// Answered at 1; two agents run from 2 to 9 and from 1.5 to 5, one in the background from 3 on. The
// next call begins at 10, 1 s behind the last end of those that it waits for.
TEST_F(SessionTraces, TheRestIsBehindTheLastEndOfWhatIsJoined) {
  const auto agents =
      spawn("a", "main", "9.5", "x", "7500") + call("a", "main/x", "0,n,64,6,1,0,0,7") +
      spawn("a", "main", "6.5", "y", "5000") + call("a", "main/y", "0,n,64,6,1,0,0,3.5") +
      spawn("a", "main", "3", "z", "") + call("a", "main/z", "0,n,64,6,1,0,0,90");
  const std::string next = call("a", "main", "10,n,640,5,10,10,10,1");
  const Programs programs = read(kHeader + call("a", "main", "0,n,640,5,10,0,0,1") + agents + next);
  EXPECT_EQ(gaps_of(programs), (std::vector<double>{0, 0, 0, 0, 0}));
  ASSERT_EQ(programs.chains.size(), 4U);
  EXPECT_EQ(programs.chains[1].rest, Duration::from_seconds(1));
  EXPECT_EQ(programs.chains[2].rest, Duration::from_seconds(1)) << "should it be the last one";
  EXPECT_FALSE(programs.chains[3].joined);
  const Programs after_a_person =
      read(kHeader + call("a", "main", "0,n,640,5,10,0,0,1", "end_turn") + agents + next);
  EXPECT_EQ(gaps_of(after_a_person), (std::vector<double>{9, 0, 0, 0, 0}));
  EXPECT_TRUE(after_a_person.chains[1].joined);
  EXPECT_EQ(after_a_person.chains[1].rest, Duration());
}

// The agent ends at 4.6, within the second of the time at which the next call is said to begin; the
// other is of the last call, which nothing follows.
TEST_F(SessionTraces, NoRestIsBelowZeroOrBehindALastCall) {
  const Programs programs = read(
      kHeader + call("a", "main", "0,n,640,5,10,0,0,1") + spawn("a", "main", "4.6", "x", "3600") +
      call("a", "main/x", "0,n,64,6,1,0,0,3.6") + call("a", "main", "4,n,640,5,10,10,10,1") +
      spawn("a", "main", "9", "y", "3000") + call("a", "main/y", "0,n,64,6,1,0,0,2"));
  ASSERT_EQ(programs.chains.size(), 3U);
  for (const ProgramChain& chain : programs.chains) {
    EXPECT_TRUE(chain.joined);
    EXPECT_EQ(chain.rest, Duration());
  }
  EXPECT_EQ(programs.turns[1].spawns, 1U);
}

TEST_F(SessionTraces, CallsOfAChainShareTheirPieces) {
  const Programs table = read(kTable);
  EXPECT_EQ(piece_tokens(table, 0), (Tokens{640}));
  EXPECT_EQ(piece_tokens(table, 2), (Tokens{640, 320, 128}));
  EXPECT_EQ(table.turns[0].content_begin, table.turns[2].content_begin);
  EXPECT_EQ(table.pieces.size(), 3U + 2U + 1U);
  for (const ProgramTurn& turn : table.turns) EXPECT_EQ(turn.call.own_pieces_from, 0U);
}

TEST_F(SessionTraces, AgentsShareWhatTheirHashesSay) {
  const Programs lines = read(kLines);
  const ProgramTurn& first = lines.turns[3];
  const ProgramTurn& other = lines.turns[5];
  EXPECT_EQ(lines.pieces[first.content_begin].key, lines.pieces[other.content_begin].key);
  EXPECT_EQ(piece_tokens(lines, 3), (Tokens{64, 64}));
  EXPECT_EQ(first.call.own_pieces_from, 1U);
  EXPECT_EQ(other.call.own_pieces_from, 1U);
  EXPECT_EQ(lines.turns[2].call.own_pieces_from, 0U);
}

// The second call's answer isn't told, and takes 4 s, the median of 2, 4 and 9: to 14. The third
// isn't told either and ends when the fourth begins. That is answered at 29, when the fifth has
// begun by its time.
TEST_F(SessionTraces, AnswersAndTimesThatDoNotFit) {
  const Programs programs =
      read(kHeader + call("a", "main", "0,n,64,1,1,0,0,2") + call("a", "main", "10,s,64,1,1,1,1,") +
           call("a", "main", "18,s,64,1,1,1,1,") + call("a", "main", "20,n,64,1,1,1,1,9") +
           call("a", "main", "28,n,64,1,1,1,1,4") + call("a", "main", "40,n,64,1,1,1,1,"));
  EXPECT_EQ(gaps_of(programs), (std::vector<double>{8, 4, 0, 0, 7, 0}))
      << "the fifth begins at 29, is answered at 33, and the sixth still begins at 40";
  EXPECT_TRUE(has_note(programs, "3 answers of unknown length: taken for 4 s"));
  EXPECT_TRUE(has_note(programs, "1 call begins before the one above is answered, by up to 1 s"));
}

// The first agent's only call failed; the agent that it started counts as the main agent's, from
// 1 + 3 s on.
TEST_F(SessionTraces, FailedCallsAreLeftOut) {
  const Programs programs = read(
      kHeader + call("a", "main", "0,n,640,5,10,0,0,1") + spawn("a", "main", "31", "x", "30000") +
      call("a", "main/x", "1,n,64,0,1,0,0,1") + spawn("a", "main/x", "13", "y", "10000") +
      call("a", "main/x/y", "0,n,64,3,1,0,0,2") + call("a", "main", "40,n,1000,0,15,10,10,5") +
      call("a", "main", "50,n,1000,4,15,15,15,1") + call("b", "main", "0,n,64,0,1,0,0,1"));
  ASSERT_EQ(programs.sessions.size(), 1U);
  ASSERT_EQ(programs.chains.size(), 2U);
  EXPECT_EQ(gaps_of(programs), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(histories_of(programs), (Tokens{0, 640, 0})) << "with the call that was answered";
  EXPECT_EQ(programs.chains[1].delay, Duration::from_seconds(3));
  EXPECT_EQ(programs.chains[1].rest, Duration::from_seconds(44)) << "6 to 50";
  EXPECT_TRUE(has_note(programs, "3 calls without output (failed) left out"));
  EXPECT_TRUE(has_note(programs, "1 session and 1 sub-agent have no call left"));
}

std::string session_of_four(const std::string& name, const std::string& last) {
  return call(name, "main", "0,n,640,5,10,0,0,1") + call(name, "main", "4,n,700,5,10,10,10,1") +
         call(name, "main", "9,n,800,5,12,10,10,1") + call(name, "main", last);
}

TEST_F(SessionTraces, CopiesAndForksAreFound) {
  const std::string content = kHeader + session_of_four("a", "12,n,900,5,14,12,12,1") +
                              session_of_four("b", "12,n,901,5,14,12,12,1") +
                              session_of_four("c", "12,n,900,5,14,12,12,1") +
                              call("d", "main", "0,n,640,5,10,0,0,1");
  const Programs dropped = read(content);
  EXPECT_EQ(dropped.session_names, (std::vector<std::string>{"a", "b", "d"}));
  EXPECT_EQ(dropped.duplicates.duplicates, 1U);
  EXPECT_EQ(dropped.duplicates.dropped, 1U);
  EXPECT_EQ(dropped.duplicates.fork_groups, 1U);
  EXPECT_EQ(dropped.duplicates.forks, 2U);
  EXPECT_TRUE(has_note(dropped, "1 session is the same as an earlier one in every length and gap"));
  EXPECT_TRUE(has_note(dropped, "2 sessions are forks in 1 group"));
  const Programs kept = read(content, {.drop_duplicates = false});
  EXPECT_EQ(kept.session_names, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(kept.duplicates.duplicates, 1U);
  EXPECT_EQ(kept.duplicates.dropped, 0U);
  EXPECT_EQ(kept.duplicates.forks, 2U);
  const Programs first = read(content, {.limit = 2});
  EXPECT_EQ(first.session_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(has_note(first, "the first 2 sessions of 3"));
}

// Another gap, or another length, and a session is no copy.
TEST_F(SessionTraces, SessionsThatOnlyResembleEachOtherAreKept) {
  const Programs programs = read(kHeader + session_of_four("a", "12,n,900,5,14,12,12,1") +
                                 session_of_four("b", "13,n,900,5,14,12,12,1") +
                                 session_of_four("c", "12,n,900,6,14,12,12,1"));
  EXPECT_EQ(programs.sessions.size(), 3U);
  EXPECT_EQ(programs.duplicates.duplicates, 0U);
  EXPECT_EQ(programs.duplicates.forks, 3U) << "their first three calls are the same";
}

TEST_F(SessionTraces, LongGapsAreCutWhenAsked) {
  const Programs programs = read(kTable, {.longest_gap = Duration::from_seconds(3)});
  EXPECT_EQ(gaps_of(programs), (std::vector<double>{0, 1, 0, 3, 0, 0}));
  EXPECT_EQ(programs.chains[1].rest, Duration::from_seconds(3));
  EXPECT_TRUE(has_note(programs, "1 gap cut to trace.longest_gap_s, 3 s: a derived workload"));
  const Programs by_flags =
      read(kTable, {.longest_gap = Duration::from_seconds(3), .by_flags = true});
  EXPECT_TRUE(has_note(by_flags, "1 gap cut to --longest-gap, 3 s: a derived workload"));
}

TEST_F(SessionTraces, SessionCallsGrowAsTheirLengthsSay) {
  const Programs programs =
      read(R"({"session_id":"s0","arrival_time_ns":7,"sub_requests":[)"
           R"({"input_toks":100,"output_toks":20,"tool_duration_ns":1500000000},)"
           R"({"input_toks":150,"output_toks":30,"tool_duration_ns":500000000},)"
           R"({"input_toks":170,"output_toks":10},{"input_toks":50,"output_toks":10}]})"
           "\n"
           R"({"session_id":"s1","arrival_time_ns":0,"sub_requests":[)"
           R"({"input_toks":100,"output_toks":20}]})");
  EXPECT_EQ(programs.session_names, (std::vector<std::string>{"s0", "s1"}));
  EXPECT_EQ(gaps_of(programs), (std::vector<double>{1.5, 0.5, 0, 0, 0}));
  EXPECT_EQ(histories_of(programs), (Tokens{0, 120, 150, 0, 0}));
  EXPECT_TRUE(programs.turns[0].output_is_content);
  EXPECT_FALSE(programs.turns[1].output_is_content) << "170 tokens have no room for 150 + 30";
  EXPECT_EQ(piece_tokens(programs, 1), (Tokens{100, 20, 30}));
  EXPECT_EQ(piece_tokens(programs, 2), (Tokens{100, 20, 30, 20}));
  EXPECT_EQ(piece_tokens(programs, 3), (Tokens{50}));
  EXPECT_TRUE(has_note(programs, "1 prompt is shorter than the one before"));
}

// The second prompt holds the first answer, 5 6; the third parts from the second behind its third
// token. The other session begins with the same two tokens.
TEST_F(SessionTraces, SessionCallsShareWhatTheirTokensSay) {
  const Programs programs =
      read(R"({"session_id":"s0","arrival_time_ns":0,"sub_requests":[)"
           R"({"input_toks":4,"output_toks":2,"input_tok_ids":[1,2,3,4],"output_tok_ids":[5,6]},)"
           R"({"input_toks":7,"output_toks":1,"input_tok_ids":[1,2,3,4,5,6,7]},)"
           R"({"input_toks":5,"output_toks":1,"input_tok_ids":[1,2,3,9,9]}]})"
           "\n"
           R"({"session_id":"s1","arrival_time_ns":0,"sub_requests":[)"
           R"({"input_toks":3,"output_toks":1,"input_tok_ids":[1,2,8]}]})");
  EXPECT_EQ(histories_of(programs), (Tokens{0, 6, 3, 0}));
  EXPECT_EQ(piece_tokens(programs, 0), (Tokens{2, 1, 1}));
  EXPECT_EQ(piece_tokens(programs, 1), (Tokens{2, 1, 1, 2, 1}));
  EXPECT_EQ(piece_tokens(programs, 2), (Tokens{2, 1, 2}));
  EXPECT_EQ(piece_tokens(programs, 3), (Tokens{2, 1}));
  EXPECT_TRUE(programs.turns[0].output_is_content);
  EXPECT_EQ(programs.pieces[programs.turns[3].content_begin].key,
            programs.pieces[programs.turns[0].content_begin].key);
  EXPECT_EQ(programs.turns[0].call.own_pieces_from, 1U);
  EXPECT_EQ(programs.turns[3].call.own_pieces_from, 1U);
}

std::string mooncake(int ms, int tokens, int output, const std::string& ids) {
  return R"({"timestamp":)" + std::to_string(ms) + R"(,"input_length":)" + std::to_string(tokens) +
         R"(,"output_length":)" + std::to_string(output) + R"(,"hash_ids":[)" + ids + "]}\n";
}

// Block 0 is everybody's. The second call has nothing but that in full, so nobody goes on from it;
// the third goes on from the first, the fourth does too but comes second, the fifth from the third.
TEST_F(SessionTraces, MooncakeCallsGoOnFromTheLatestThatTheyBeginWith) {
  const Programs programs =
      read(mooncake(0, 1100, 10, "0,1,2") + mooncake(3000, 600, 10, "0,3") +
           mooncake(6000, 1600, 10, "0,1,4,5") + mooncake(9000, 1700, 10, "0,1,6,7") +
           mooncake(12'000, 2100, 10, "0,1,4,8,9") + mooncake(15'000, 700, 10, "0,10"));
  ASSERT_EQ(programs.sessions.size(), 4U);
  EXPECT_EQ(programs.chains[0].turns, 3U);
  EXPECT_EQ(gaps_of(programs), (std::vector<double>{6, 6, 0, 0, 0, 0}));
  EXPECT_EQ(histories_of(programs), (Tokens{0, 1024, 1536, 0, 0, 0}));
  EXPECT_EQ(programs.duplicates.fork_groups, 1U);
  EXPECT_EQ(programs.duplicates.forks, 2U);
  EXPECT_EQ(programs.turns[0].call.own_pieces_from, 2U) << "its fork has both blocks too";
  EXPECT_EQ(programs.turns[5].call.own_pieces_from, 1U);
}

// Block 1 stands at the end of 1,024 tokens and of 512.
TEST_F(SessionTraces, MooncakeHashesThatContradictThemselvesJoinNothing) {
  const Programs programs = read(mooncake(0, 1100, 10, "0,1,2") + mooncake(3000, 600, 10, "1,3"));
  EXPECT_EQ(programs.sessions.size(), 2U);
}

std::string round_line(const std::string& session, int index, int prefix, int appended, int output,
                       const std::string& events, const std::string& tools = "") {
  return R"({"session_id":")" + session + R"(","round_index":)" + std::to_string(index) +
         R"(,"input_tokens_total":)" + std::to_string(prefix + appended) + R"(,"prefix_tokens":)" +
         std::to_string(prefix) + R"(,"newly_append_tokens":)" + std::to_string(appended) +
         R"(,"output_tokens":)" + std::to_string(output) + R"(,"timing_events":[)" + events +
         R"(],"tools":[)" + tools + "]}\n";
}

std::string event(const std::string& type, const std::string& time) {
  return R"({"event_type":")" + type + R"(","timestamp":"2026-06-01T05:40:)" + time + R"(Z"})";
}

TEST_F(SessionTraces, TraceLabRoundsAreCallsInTheirOrder) {
  const Programs programs =
      read(round_line("s", 1, 90, 60, 7,
                      event("tool_result", "12.5") + "," + event("text", "14") + "," +
                          event("queued", "15")) +
           round_line("t", 0, 0, 80, 3, "", R"({"tool_wall_latency_ms":1500,"tool_name":"Bash"})") +
           round_line("s", 0, 0, 100, 5, event("user_message", "01") + "," + event("text", "10")) +
           round_line("s", 2, 0, 200, 4, event("user_message", "44") + "," + event("text", "50")) +
           round_line("s", 2, 0, 300, 4, event("user_message", "44")) +
           round_line("t", 1, 70, 5, 3, "") + round_line("t", 2, 75, 5, 0, ""));
  EXPECT_EQ(programs.session_names, (std::vector<std::string>{"s", "t"}));
  EXPECT_EQ(gaps_of(programs), (std::vector<double>{2.5, 30, 0, 1.5, 0}));
  EXPECT_EQ(histories_of(programs), (Tokens{0, 100, 150, 0, 70}));
  EXPECT_TRUE(programs.turns[1].waits_for_person);
  EXPECT_FALSE(programs.turns[0].waits_for_person);
  EXPECT_TRUE(has_note(programs, "1 round repeats the round_index"));
  EXPECT_TRUE(has_note(programs, "1 round without output left out"));
  EXPECT_TRUE(has_note(programs, "1 gap without events on both sides"));
  EXPECT_TRUE(has_note(programs, "1 timing event of other types"));
}

}  // namespace
}  // namespace inferscale

// Claude Code's calls as a table and as sessions: times, agents, what prompts share, and errors.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/edge/test_folder.h"
#include "workload/readers/trace_reader.h"
#include "workload/trace_summary.h"

namespace inferscale {
namespace {

using Instants = std::vector<std::int64_t>;
using Tokens = std::vector<std::uint32_t>;

const std::string kHeader =
    "trace_id,agent,idx,t_s,type,in_tokens,out_tokens,n_blocks64,shared_prefix_blocks_prev,"
    "blocks_seen_before,api_time_s,think_time_s,ttft_s,stop_or_subagent,"
    "output_types_or_duration_ms,model_or_n\n";

// Rows of the columns that are read; the others are filled in.
std::string row(const std::string& trace, const std::string& agent, const std::string& time,
                const std::string& rest, const std::string& stop = "end_turn") {
  return trace + "," + agent + ",0," + time + "," + rest + ",1.5,0.5,," + stop + ",text,model\n";
}

// An agent that started; `ran_ms` may be empty.
std::string spawn(const std::string& trace, const std::string& agent, const std::string& time,
                  const std::string& name, const std::string& ran_ms) {
  return trace + "," + agent + ",0," + time + ",spawn,,,,,,,,," + name + "," + ran_ms + ",2\n";
}

class ClaudeCode : public testing::Test {
 protected:
  Result<Trace> try_read(const std::string& content, TraceOptions options = {}) {
    options.file = folder_.write("calls", content);
    return read_trace(options, "", 42);
  }
  Trace read(const std::string& content, const TraceOptions& options = {}) {
    Result<Trace> trace = try_read(content, options);
    EXPECT_TRUE(trace.has_value()) << trace.error().to_string();
    return trace.value_or(Trace());
  }
  std::string error_of(const std::string& content, const TraceOptions& options = {}) {
    const Result<Trace> trace = try_read(content, options);
    if (trace) return "no error";
    const std::string text = trace.error().to_string();
    return text.substr((folder_ / "").size());
  }
  TestFolder folder_;
};

Tokens piece_tokens(const Trace& trace, std::size_t row) {
  Tokens tokens;
  for (const ContentPiece& piece : trace.content.of(row)) tokens.push_back(piece.tokens);
  return tokens;
}

// Two sessions. The first one's main agent starts another one, which ends at 10.25 s after 4.25 s:
// it makes a call at once, at 6 s, and one 1.5 s later, between two calls of the main agent. A
// second one runs in the background, so that its time is its beginning.
const std::string kTable = kHeader + row("a", "main", "0.0", "n,650,5,10,0,0") +
                           spawn("a", "main", "10.25", "agent_001", "4250") +
                           row("a", "main/agent_001", "0.0", "n,128,6,2,0,0") +
                           row("a", "main/agent_001", "1.5", "s,200,7,3,2,2") +
                           row("a", "main", "11.000000001", "s,1000,8,15,10,10") +
                           spawn("a", "main", "11.5", "agent_002", "") +
                           row("a", "main/agent_002", "0.25", "n,64,4,1,0,0") +
                           row("b", "main", "0.5", "n,64,9,1,0,0");

const std::string kSessions =
    R"({"id":"a","models":["m"],"block_size":64,"hash_id_scope":"local","tool_tokens":1,)"
    R"("system_tokens":2,"requests":[)"
    R"({"t":0.0,"type":"n","model":"m","in":650,"out":5,"hash_ids":[1,2,3,4,5,6,7,8,9,10],)"
    R"("input_types":["text"],"output_types":["text"],"stop":"end_turn","api_time":1.0},)"
    R"({"t":10.25,"type":"subagent","agent_id":"agent_001","duration_ms":4250,"requests":[)"
    R"({"t":0.0,"type":"n","in":128,"out":6,"hash_ids":[30,31]},)"
    R"({"t":1.5,"type":"s","in":200,"out":7,"hash_ids":[30,31,32]}]},)"
    R"({"t":11.000000001,"type":"s","in":1000,"out":8,)"
    R"("hash_ids":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]},)"
    R"({"t":11.5,"type":"subagent","agent_id":"agent_002","duration_ms":null,"requests":[)"
    R"({"t":0.25,"type":"n","in":64,"out":4,"hash_ids":[40]}]}],"totals":{"x":{"y":[1]}}})"
    "\n"
    R"({"id":"b","block_size":64,"hash_id_scope":"local","requests":[)"
    R"({"t":0.5,"type":"n","in":64,"out":9,"hash_ids":[1]}]})"
    "\n";

// Session a begins at 10 s and b at 20 s; with five times the load at 2 s and 4 s. What happens in
// them, the other agent's calls too, keeps its distance from there.
TEST_F(ClaudeCode, RateScaleBringsSessionsCloserAndLeavesWhatIsInThem) {
  for (const bool table : {true, false}) {
    TraceOptions options;
    options.session_arrivals = ConstantArrivals{0.1};
    options.rate_scale = 5;
    const Trace trace = read(table ? kTable : kSessions, options);
    EXPECT_EQ(trace.arrival_ns, (Instants{2'000'000'000, 4'500'000'000, 8'000'000'000,
                                          9'500'000'000, 13'000'000'001, 13'750'000'000}));
    EXPECT_EQ(trace.prompt_tokens, (Tokens{650, 64, 128, 200, 1000, 64}));
    EXPECT_TRUE(trace.session_begin_ns.empty()) << "not kept";
  }
}

TEST_F(ClaudeCode, RateScaleNeedsToKnowWhenSessionsBegin) {
  TraceOptions options;
  options.rate_scale = 2;
  EXPECT_EQ(error_of(kTable, options),
            "calls: trace.rate_scale: '2': expected 1 without trace.session_arrivals: all sessions "
            "begin at 0, and only their beginnings would be scaled");
}

TEST_F(ClaudeCode, TableAndSessionsGiveTheSameCalls) {
  for (const bool table : {true, false}) {
    const Trace trace = read(table ? kTable : kSessions);
    EXPECT_EQ(trace.format, table ? TraceFormat::kClaudeCodeCsv : TraceFormat::kClaudeCodeJsonl);
    EXPECT_EQ(trace.arrival_ns, (Instants{0, 500'000'000, 6'000'000'000, 7'500'000'000,
                                          11'000'000'001, 11'750'000'000}));
    EXPECT_EQ(trace.prompt_tokens, (Tokens{650, 64, 128, 200, 1000, 64}));
    EXPECT_EQ(trace.output_tokens, (Tokens{5, 9, 6, 7, 8, 4}));
    EXPECT_EQ(trace.session_names,
              (std::vector<std::string>{"a", "a/agent_001", "a/agent_002", "b"}));
    EXPECT_EQ(trace.session, (Tokens{0, 3, 1, 1, 0, 2}));
    EXPECT_EQ(trace.rows_in_file, 6U) << "an agent's start is no call";
    EXPECT_EQ(trace.content.block_tokens, 64U);
    EXPECT_EQ(piece_tokens(trace, 0), (Tokens{640}));
    EXPECT_EQ(piece_tokens(trace, 3), (Tokens{128, 64}));
    EXPECT_EQ(piece_tokens(trace, 4), (Tokens{640, 320}));
    EXPECT_EQ(trace.content.of(0)[0].key, trace.content.of(4)[0].key);
    EXPECT_NE(trace.content.of(0)[0].key, trace.content.of(1)[0].key)
        << "another session's block 1";
    EXPECT_EQ(trace.changes,
              (std::vector<std::string>{
                  "the trace has times within sessions only; sessions begin together, at instant 0 "
                  "(trace.session_arrivals spreads them)"}));
    const TraceSummary summary = summarize_trace(trace);
    EXPECT_EQ(summary.prefix->blocks, 32U);
    EXPECT_EQ(summary.prefix->blocks_hit, 12U);
    EXPECT_EQ(summary.sessions->names, 4U);
  }
}

TEST_F(ClaudeCode, SessionsBeginAsTheArrivalProcessSays) {
  const TraceOptions spread = {.session_arrivals = ConstantArrivals{.rate_rps = 0.5}};
  for (const std::string& content : {kTable, kSessions}) {
    const Trace trace = read(content, spread);
    EXPECT_EQ(trace.arrival_ns, (Instants{2'000'000'000, 4'500'000'000, 8'000'000'000,
                                          9'500'000'000, 13'000'000'001, 13'750'000'000}))
        << "the first session after 2 s, the second after 4 s";
  }
  folder_.write("plain.csv", "arrival_time,prompt_tokens,output_tokens\n0,1,1\n");
  TraceOptions options = spread;
  options.file = folder_ / "plain.csv";
  EXPECT_EQ(read_trace(options, "", 0).error().message,
            "trace.session_arrivals: expected no such key with format inferscale, whose times are "
            "the whole trace's");
}

// The third prompt parts from the second after 3 blocks, within the first one's 5; the fourth goes
// back to the first one's fourth block.
TEST_F(ClaudeCode, PromptsThatGoBackShareWhatTheRowsSay) {
  const Trace trace =
      read(kHeader + row("a", "main", "0", "n,320,1,5,0,0") +
           row("a", "main", "1", "n,640,1,10,5,5") + row("a", "main", "2", "n,448,1,7,3,3") +
           row("a", "main", "3", "n,384,1,6,3,4") + row("a", "main", "4", "n,384,1,6,6,6"));
  EXPECT_EQ(piece_tokens(trace, 0), (Tokens{192, 64, 64}));
  EXPECT_EQ(piece_tokens(trace, 1), (Tokens{192, 64, 64, 320}));
  EXPECT_EQ(piece_tokens(trace, 2), (Tokens{192, 256}));
  EXPECT_EQ(piece_tokens(trace, 3), (Tokens{192, 64, 128}));
  EXPECT_EQ(trace.content.of(3)[1].key, trace.content.of(1)[1].key);
  EXPECT_EQ(piece_tokens(trace, 4), piece_tokens(trace, 3));
  const TraceSummary summary = summarize_trace(trace);
  EXPECT_EQ(summary.prefix->blocks_hit, 0U + 5 + 3 + 4 + 6);
}

TEST_F(ClaudeCode, FailedCallsAreLeftOutButTheirPromptsAreKnown) {
  const std::string failed = kHeader + row("a", "main", "0", "n,320,1,5,0,0") +
                             row("a", "main", "1", "n,640,0,10,5,5") +
                             row("a", "main", "2", "n,700,3,10,10,10");
  EXPECT_EQ(error_of(failed),
            "calls:3: out_tokens: '0': expected at least 1 token (a failed call; "
            "trace.skip_failed: true leaves such rows out and counts them)");
  const Trace trace = read(failed, {.skip_failed = true});
  EXPECT_EQ(trace.rows_failed, 1U);
  EXPECT_EQ(piece_tokens(trace, 1), (Tokens{320, 320}));
}

TEST_F(ClaudeCode, TablesAreStrict) {
  const auto error = [&](const std::string& bad) {
    return error_of(kHeader + row("a", "main", "5", "n,650,5,10,0,0") + bad);
  };
  EXPECT_EQ(error(row("a", "main/x", "6", "n,650,5,10,0,0")),
            "calls:3: agent: 'main/x': expected main, or an agent of this trace that a row of type "
            "spawn names further up");
  EXPECT_EQ(error(row("a", "main", "6", "q,650,5,10,0,0")),
            "calls:3: type: 'q': expected n or s (a call, at once or streamed), or spawn");
  EXPECT_EQ(error(row("a", "main", "4", "n,650,5,10,0,0")),
            "calls:3: t_s: '4': 1.000000000 s before the row above it of the same agent: expected "
            "rows in order of arrival (trace.sort: true puts them in order)");
  EXPECT_EQ(error(row("a", "main", "-1", "n,650,5,10,0,0")),
            "calls:3: t_s: '-1': expected seconds from 0 to 9000000000, as a decimal number");
  EXPECT_EQ(error(row("a", "main", "9e9", "n,650,5,10,0,0")), "no error");
  EXPECT_EQ(error(row("a", "main", "6", "n,650,5,11,0,0")),
            "calls:3: n_blocks64: '11': expected a whole number from 10 to 10, the whole blocks of "
            "64 tokens");
  EXPECT_EQ(
      error(row("a", "main", "6", "n,650,5,10,11,11")),
      "calls:3: shared_prefix_blocks_prev: '11': expected a whole number from 0 to 10, blocks "
      "of this prompt and of the one above");
  EXPECT_EQ(error(row("a", "main", "6", "n,650,5,10,8,7")),
            "calls:3: blocks_seen_before: '7': expected a whole number from 8 to 10, from "
            "shared_prefix_blocks_prev to the prompt's blocks");
  EXPECT_EQ(error(row("a", "main", "6", "n,650,5,10,8,9")),
            "calls:3: blocks_seen_before: '9': expected shared_prefix_blocks_prev, because no "
            "earlier prompt of this agent is that long and shares just that with the one above");
  EXPECT_EQ(error(row("a", "main", "6", "spawn,,,,,", "")),
            "calls:3: stop_or_subagent: '': expected the name of the agent that starts, 1 to 256 "
            "bytes of UTF-8 text");
  EXPECT_EQ(error(spawn("a", "main", "6", "x", "") + spawn("a", "main", "7", "x", "")),
            "calls:4: stop_or_subagent: 'x': expected an agent that has not started yet");
  EXPECT_EQ(error(spawn("a", "main", "6", "x", "-1")),
            "calls:3: output_types_or_duration_ms: '-1': expected milliseconds from 0 to "
            "1000000000000, as a decimal number");
  EXPECT_EQ(error(row("", "main", "6", "n,650,5,10,0,0")),
            "calls:3: trace_id: '': expected 1 to 256 bytes of UTF-8 text");
  EXPECT_EQ(error(row("a", "main", "6", "n,0,5,0,0,0")),
            "calls:3: in_tokens: '0': expected a whole number from 1 to 10000000");
  EXPECT_EQ(error(row("a", "main", "6", "n,650,x,10,0,0")),
            "calls:3: out_tokens: 'x': expected a whole number from 1 to 10000000");
}

const std::string kCall = R"({"t":0,"type":"n","in":64,"out":9,"hash_ids":[1]})";

std::string session_of(const std::string& requests) {
  return R"({"id":"a","block_size":64,"hash_id_scope":"local","requests":[)" + requests + "]}\n";
}

TEST_F(ClaudeCode, SessionsHaveTheirKinds) {
  const auto error = [&](const std::string& requests) { return error_of(session_of(requests)); };
  const std::string at = "calls:1: ";
  EXPECT_EQ(error(kCall), "no error");
  EXPECT_EQ(error(R"({"t":"0","type":"n"})"), at + "requests[0].t: text: expected a number");
  EXPECT_EQ(error(R"({"t":[0]})"), at + "requests[0].t: a list: expected a number");
  EXPECT_EQ(error(R"({"t":null})"), at + "requests[0].t: null: expected a number");
  EXPECT_EQ(error(R"({"hash_ids":7})"),
            at + "requests[0].hash_ids: '7': expected a list of whole numbers");
  EXPECT_EQ(error(R"({"hash_ids":[7,-1]})"),
            at + "requests[0].hash_ids: '-1': expected a list of whole numbers");
  EXPECT_EQ(error(R"({"hash_ids":[{}]})"),
            at + "requests[0].hash_ids: an object: expected a list of whole numbers");
  EXPECT_EQ(error(kCall + ",5"), at + "requests: '5': expected a list of objects");
  EXPECT_EQ(error(R"({"t":1,"t":1})"), at + "requests[0].t: the key is there twice");
  EXPECT_EQ(error(R"({"tt":1})"),
            at + "requests[0]: unknown key 'tt': expected type, t, in, out, hash_ids, agent_id, "
                 "requests, model, input_types, output_types, stop, api_time, think_time, ttft, "
                 "subagent_type, duration_ms, status, models, tool_tokens, system_tokens, "
                 "tool_use_count, total_tokens");
  EXPECT_EQ(error(kCall + R"(,{"t":0,"type":"n","in":64,"hash_ids":[1]})"),
            at + "requests[1]: no key 'out'");
}

TEST_F(ClaudeCode, CallsOfSessionsAreStrict) {
  const auto error = [&](const std::string& requests) { return error_of(session_of(requests)); };
  const std::string at = "calls:1: ";
  EXPECT_EQ(error(R"({"t":0,"type":"x","in":64,"out":1,"hash_ids":[1]})"),
            at + "requests[0].type: 'x': expected n or s (a call, at once or streamed), or "
                 "subagent");
  EXPECT_EQ(error(R"({"t":0,"type":"n","in":64,"out":1,"hash_ids":[1],"agent_id":"x"})"),
            at + "requests[0].agent_id: expected no such key beside type n");
  EXPECT_EQ(error(R"({"t":0,"type":"subagent","agent_id":"x","requests":[)"
                  R"({"t":0,"type":"n","in":0,"out":1,"hash_ids":[]}]})"),
            at + "requests[0].requests[0].in: '0': expected a whole number from 1 to 10000000");
  EXPECT_EQ(error(R"({"t":0,"type":"n","in":200,"out":1,"hash_ids":[1]})"),
            at + "requests[0].hash_ids: '1 ids': expected 3, one for each whole block of 64 of the "
                 "200 prompt tokens");
  EXPECT_EQ(error(R"({"t":-1,"type":"n","in":64,"out":1,"hash_ids":[1]})"),
            at + "requests[0].t: '-1': expected seconds from 0 to 9000000000");
  EXPECT_EQ(error(R"({"t":0,"type":"n","in":64,"out":0,"hash_ids":[1]})"),
            at + "out: '0': expected at least 1 token (a failed call; trace.skip_failed: true "
                 "leaves such rows out and counts them)");
}

TEST_F(ClaudeCode, AgentsOfSessionsAreStrict) {
  const auto agent = [&](const std::string& time, const std::string& ran) {
    return error_of(session_of(R"({"t":)" + time + R"(,"type":"subagent","agent_id":"x",)" +
                               R"("duration_ms":)" + ran + R"(,"requests":[]},)" + kCall));
  };
  EXPECT_EQ(agent("5", "1500.25"), "no error");
  EXPECT_EQ(agent("5", "-1"),
            "calls:1: requests[0].duration_ms: '-1': expected milliseconds from 0 to "
            "1000000000000, as a decimal number");
  EXPECT_EQ(agent("-5", "1"),
            "calls:1: requests[0].t: '-5': expected seconds from 0 to 9000000000");
}

// Nested agents, and one that by its figures began before the session did.
TEST_F(ClaudeCode, AgentsBeginAsLongBeforeTheirEndAsTheyRan) {
  const Trace trace =
      read(kHeader + row("a", "main", "0", "n,64,1,1,0,0") +
           spawn("a", "main", "20", "x", "10000") + row("a", "main/x", "1", "n,65,1,1,0,0") +
           spawn("a", "main/x", "9", "y", "2500.5") + row("a", "main/x/y", "0", "n,66,1,1,0,0") +
           spawn("a", "main", "3", "z", "4000") + row("a", "main/z", "0", "n,67,1,1,0,0"));
  EXPECT_EQ(trace.prompt_tokens, (Tokens{64, 67, 65, 66}));
  EXPECT_EQ(trace.arrival_ns, (Instants{0, 0, 11'000'000'000, 16'499'500'000}));
}

TEST_F(ClaudeCode, LinesOfSessionsAreStrict) {
  const std::string at = "calls:1: ";
  const std::string good = session_of(kCall);
  EXPECT_EQ(error_of(good + good), "calls:2: id: 'a': expected one line for each session");
  EXPECT_EQ(error_of(good + "7\n"), "calls:2: the line is '7': expected a JSON object");
  EXPECT_EQ(error_of(good + "{\"id\":\"b\"}\n"), "calls:2: no key 'block_size'");
  EXPECT_EQ(error_of(good + "{\"idd\":\"b\"}\n"),
            "calls:2: unknown key 'idd': expected id, block_size, hash_id_scope, requests, models, "
            "tool_tokens, system_tokens, totals");
  EXPECT_TRUE(error_of(good + "{\"id\":\n").starts_with("calls:2: not JSON from byte"));
  EXPECT_EQ(error_of(R"({"id":"a","block_size":0,"hash_id_scope":"local","requests":[]})"),
            at + "block_size: '0': expected a whole number from 1 to 10000000");
  EXPECT_EQ(error_of(R"({"id":"a","block_size":64,"hash_id_scope":"global","requests":[]})"),
            at + "hash_id_scope: 'global': expected local");
  EXPECT_EQ(error_of(good + R"({"id":"b","block_size":32,"hash_id_scope":"local","requests":[]})"),
            "calls:2: block_size: '32': expected 64, as in the lines above");
}

}  // namespace
}  // namespace inferscale

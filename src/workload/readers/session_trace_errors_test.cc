// What is wrong with session traces, by file, line, column or key, value, and what was expected.

#include <gtest/gtest.h>

#include <string>

#include "base/edge/test_folder.h"
#include "workload/readers/session_trace_reader.h"

namespace inferscale {
namespace {

class SessionTraceErrors : public testing::Test {
 protected:
  std::string error_of(const std::string& content, const SessionTraceOptions& options = {}) {
    const Result<Programs> programs = read_session_trace(options, folder_.write("s", content));
    if (programs) return "no error";
    return programs.error().to_string().substr((folder_ / "").size());
  }
  TestFolder folder_;
};

TEST_F(SessionTraceErrors, FilesOfNoKnownKind) {
  EXPECT_TRUE(error_of("").starts_with("s: empty file: expected the header trace_id,agent"));
  EXPECT_TRUE(error_of("a,b\n1,2\n")
                  .starts_with("s:1: unknown kind of session trace: the first line is 'a,b'"));
  EXPECT_TRUE(error_of("{\"a\":1}\n").starts_with("s:1: unknown kind of session trace"));
  EXPECT_TRUE(error_of("{\"a\":1}\n", {.format = SessionTraceFormat::kTraceLabJsonl})
                  .starts_with("s:1: no key 'session_id'"));
  const Result<Programs> absent = read_session_trace({}, folder_ / "absent");
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
}

const std::string kHeader =
    "trace_id,agent,t_s,type,in_tokens,out_tokens,n_blocks64,shared_prefix_blocks_prev,"
    "blocks_seen_before,api_time_s,stop_or_subagent,output_types_or_duration_ms\n";

TEST_F(SessionTraceErrors, TablesAreStrict) {
  const auto error = [&](const std::string& row) {
    return error_of(kHeader + "a,main,5,n,650,5,10,0,0,1,tool_use,text\n" + row + "\n");
  };
  EXPECT_EQ(error("a,main,4,n,650,5,10,0,0,1,tool_use,text"),
            "s:3: t_s: '4': expected not before the row above it of the same agent");
  EXPECT_EQ(error("a,main,-4,n,650,5,10,0,0,1,tool_use,text"),
            "s:3: t_s: '-4': expected seconds from 0 to 1000000000, as a decimal number");
  EXPECT_EQ(error("a,main,6,n,650,5,10,0,0,x,tool_use,text"),
            "s:3: api_time_s: 'x': expected seconds from 0 to 1000000000, as a decimal number");
  EXPECT_EQ(error("a,main,6,spawn,,,,,,,x,text"),
            "s:3: output_types_or_duration_ms: 'text': expected milliseconds from 0 to "
            "1000000000000, as a decimal number");
  EXPECT_EQ(error("a,main,6,spawn,,,,,,,,5"),
            "s:3: stop_or_subagent: '': expected the name of the agent that starts, 1 to 256 bytes "
            "of UTF-8 text");
  EXPECT_EQ(error("a,main/x,6,n,650,5,10,0,0,1,tool_use,text"),
            "s:3: agent: 'main/x': expected main, or an agent of this trace that a row of type "
            "spawn names further up");
  EXPECT_EQ(error("a,main,6,n,650,-1,10,0,0,1,tool_use,text"),
            "s:3: out_tokens: '-1': expected a whole number from 0 (a failed call) to 10000000");
  EXPECT_EQ(error("a,main,6,q,650,5,10,0,0,1,tool_use,text"),
            "s:3: type: 'q': expected n or s (a call, at once or streamed), or spawn");
  EXPECT_EQ(error("a,main,6,n,650,5,11,0,0,1,tool_use,text"),
            "s:3: n_blocks64: '11': expected a whole number from 10 to 10, the whole blocks of 64 "
            "tokens");
  EXPECT_EQ(error_of(kHeader + "a,main,5,n,650,0,10,0,0,1,tool_use,text\n"),
            "s: no sessions: expected at least one with a call");
}

TEST_F(SessionTraceErrors, LinesOfClaudeCodeAreStrict) {
  const auto error = [&](const std::string& requests) {
    return error_of(R"({"id":"a","block_size":64,"hash_id_scope":"local","requests":[)" + requests +
                    "]}\n");
  };
  const std::string call = R"({"t":5,"type":"n","in":64,"out":9,"hash_ids":[1])";
  EXPECT_EQ(error(call + "}"), "no error");
  EXPECT_EQ(error(call + R"(,"api_time":"x"})"),
            "s:1: requests[0].api_time: text: expected a number or null");
  EXPECT_EQ(error(call + R"(,"stop":3})"), "s:1: requests[0].stop: '3': expected text or null");
  EXPECT_EQ(error(call + R"(,"api_time":-1})"),
            "s:1: requests[0].api_time: '-1': expected seconds from 0 to 1000000000, as a decimal "
            "number");
  EXPECT_EQ(error(call + R"(},{"t":4,"type":"n","in":64,"out":9,"hash_ids":[1]})"),
            "s:1: requests[1].t: '4': expected not before the call above it of the same agent");
  EXPECT_EQ(error(R"({"t":4,"type":"n","in":200,"out":9,"hash_ids":[1]})"),
            "s:1: requests[0].hash_ids: '1 ids': expected 3, one for each whole block of 64 of the "
            "200 prompt tokens");
  EXPECT_EQ(error(R"({"t":4,"type":"subagent","agent_id":"x","duration_ms":-2,"requests":[]})"),
            "s:1: requests[0].duration_ms: '-2': expected milliseconds from 0 to 1000000000000, as "
            "a decimal number");
  EXPECT_EQ(error(""), "s: no sessions: expected at least one with a call");
}

TEST_F(SessionTraceErrors, LinesOfSessionCallsAreStrict) {
  const auto error = [&](const std::string& calls) {
    return error_of(R"({"session_id":"a","arrival_time_ns":0,"sub_requests":[)" + calls + "]}\n");
  };
  EXPECT_EQ(error(R"({"input_toks":1,"output_toks":1})"), "no error");
  EXPECT_EQ(error(""), "s:1: sub_requests: '0 calls': expected at least one object");
  EXPECT_EQ(error("7"), "s:1: sub_requests: '1 calls': expected at least one object");
  EXPECT_EQ(error("null"), "s:1: sub_requests[0]: null: expected an object");
  EXPECT_EQ(error(R"({"input_toks":1})"), "s:1: sub_requests[0]: no key 'output_toks'");
  EXPECT_EQ(error(R"({"input_toks":1,"output_toks":"1"})"),
            "s:1: sub_requests[0].output_toks: '1': expected a number");
  EXPECT_EQ(error(R"({"input_toks":1,"output_toks":0})"),
            "s:1: sub_requests[0].output_toks: '0': expected a whole number from 1 to 10000000");
  EXPECT_EQ(error(R"({"input_toks":1,"output_toks":1,"tool":2})"),
            "s:1: sub_requests[0]: unknown key 'tool': expected input_toks, input_tok_ids, "
            "output_toks, output_tok_ids, tool_duration_ns");
  EXPECT_EQ(error(R"({"input_toks":2,"output_toks":1,"input_tok_ids":[1]})"),
            "s:1: sub_requests[0].input_tok_ids: '1 ids': expected as many whole numbers as "
            "input_toks, 2");
  EXPECT_EQ(error(R"({"input_toks":2,"output_toks":1,"input_tok_ids":[1,"x"]})"),
            "s:1: a list of whole numbers holds something else");
  EXPECT_EQ(error(R"({"input_toks":2,"output_toks":1,"tool_duration_ns":-1})"),
            "s:1: sub_requests[0].tool_duration_ns: '-1': expected nanoseconds from 0 to 1e18");
  EXPECT_EQ(error(R"({"input_toks":2,"input_toks":2})"),
            "s:1: 'input_toks': the key is there twice");
  const std::string good =
      R"({"session_id":"a","arrival_time_ns":0,"sub_requests":[{"input_toks":1,"output_toks":1}]})"
      "\n";
  EXPECT_EQ(error_of(good + good), "s:2: session_id: 'a': expected one line for each session");
  EXPECT_EQ(error_of(good + R"({"input_toks":1,"output_toks":1,"arrival_time_ns":0})"),
            "s:2: no key 'session_id'");
  EXPECT_EQ(error_of(good + "[1]"), "s:2: the line is a list: expected a JSON object");
  EXPECT_EQ(error_of(good + "5"), "s:2: the line is '5': expected a JSON object");
  EXPECT_TRUE(error_of(good + "{\"a\":").starts_with("s:2: not JSON from byte"));
  EXPECT_EQ(error_of(good + "\n" + good), "s:2: an empty line between rows: expected a row");
  std::string deep(40, '[');
  EXPECT_EQ(error_of(good + "{\"a\":" + deep), "s:2: more than 32 levels: expected fewer");
}

TEST_F(SessionTraceErrors, LinesOfTraceLabAreStrict) {
  const auto error = [&](const std::string& total, const std::string& events,
                         const std::string& tools) {
    return error_of(
        R"({"session_id":"a","round_index":0,"prefix_tokens":5,"newly_append_tokens":5,)"
        R"("output_tokens":1,"input_tokens_total":)" +
        total + R"(,"timing_events":[)" + events + R"(],"tools":[)" + tools + "]}\n");
  };
  EXPECT_EQ(error("10", "", ""), "no error");
  EXPECT_EQ(error("11", "", ""),
            "s:1: input_tokens_total: '11': expected at least 1, and prefix_tokens + "
            "newly_append_tokens = 10");
  EXPECT_EQ(error("1.5", "", ""),
            "s:1: input_tokens_total: '1.5': expected a whole number from 0 to 10000000");
  EXPECT_EQ(error("10", R"({"event_type":"text"})", ""),
            "s:1: timing_events[0]: no key 'timestamp'");
  EXPECT_EQ(error("10", R"({"event_type":"text","timestamp":"noon"})", ""),
            "s:1: timing_events[0].timestamp: 'noon': expected YYYY-MM-DDThh:mm:ss.fffZ");
  EXPECT_EQ(error("10", "", R"({"tool_wall_latency_ms":-1})"),
            "s:1: tools[0].tool_wall_latency_ms: '-1': expected milliseconds from 0 to 1e12");
  EXPECT_TRUE(error("10", "", R"({"latency":1})")
                  .starts_with("s:1: tools[0]: unknown key 'latency': expected"));
}

TEST_F(SessionTraceErrors, LinesOfMooncakeAreStrict) {
  EXPECT_EQ(error_of(R"({"timestamp":0,"input_length":512,"output_length":1,"hash_ids":[]})"),
            "s:1: hash_ids: 0 ids: expected 1, one for each block of 512 of the 512 prompt tokens");
}

}  // namespace
}  // namespace inferscale

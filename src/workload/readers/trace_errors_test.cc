// Malformed traces: each is one error with file, line, column, value and what was expected.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/edge/test_folder.h"
#include "workload/readers/trace_reader.h"

namespace inferscale {
namespace {

class TraceErrors : public testing::Test {
 protected:
  // The error without the folder's name.
  std::string error_of(const std::string& content, TraceOptions options = {}) {
    const std::string path = folder_.write("t.csv", content);
    options.file = path;
    return without_folder(read_trace(options, "", 0));
  }
  std::string without_folder(const Result<Trace>& trace) {
    if (trace) return "no error";
    std::string text = trace.error().to_string();
    const std::string prefix = folder_ / "";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }
  // An error in the second row of a trace in the project's own format.
  std::string row_error(const std::string& row, TraceOptions options = {}) {
    return error_of("arrival_time,prompt_tokens,output_tokens\n1,2,3\n" + row + "\n4,5,6\n",
                    options);
  }
  TestFolder folder_;
};

TEST_F(TraceErrors, NameTheColumnTheValueAndWhatWasExpected) {
  const std::string tokens = ": expected a whole number from 1 to 10000000";
  const std::string time = ": expected seconds from 0 to 9000000000, as a decimal number";
  EXPECT_EQ(row_error("x,2,3"), "t.csv:3: arrival_time: 'x'" + time);
  EXPECT_EQ(row_error("-1,2,3"), "t.csv:3: arrival_time: '-1'" + time);
  EXPECT_EQ(row_error("nan,2,3"), "t.csv:3: arrival_time: 'nan'" + time);
  EXPECT_EQ(row_error("inf,2,3"), "t.csv:3: arrival_time: 'inf'" + time);
  EXPECT_EQ(row_error("1e308,2,3"), "t.csv:3: arrival_time: '1e308'" + time);
  EXPECT_EQ(row_error(",2,3"), "t.csv:3: arrival_time: ''" + time);
  EXPECT_EQ(row_error("1,0,3"), "t.csv:3: prompt_tokens: '0'" + tokens);
  EXPECT_EQ(row_error("1,-7,3"), "t.csv:3: prompt_tokens: '-7'" + tokens);
  EXPECT_EQ(row_error("1,2.5,3"), "t.csv:3: prompt_tokens: '2.5'" + tokens);
  EXPECT_EQ(row_error("1,4294967297,3"), "t.csv:3: prompt_tokens: '4294967297'" + tokens);
  EXPECT_EQ(row_error("1,2,NaN"), "t.csv:3: output_tokens: 'NaN'" + tokens);
  EXPECT_EQ(row_error("1,2,-1"), "t.csv:3: output_tokens: '-1'" + tokens);
  EXPECT_EQ(row_error("1,2"), "t.csv:3: 2 cells: expected 3, one for each column of the header");
  EXPECT_EQ(row_error("1,2,3,4"),
            "t.csv:3: 4 cells: expected 3, one for each column of the header");
  EXPECT_EQ(row_error(""), "t.csv:3: an empty line between rows: expected a row");
  EXPECT_TRUE(row_error("\"1,2,3").starts_with("t.csv:3: a quotation mark is not closed"));
}

TEST_F(TraceErrors, ZeroOutputTokensAreAFailedCallThatNobodyAskedToSkip) {
  EXPECT_EQ(row_error("1,2,0"),
            "t.csv:3: output_tokens: '0': expected at least 1 token (a failed call; "
            "trace.skip_failed: true leaves such rows out and counts them)");
  EXPECT_EQ(row_error("1,2,0", {.by_flags = true}),
            "t.csv:3: output_tokens: '0': expected at least 1 token (a failed call; "
            "--skip-failed leaves such rows out and counts them)");
  EXPECT_EQ(row_error("1,2,0", {.skip_failed = true}), "no error");
  EXPECT_EQ(error_of("arrival_time,prompt_tokens,output_tokens\n1,2,0\n", {.skip_failed = true}),
            "t.csv: no rows, all 1 are failed calls: expected at least one");
}

TEST_F(TraceErrors, RowsOutOfOrderNameTheLine) {
  EXPECT_EQ(row_error("0.5,2,3"),
            "t.csv:3: arrival_time: '0.5': 0.500000000 s before the row above it: expected rows in "
            "order of arrival (trace.sort: true puts them in order)");
  EXPECT_EQ(row_error("0.5,2,3", {.by_flags = true}),
            "t.csv:3: arrival_time: '0.5': 0.500000000 s before the row above it: expected rows in "
            "order of arrival (--sort puts them in order)");
  EXPECT_EQ(row_error("0.5,2,3", {.sort = true}), "no error");
}

TEST_F(TraceErrors, HeadersAreStrict) {
  const std::string known =
      ": expected arrival_time, prompt_tokens, output_tokens, tenant (optional), session "
      "(optional), priority (optional), deadline_ms (optional)";
  EXPECT_EQ(error_of("arrival_time,prompt_tokens,output_tokens,tennant\n1,2,3,4\n"),
            "t.csv:1: header: unknown column 'tennant'" + known);
  EXPECT_EQ(error_of("arrival_time,prompt_tokens\n1,2\n"),
            "t.csv:1: header: no column 'output_tokens'" + known);
  EXPECT_EQ(error_of("arrival_time,prompt_tokens,output_tokens,prompt_tokens\n1,2,3,4\n"),
            "t.csv:1: header: column 'prompt_tokens' is there twice");
  EXPECT_TRUE(error_of("TIMESTAMP,ContextTokens\n")
                  .starts_with("t.csv:1: header: no column 'GeneratedTokens'"));
  EXPECT_TRUE(
      error_of("TIMESTAMP,ContextTokens,GeneratedTokens\n", {.format = TraceFormat::kBurstGpt})
          .starts_with("t.csv:1: header: unknown column 'TIMESTAMP': expected Timestamp"));
}

TEST_F(TraceErrors, OptionalColumnsAreStrictToo) {
  const auto error = [&](const std::string& column, const std::string& value) {
    return error_of("arrival_time,prompt_tokens,output_tokens," + column + "\n1,2,3," + value +
                    "\n");
  };
  EXPECT_EQ(
      error("priority", "high"),
      "t.csv:2: priority: 'high': expected a whole number from -1000000 to 1000000, or nothing");
  EXPECT_EQ(error("deadline_ms", "0"),
            "t.csv:2: deadline_ms: '0': expected milliseconds greater than 0 and at most 1e12, or "
            "nothing");
  EXPECT_EQ(error("tenant", "\xff"),
            "t.csv:2: tenant: '?': expected at most 256 bytes of UTF-8 text");
  EXPECT_EQ(error("session", "\x1b[31m"),
            "t.csv:2: session: '?[31m': expected at most 256 bytes of UTF-8 text");
}

TEST_F(TraceErrors, SessionsWithoutTimesAreForAnotherReader) {
  EXPECT_EQ(error_of("{\"session_id\": \"a\", \"round_index\": 0}\n"),
            "t.csv:1: agent sessions (tracelab_jsonl), no trace of single requests: expected "
            "workload.sessions.trace, and the command agents");
  EXPECT_EQ(error_of("{\"session_id\": \"a\", \"sub_requests\": []}\n", {.by_flags = true}),
            "t.csv:1: agent sessions (session_calls_jsonl), no trace of single requests: expected "
            "`inferscale trace sessions`, which shows what they hold");
  // A format that was named is believed.
  EXPECT_TRUE(error_of("{\"round_index\": 0}\n", {.format = TraceFormat::kMooncake})
                  .starts_with("t.csv:1: unknown key 'round_index': expected timestamp"));
}

TEST_F(TraceErrors, FilesThatAreNoTraces) {
  EXPECT_TRUE(error_of("").starts_with("t.csv: empty file: expected the header arrival_time"));
  EXPECT_EQ(error_of("arrival_time,prompt_tokens,output_tokens\n"),
            "t.csv: no rows: expected at least one");
  EXPECT_EQ(error_of("arrival_time,prompt_tokens,output_tokens\n\n\n"),
            "t.csv: no rows: expected at least one");
  EXPECT_TRUE(error_of("\n1,2,3\n").starts_with("t.csv:1: unknown kind of trace"));
  EXPECT_TRUE(error_of("hello\n").starts_with(
      "t.csv:1: unknown kind of trace: the first line is 'hello': expected the header"));
  EXPECT_TRUE(error_of("\x89PNG\r\n\x1a\n").starts_with("t.csv:1: unknown kind of trace"));
  EXPECT_EQ(error_of(std::string("ab\0cd\n", 6)),
            "t.csv:1: a NUL byte: expected a text file in UTF-8");
  EXPECT_EQ(without_folder(read_trace({.file = folder_ / "none.csv"}, "", 0)),
            "none.csv: cannot be opened: No such file or directory");
  EXPECT_EQ(read_trace({.file = folder_ / ""}, "", 0).error().message,
            "is a folder: expected a file");
}

TEST_F(TraceErrors, AzureTimesAreDatesInUtc) {
  EXPECT_EQ(error_of("TIMESTAMP,ContextTokens,GeneratedTokens\n"
                     "2023-11-16 18:17:03.97,1,2\n2023-11-16 18:17:99.97,1,2\n"),
            "t.csv:3: TIMESTAMP: '2023-11-16 18:17:99.97': expected a UTC time such as 2023-11-16 "
            "18:17:03.9799600 (optionally with +00:00), 1970 to 2200");
}

TEST_F(TraceErrors, MooncakeObjectsAreStrict) {
  const std::string good =
      R"({"timestamp": 5, "input_length": 3, "output_length": 5, "hash_ids": [0]})";
  const auto error = [&](const std::string& line) { return error_of(good + "\n" + line + "\n"); };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"timestamp": 5)", "not JSON from byte"},
      {R"([1, 2])", "the line is a list: expected a JSON object"},
      {R"(7)", "the line is '7': expected a JSON object"},
      {R"("timestamp")", "the line is text: expected a JSON object"},
      {R"({"timestamp": 5, "input_length": 3, "output_length": 5})", "no key 'hash_ids'"},
      {R"({"timestamp": 5, "timestamp": 6})", "key 'timestamp' is there twice"},
      {R"({"chat_id": 5})", "unknown key 'chat_id': expected timestamp, input_length"},
      {R"({"timestamp": "5"})", "timestamp: text: expected a number"},
      {R"({"timestamp": [5]})", "timestamp: a list: expected a number"},
      {R"({"timestamp": null})", "timestamp: null: expected a number"},
      {R"({"timestamp": {"a": 1}})", "timestamp: an object: expected a number"},
      {R"({"hash_ids": 5})", "hash_ids: '5': expected a list of whole numbers"},
      {R"({"hash_ids": [-5]})", "hash_ids: '-5': expected a list of whole numbers"},
      {R"({"hash_ids": [[5]]})", "hash_ids: a list: expected a list of whole numbers"},
      {R"({"hash_ids": [1.5]})", "hash_ids: '1.5': expected a list of whole numbers"},
      {R"({"timestamp": -5, "input_length": 3, "output_length": 5, "hash_ids": [0]})",
       "timestamp: '-5': expected milliseconds from 0"},
      {R"({"timestamp": 1e308, "input_length": 3, "output_length": 5, "hash_ids": [0]})",
       "timestamp: '1e308': expected milliseconds from 0"},
      {R"({"timestamp": 1e999, "input_length": 3, "output_length": 5, "hash_ids": [0]})",
       "not JSON from byte"},
      {R"({"timestamp": 4, "input_length": 3, "output_length": 5, "hash_ids": [0]})",
       "timestamp: '4': 0.001000000 s before the row above it"},
      {R"({"timestamp": 5, "input_length": 0, "output_length": 5, "hash_ids": []})",
       "input_length: '0': expected a whole number from 1"},
      {R"({"timestamp": 5, "input_length": 3, "output_length": 0, "hash_ids": [0]})",
       "output_length: '0': expected at least 1 token"},
      {R"({"timestamp": 5, "input_length": 1025, "output_length": 5, "hash_ids": [0]})",
       "hash_ids: 1 ids: expected 3, one for each block of 512 of the 1025 prompt tokens"},
      {good + good, "not JSON from byte"},
  };
  for (const auto& [line, wanted] : cases) {
    const std::string got = error(line);
    EXPECT_TRUE(got.starts_with("t.csv:2: " + wanted)) << line << "\n  gave " << got;
  }
}

}  // namespace
}  // namespace inferscale

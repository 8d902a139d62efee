// The real traces in the data folder, whole: rows, totals, checksums and quantiles.
//
// Expected totals and checksums were counted with awk and Python's csv, json and zlib; quantiles,
// variation and hit rates are those of the data folder's README. Skipped where the folder isn't.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>

#include "base/edge/input_file.h"
#include "base/edge/test_folder.h"
#include "workload/readers/trace_reader.h"
#include "workload/trace_summary.h"

namespace inferscale {
namespace {

std::string traces_folder() {
  const char* data = std::getenv("INFERSCALE_DATA");
  const std::filesystem::path root = INFERSCALE_SOURCE_DIR;
  const std::filesystem::path folder =
      data != nullptr ? std::filesystem::path(data) : root / ".." / "shared" / "data";
  return (folder / "traces").string();
}

struct Expected {
  const char* file;
  TraceFormat format;
  std::uint64_t rows;
  std::uint32_t crc32;
  std::uint64_t prompt_tokens;
  std::uint64_t output_tokens;
  std::uint32_t prompt_p50;
  std::uint32_t prompt_p90;
  std::uint32_t output_p50;
  std::uint32_t output_p90;
  double rate_rps;
  std::uint64_t distinct_timestamps;
};

// Names the test of a file.
std::ostream& operator<<(std::ostream& out, const Expected& expected) {
  return out << expected.file;
}

class RealTraces : public testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(traces_folder())) {
      GTEST_SKIP() << "no data folder: set INFERSCALE_DATA";
    }
  }
};

TEST_P(RealTraces, EveryRowIsAccountedFor) {
  const Expected& expected = GetParam();
  const Result<Trace> trace = read_trace({.file = expected.file}, traces_folder(), 0);
  ASSERT_TRUE(trace) << trace.error().to_string();
  EXPECT_EQ(trace->format, expected.format);
  EXPECT_EQ(trace->rows_in_file, expected.rows);
  EXPECT_EQ(trace->rows(), expected.rows);
  EXPECT_EQ(trace->crc32, expected.crc32);
  EXPECT_TRUE(trace->changes.empty());
  EXPECT_EQ(trace->arrival_ns.front(), 0);
  const TraceSummary summary = summarize_trace(*trace);
  EXPECT_EQ(summary.prompt_tokens.total, expected.prompt_tokens);
  EXPECT_EQ(summary.output_tokens.total, expected.output_tokens);
  EXPECT_EQ(summary.prompt_tokens.p50, expected.prompt_p50);
  EXPECT_EQ(summary.prompt_tokens.p90, expected.prompt_p90);
  EXPECT_EQ(summary.output_tokens.p50, expected.output_p50);
  EXPECT_EQ(summary.output_tokens.p90, expected.output_p90);
  EXPECT_NEAR(*summary.mean_rate_rps, expected.rate_rps, 0.006);
  EXPECT_EQ(summary.distinct_timestamps, expected.distinct_timestamps);
}

INSTANTIATE_TEST_SUITE_P(
    Files, RealTraces,
    testing::Values(Expected{"azure2023_code.csv.gz", TraceFormat::kAzure2023, 8'819, 0xf51d9cb9,
                             18'059'974, 245'896, 1469, 5194, 13, 55, 2.57, 8'819},
                    Expected{"azure2023_conv.csv.gz", TraceFormat::kAzure2023, 19'366, 0x1f9d1153,
                             22'361'870, 4'088'665, 1020, 2735, 129, 424, 5.53, 19'366},
                    Expected{"mooncake_conversation_trace.jsonl.gz", TraceFormat::kMooncake, 12'031,
                             0x68baef71, 144'793'823, 4'122'048, 6'909, 27'367, 350, 597, 3.40,
                             1'180},
                    Expected{"mooncake_synthetic_trace.jsonl.gz", TraceFormat::kMooncake, 3'993,
                             0x836d51cf, 61'194'628, 595'432, 11'587, 38'615, 69, 389, 3.906,
                             3'982}));

TEST_F(RealTraces, AzureArrivalsAreAsBurstyAsTheDataFolderSays) {
  const Result<Trace> code = read_trace({.file = "azure2023_code.csv.gz"}, traces_folder(), 0);
  const Result<Trace> chat = read_trace({.file = "azure2023_conv.csv.gz"}, traces_folder(), 0);
  ASSERT_TRUE(code && chat);
  const TraceSummary bursty = summarize_trace(*code);
  EXPECT_NEAR(*bursty.gap_cv, 13.2, 0.1);
  EXPECT_EQ(bursty.warnings.size(), 1U);
  // 2023-11-16 18:17:03.9799600 to 19:14:19.9280160, by hand.
  EXPECT_EQ(code->arrival_ns.back(), 3'435'948'056'000);
  const TraceSummary plain = summarize_trace(*chat);
  EXPECT_NEAR(*plain.gap_cv, 1.09, 0.01);
  EXPECT_TRUE(plain.warnings.empty());
}

TEST_F(RealTraces, MooncakePrefixesHitAsOftenAsTheDataFolderSays) {
  const Result<Trace> conversation =
      read_trace({.file = "mooncake_conversation_trace.jsonl.gz"}, traces_folder(), 0);
  const Result<Trace> synthetic =
      read_trace({.file = "mooncake_synthetic_trace.jsonl.gz"}, traces_folder(), 0);
  ASSERT_TRUE(conversation && synthetic);
  const TraceSummary real = summarize_trace(*conversation);
  EXPECT_EQ(real.prefix->blocks, 288'500U);
  EXPECT_NEAR(real.prefix->hit_rate, 0.366, 0.0005);
  EXPECT_EQ(real.warnings.size(), 1U) << "3 s ticks";
  const TraceSummary made = summarize_trace(*synthetic);
  EXPECT_EQ(made.prefix->blocks, 121'877U);
  EXPECT_NEAR(made.prefix->hit_rate, 0.640, 0.0005);
  EXPECT_TRUE(made.warnings.empty());
}

// Expected figures by a Python program over the same files that walks sets of (session, hash), and
// for the table adds up its column blocks_seen_before.
TEST_F(RealTraces, ClaudeCodeSessionsShareWhatTheirHashesSay) {
  const Result<Trace> trace =
      read_trace({.file = "claude_code_raw60.jsonl.gz", .skip_failed = true}, traces_folder(), 0);
  ASSERT_TRUE(trace) << trace.error().to_string();
  EXPECT_EQ(trace->format, TraceFormat::kClaudeCodeJsonl);
  EXPECT_EQ(trace->crc32, 0xa2592645U);
  EXPECT_EQ(trace->rows_in_file, 2'565U);
  EXPECT_EQ(trace->rows(), 2'563U);
  const TraceSummary summary = summarize_trace(*trace);
  EXPECT_EQ(summary.prompt_tokens.total, 199'503'075U);
  EXPECT_EQ(summary.output_tokens.total, 1'153'468U);
  EXPECT_EQ(summary.prompt_tokens.p50, 67'133U);
  EXPECT_EQ(summary.prompt_tokens.p90, 129'649U);
  EXPECT_EQ(summary.output_tokens.p90, 963U);
  EXPECT_NEAR(*summary.mean_rate_rps, 0.172618, 1e-6);
  EXPECT_EQ(summary.distinct_timestamps, 1'907U);
  EXPECT_EQ(summary.sessions->names, 70U) << "60 sessions and 10 agents within them";
  EXPECT_EQ(summary.prefix->blocks, 3'115'967U);
  EXPECT_EQ(summary.prefix->blocks_hit, 2'951'987U);
  // Of 3.1 million blocks; this is what a replay's look-ups cost.
  EXPECT_LT(trace->content.pieces.size(), 150'000U);
}

TEST_F(RealTraces, ClaudeCodeCallsShareWhatTheTableSays) {
  const Result<Trace> trace =
      read_trace({.file = "claude_code_requests.csv.gz", .skip_failed = true}, traces_folder(), 0);
  ASSERT_TRUE(trace) << trace.error().to_string();
  EXPECT_EQ(trace->format, TraceFormat::kClaudeCodeCsv);
  EXPECT_EQ(trace->crc32, 0x84a96eb6U);
  EXPECT_EQ(trace->rows_in_file, 46'218U);
  EXPECT_EQ(trace->rows(), 46'191U);
  const TraceSummary summary = summarize_trace(*trace);
  EXPECT_EQ(summary.prompt_tokens.total, 5'461'037'136U);
  EXPECT_EQ(summary.output_tokens.total, 20'339'420U);
  EXPECT_EQ(summary.prompt_tokens.p50, 100'430U);
  EXPECT_EQ(summary.output_tokens.p50, 218U);
  EXPECT_NEAR(*summary.mean_rate_rps, 0.104917, 1e-6);
  EXPECT_EQ(summary.distinct_timestamps, 15'928U);
  EXPECT_EQ(summary.sessions->names, 755U);
  EXPECT_EQ(summary.prefix->blocks, 85'305'852U);
  // The calls that are left out had computed some of the blocks that the table counts as seen.
  EXPECT_LE(summary.prefix->blocks_hit, 82'108'797U);
  EXPECT_GE(summary.prefix->blocks_hit, 82'108'797U - 10'000U);
}

// The table knows no hashes, and nothing of what two agents of a session share. Of the sessions
// whose hashes are known both must share the same but for that: 7 agents begin like another one of
// their session, with 1,164 blocks in all (the Python program again, with sets of (agent, hash)).
TEST_F(RealTraces, ClaudeCodeTableAndSessionsShareTheSameWithinAgents) {
  const Result<Trace> sessions =
      read_trace({.file = "claude_code_raw60.jsonl.gz", .skip_failed = true}, traces_folder(), 0);
  ASSERT_TRUE(sessions) << sessions.error().to_string();
  const std::set<std::string> known(sessions->session_names.begin(), sessions->session_names.end());
  Result<LineReader> lines = LineReader::open(traces_folder() + "/claude_code_requests.csv.gz");
  ASSERT_TRUE(lines);
  std::string line;
  std::string kept;
  while (lines->next(line).value_or(false)) {
    const std::string id = line.substr(0, line.find(','));
    if (id == "trace_id" || known.contains(id)) kept += line + "\n";
  }
  const TestFolder folder;
  const Result<Trace> table =
      read_trace({.file = folder.write("calls.csv", kept), .skip_failed = true}, "", 0);
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_EQ(table->arrival_ns, sessions->arrival_ns);
  const TraceSummary summary = summarize_trace(*table);
  EXPECT_EQ(summary.sessions->names, 70U);
  EXPECT_EQ(summary.prompt_tokens.total, 199'503'075U);
  EXPECT_EQ(summary.prefix->blocks, 3'115'967U);
  EXPECT_EQ(summary.prefix->blocks_hit, 2'951'987U - 1'164U);
}

TEST_F(RealTraces, JitterSpreadsMooncakesTicks) {
  const Result<Trace> trace = read_trace(
      {.file = "mooncake_conversation_trace.jsonl.gz", .jitter = Duration::from_seconds(3)},
      traces_folder(), 1);
  ASSERT_TRUE(trace);
  const TraceSummary summary = summarize_trace(*trace);
  EXPECT_EQ(summary.prompt_tokens.total, 144'793'823U);
  EXPECT_GT(summary.distinct_timestamps, 12'000U);
  EXPECT_LT(*summary.gap_cv, 1.2);
}

}  // namespace
}  // namespace inferscale

// Well-formed traces of each format: rows are preserved exactly and all accounted for.

#include "workload/readers/trace_reader.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/edge/test_folder.h"

namespace inferscale {
namespace {

using Instants = std::vector<std::int64_t>;
using Tokens = std::vector<std::uint32_t>;

class TraceReader : public testing::Test {
 protected:
  Trace read(const std::string& content, TraceOptions options = {}) {
    folder_.write("trace.csv", content);
    options.file = "trace.csv";
    Result<Trace> trace = read_trace(options, folder_ / "", 42);
    EXPECT_TRUE(trace.has_value()) << trace.error().to_string();
    return trace.value_or(Trace());
  }
  TestFolder folder_;
};

TEST_F(TraceReader, TakesTheProjectsOwnFormat) {
  const Trace trace = read(
      "arrival_time,prompt_tokens,output_tokens\n"
      "0.5,512,16\n"
      "1.000000001,1,1\n"
      "1700000000.123456789,10000000,2\n");
  EXPECT_EQ(trace.format, TraceFormat::kInferscale);
  EXPECT_EQ(trace.file_name, "trace.csv");
  EXPECT_EQ(trace.arrival_ns, (Instants{500'000'000, 1'000'000'001, 1'700'000'000'123'456'789}));
  EXPECT_EQ(trace.prompt_tokens, (Tokens{512, 1, 10'000'000}));
  EXPECT_EQ(trace.output_tokens, (Tokens{16, 1, 2}));
  EXPECT_EQ(trace.origin_ns, 0);
  EXPECT_EQ(trace.rows_in_file, 3U);
  EXPECT_TRUE(trace.changes.empty());
  EXPECT_TRUE(trace.tenant.empty());
  EXPECT_FALSE(trace.content.any());
}

// The limit takes the same rows whatever the scale is; times count from the first row.
TEST_F(TraceReader, RateScaleComesAfterLimitAndOrigin) {
  TraceOptions options;
  options.limit = 3;
  options.rate_scale = 2;
  const Trace trace = read(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type,Session ID\n"
      "100,m,1,1,2,t,x\n"
      "104,m,2,1,3,t,x\n"
      "106,m,3,1,4,t,y\n"
      "108,m,4,1,5,t,z\n",
      options);
  EXPECT_EQ(trace.arrival_ns, (Instants{0, 3'000'000'000, 4'000'000'000}));
  EXPECT_EQ(trace.prompt_tokens, (Tokens{1, 3, 2}));
  EXPECT_EQ(trace.changes.back(),
            "the times at which sessions begin are divided by 2, the gaps inside a session stay");
}

TEST_F(TraceReader, CarriesTheOptionalColumnsInAnyOrder) {
  const Trace trace = read(
      "deadline_ms,output_tokens,tenant,arrival_time,priority,prompt_tokens,session\n"
      "1500.5,16,acme,0,-2,512,s1\n"
      ",16,\"Globex, Inc.\",1,,512,\n"
      "9,16,acme,2,7,512,s2\n");
  const CarriedColumns carried = trace.carried();
  EXPECT_EQ(trace.tenant_names, (std::vector<std::string>{"acme", "Globex, Inc."}));
  EXPECT_EQ(trace.tenant, (Tokens{0, 1, 0}));
  EXPECT_EQ(trace.session_names, (std::vector<std::string>{"s1", "s2"}));
  EXPECT_EQ(trace.session, (Tokens{0, CarriedColumns::kNoName, 1}));
  EXPECT_EQ(trace.priority, (Instants{-2, CarriedColumns::kNoPriority, 7}));
  ASSERT_EQ(carried.deadline_ms.size(), 3U);
  EXPECT_EQ(carried.deadline_ms[0], 1500.5);
  EXPECT_TRUE(std::isnan(carried.deadline_ms[1]));
}

TEST_F(TraceReader, TakesWindowsLineEndsByteOrderMarksAndEmptyLinesAtTheEnd) {
  const std::string content =
      "\xEF\xBB\xBF"
      "arrival_time, prompt_tokens, output_tokens\r\n0, 5, 6\r\n1, 7, 8\r\n\r\n  \r\n\n";
  const Trace trace = read(content);
  EXPECT_EQ(trace.prompt_tokens, (Tokens{5, 7}));
  EXPECT_EQ(trace.output_tokens, (Tokens{6, 8}));
  const auto crc =
      ::crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  EXPECT_EQ(trace.crc32, crc) << "of the whole file";
}

TEST_F(TraceReader, TakesALastLineWithoutAnEnd) {
  EXPECT_EQ(read("arrival_time,prompt_tokens,output_tokens\n0,5,6").rows(), 1U);
}

TEST_F(TraceReader, RebasesAzureTimesToTheFirstArrival) {
  const Trace trace = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 18:17:03.9799600,4808,10\r\n"
      "2023-11-16 18:17:04.0319600,3180,8\r\n"
      "2023-11-17 00:00:00.0000001,110,27");
  EXPECT_EQ(trace.format, TraceFormat::kAzure2023);
  EXPECT_EQ(trace.arrival_ns, (Instants{0, 52'000'000, 20'576'020'040'100}));
  EXPECT_EQ(trace.origin_ns, 1'700'158'623'979'960'000);
  EXPECT_EQ(trace.prompt_tokens, (Tokens{4808, 3180, 110}));
}

TEST_F(TraceReader, TakesTheZoneOfLaterAzureTraces) {
  const Trace trace = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2024-05-10 00:00:00.009930+00:00,2162,5\n"
      "2024-05-10 00:00:01+00:00,2399,6\n");
  EXPECT_EQ(trace.arrival_ns, (Instants{0, 990'070'000}));
}

TEST_F(TraceReader, TurnsMooncakeBlockHashesIntoPieces) {
  const Trace trace =
      read(R"({"timestamp": 0, "input_length": 1025, "output_length": 500, "hash_ids": [0, 1, 2]})"
           "\n"
           R"({"timestamp": 3000.5, "input_length": 512, "hash_ids": [18446744073709551615], )"
           R"("output_length": 1})"
           "\n"
           R"({"timestamp": 3001, "input_length": 700, "output_length": 2, "hash_ids": [0]})");
  EXPECT_EQ(trace.format, TraceFormat::kMooncake);
  EXPECT_EQ(trace.arrival_ns, (Instants{0, 3'000'500'000, 3'001'000'000}));
  EXPECT_EQ(trace.prompt_tokens, (Tokens{1025, 512, 700}));
  // Block 0 goes on as block 1 or ends, so it is a piece; block 2 has one token only.
  ASSERT_TRUE(trace.content.any());
  EXPECT_EQ(trace.content.block_tokens, 512U);
  ASSERT_EQ(trace.content.of(0).size(), 3U);
  EXPECT_EQ(trace.content.of(0)[0].tokens, 512U);
  EXPECT_EQ(trace.content.of(0)[1].tokens, 512U);
  EXPECT_EQ(trace.content.of(0)[2].tokens, 1U);
  ASSERT_EQ(trace.content.of(1).size(), 1U);
  EXPECT_EQ(trace.content.of(1)[0].tokens, 512U);
  ASSERT_EQ(trace.content.of(2).size(), 1U);
  EXPECT_EQ(trace.content.of(2)[0].key, trace.content.of(0)[0].key);
  EXPECT_NE(trace.content.of(1)[0].key, trace.content.of(0)[0].key);
}

TEST_F(TraceReader, TakesBothVariantsOfBurstGpt) {
  const Trace older = read(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n"
      "45,ChatGPT,1087,230,1317,Conversation log\n");
  EXPECT_EQ(older.format, TraceFormat::kBurstGpt);
  EXPECT_EQ(older.arrival_ns, (Instants{0, 40'000'000'000}));
  EXPECT_EQ(older.origin_ns, 5'000'000'000);
  EXPECT_EQ(older.prompt_tokens, (Tokens{472, 1087}));
  EXPECT_TRUE(older.session.empty());

  const Trace newer = read(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
      "Type\n"
      "19440110.0,1722ac82,43,GPT-4,906,446,1352,Conversation log\n"
      "19440161.0,,2,ChatGPT,36,29,65,API log\n");
  EXPECT_EQ(newer.arrival_ns, (Instants{0, 51'000'000'000}));
  EXPECT_EQ(newer.session_names, (std::vector<std::string>{"1722ac82"}));
  EXPECT_EQ(newer.session, (Tokens{0, CarriedColumns::kNoName}));
}

TEST_F(TraceReader, LeavesFailedCallsOutAndCountsThem) {
  const Trace trace = read(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "3,ChatGPT,100,0,100,API log\n"
      "5,ChatGPT,472,18,490,API log\n"
      "7,ChatGPT,1087,0,1087,API log\n"
      "9,ChatGPT,10,1,11,API log\n",
      {.skip_failed = true});
  EXPECT_EQ(trace.arrival_ns, (Instants{0, 4'000'000'000})) << "from the first row that is kept";
  EXPECT_EQ(trace.rows_in_file, 4U);
  EXPECT_EQ(trace.rows_failed, 2U);
  EXPECT_EQ(trace.changes,
            (std::vector<std::string>{"2 rows of failed calls (0 output tokens) are left out"}));
}

TEST_F(TraceReader, SortsOnlyWhenAsked) {
  const Trace trace = read(
      "arrival_time,prompt_tokens,output_tokens\n3,30,1\n1,10,1\n3,31,1\n2,20,1\n", {.sort = true});
  EXPECT_EQ(trace.prompt_tokens, (Tokens{10, 20, 30, 31}));
  EXPECT_EQ(trace.changes,
            (std::vector<std::string>{"sorted: 2 rows arrived before the row above them"}));
}

TEST_F(TraceReader, LimitTakesTheFirstRowsInOrderOfArrivalAndCountsTheRest) {
  const Trace trace = read("arrival_time,prompt_tokens,output_tokens\n3,30,1\n1,10,1\n2,20,1\n",
                           {.sort = true, .limit = 2});
  EXPECT_EQ(trace.prompt_tokens, (Tokens{10, 20}));
  EXPECT_EQ(trace.rows_in_file, 3U);
  EXPECT_EQ(trace.rows_beyond_limit, 1U);
}

TEST_F(TraceReader, JitterDependsOnTheSeedOnly) {
  folder_.write("ticks.csv", "arrival_time,prompt_tokens,output_tokens\n0,1,1\n0,2,1\n0,3,1\n");
  const TraceOptions options = {.file = folder_ / "ticks.csv",
                                .jitter = Duration::nanos(1'000'000)};
  const Result<Trace> first = read_trace(options, "", 1);
  const Result<Trace> again = read_trace(options, "", 1);
  const Result<Trace> other = read_trace(options, "", 2);
  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(first->arrival_ns, again->arrival_ns);
  EXPECT_NE(first->arrival_ns, other->arrival_ns);
  EXPECT_EQ(first->changes.size(), 1U);
}

TEST_F(TraceReader, TakesANamedFormat) {
  const Trace trace = read("arrival_time,prompt_tokens,output_tokens\n0,1,1\n",
                           {.format = TraceFormat::kInferscale});
  EXPECT_EQ(trace.rows(), 1U);
}

TEST_F(TraceReader, ReadsGzipLikePlainText) {
  const std::string text = "arrival_time,prompt_tokens,output_tokens\n0,1,2\n";
  const std::string path = folder_ / "packed";
  gzFile file = ::gzopen(path.c_str(), "wb");
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
  const Result<Trace> packed = read_trace({.file = path}, "", 0);
  ASSERT_TRUE(packed) << packed.error().to_string();
  EXPECT_EQ(packed->output_tokens, (Tokens{2}));
  EXPECT_EQ(packed->crc32, read(text).crc32) << "the checksum is of the text, packed or not";
}

}  // namespace
}  // namespace inferscale

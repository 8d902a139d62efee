#include "report/decision_trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace inferscale {
namespace {

using Json = nlohmann::json;

class DecisionTraceTest : public testing::Test {
 protected:
  DecisionTraceTest()
      : path_(testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~DecisionTraceTest() override { std::filesystem::remove(path_); }

  std::vector<Json> lines() const {
    std::ifstream in(path_);
    std::vector<Json> all;
    for (std::string line; std::getline(in, line);) all.push_back(Json::parse(line));
    return all;
  }

  std::string path_;
};

TEST_F(DecisionTraceTest, WritesALineForEachStepAndEachChoice) {
  DecisionTrace trace(OutputFile::create(path_).value());
  const std::vector<RequestId> admitted = {7, 8};
  const std::vector<StepReport::Chunk> chunks = {{.request = 7, .tokens = 512, .before = 64}};
  trace.on_step({.replica = 3,
                 .start = Instant::nanos(1),
                 .end = Instant::nanos(2'500'000'001),
                 .steps = 1,
                 .decodes = 4,
                 .chunks = chunks,
                 .admitted = admitted,
                 .running = 6,
                 .queue_depth = 2,
                 .kv_blocks_free = 11,
                 .head_waits = HeadWaits::kBlocks,
                 .head = 9});
  const std::vector<RouteReport::Choice> choices = {{.replica = 1, .score = 0.5}, {.replica = 0}};
  trace.on_route({.at = Instant::nanos(1'000),
                  .request = 9,
                  .pool = "prefill",
                  .meaning = "load",
                  .choices = choices});
  ASSERT_TRUE(trace.finish());

  const std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["event"], "step");
  EXPECT_EQ(all[0]["end_s"].dump(), "2.500000001");
  EXPECT_EQ(all[0]["chunks"], Json::parse(R"([{"request":7,"tokens":512,"cached_before":64}])"));
  EXPECT_EQ(all[0]["admitted"], Json({7, 8}));
  EXPECT_EQ(all[0]["preempted"], Json::array());
  EXPECT_EQ(all[0]["head_waits_for"], "kv_blocks");
  EXPECT_EQ(all[0]["head"], 9);
  EXPECT_EQ(all[1]["event"], "route");
  EXPECT_EQ(all[1]["replica"], 1);
  EXPECT_EQ(all[1]["scores"][0]["score"], 0.5);
}

TEST_F(DecisionTraceTest, NamesNoHeadWhenNobodyWaitsAndNoReplicaWhenNoneIsUp) {
  DecisionTrace trace(OutputFile::create(path_).value());
  trace.on_step({.head = 9});
  trace.on_route({.request = 9});
  ASSERT_TRUE(trace.finish());
  const std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(all[0].contains("head"));
  EXPECT_TRUE(all[1]["replica"].is_null());
}

TEST(DecisionTraceFile, AFullDiskIsAnErrorAtTheEnd) {
  Result<OutputFile> full = OutputFile::create("/dev/full");
  if (!full) GTEST_SKIP() << "no /dev/full here";
  DecisionTrace trace(std::move(*full));
  for (int i = 0; i < 10'000; ++i) trace.on_step({});
  const Result<void> finished = trace.finish();
  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().to_string().find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace inferscale

#include "report/run_folder_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

namespace inferscale {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class RunFolderWriter : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "run_folder_writer_" + test->name();
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string text(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has(const std::string& name) const { return fs::exists(folder_ + "/" + name); }

  std::string folder_;
};

std::vector<Outcome> outcomes(std::size_t count) {
  std::vector<Outcome> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i].arrival = Instant::nanos(static_cast<std::int64_t>(i));
    all[i].prompt_tokens = static_cast<std::uint32_t>(i);
  }
  return all;
}

TEST_F(RunFolderWriter, WritesTheFourFilesAndVersionsTheManifest) {
  const std::vector<Outcome> all = outcomes(5000);  // more than one buffer
  const std::vector<SignalSample> signals(3);
  RunRecord record;
  record.manifest.add("simulated", true).add("name", "a \"name\"");
  record.summary.add("requests", JsonValue::object().add("arrived", all.size()));
  record.outcomes = all;
  record.signals = signals;
  const Result<void> written = write_run_folder(folder_ + "/below", record);
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(json::parse(text("below/manifest.json")),
            json::parse(R"({"schema":"inferscale.run","version":1,"simulated":true,
                            "name":"a \"name\""})"));
  EXPECT_EQ(json::parse(text("below/summary.json"))["requests"]["arrived"], 5000);
  std::ifstream lines(folder_ + "/below/outcomes.jsonl");
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    ASSERT_EQ(json::parse(line)["id"], rows);
    ASSERT_EQ(json::parse(line)["prompt_tokens"], rows);
  }
  EXPECT_EQ(rows, 5000U);
  const std::string signal_text = text("below/signals.jsonl");
  EXPECT_EQ(std::count(signal_text.begin(), signal_text.end(), '\n'), 3);
}

TEST_F(RunFolderWriter, ReportsOfReplicasAreAFileOfTheirOwn) {
  const std::vector<Outcome> all = outcomes(2);
  const std::vector<ReplicaReport> replicas = {{.pool = "a"}, {.index = 1, .pool = "b"}};
  RunRecord record;
  record.outcomes = all;
  ASSERT_TRUE(write_run_folder(folder_, record));
  EXPECT_FALSE(has("replicas.jsonl"));
  record.replicas = replicas;
  ASSERT_TRUE(write_run_folder(folder_, record));
  const std::string lines = text("replicas.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  EXPECT_NE(text("outcomes.jsonl").find("\"replica\":0"), std::string::npos);
  EXPECT_EQ(text("outcomes.jsonl").find("cached_tokens"), std::string::npos);
  // One replica needs no column that says which.
  record.replicas = std::span(replicas).first(1);
  record.with_prefix_cache = true;
  ASSERT_TRUE(write_run_folder(folder_, record));
  EXPECT_EQ(text("outcomes.jsonl").find("\"replica\""), std::string::npos);
  EXPECT_NE(text("outcomes.jsonl").find("cached_tokens"), std::string::npos);
}

TEST_F(RunFolderWriter, AttemptsAreAFileBesideTheirRequests) {
  std::vector<Outcome> attempts = outcomes(3);
  attempts[0].status = OutcomeStatus::kDeferred;
  attempts[0].reason = Reason::kQueueDepth;
  attempts[1].status = OutcomeStatus::kRefused;
  attempts[1].reason = Reason::kShed;
  ClientRecords clients;
  clients.requests = {{.last_attempt = 2}, {.last_attempt = 1}};
  clients.request_of = {0, 1, 0};
  RunRecord record;
  const std::vector<Outcome> requests = outcomes(2);
  record.outcomes = requests;
  record.attempts = attempts;
  record.clients = &clients;
  const Result<void> written = write_run_folder(folder_, record);
  ASSERT_TRUE(written) << written.error().to_string();
  std::ifstream lines(folder_ + "/attempts.jsonl");
  std::vector<json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], json::parse(R"({"id":0,"request":0,"attempt":0,"is_last":false,
      "status":"deferred","reason":"queue_depth","arrival_ns":0,"start_ns":null,
      "first_token_ns":null,"finish_ns":null,"prompt_tokens":0,"output_tokens":0,
      "cached_tokens":0,"replica":0})"));
  EXPECT_EQ(rows[1]["request"], 1);
  EXPECT_EQ(rows[1]["is_last"], true);
  EXPECT_EQ(rows[2]["attempt"], 1);
  EXPECT_EQ(rows[2]["is_last"], true);
  EXPECT_FALSE(rows[2].contains("reason"));
  // A run without clients in the same folder leaves nothing of it.
  record.clients = nullptr;
  ASSERT_TRUE(write_run_folder(folder_, record));
  EXPECT_FALSE(has("attempts.jsonl"));
}

TEST_F(RunFolderWriter, TheDecisionLogBecomesPartOfTheFolderWhenItIsWritten) {
  ASSERT_TRUE(write_run_folder(folder_, {}));
  Result<DecisionLog> log = DecisionLog::create(decisions_path(folder_), {.policy = "none"});
  ASSERT_TRUE(log) << log.error().to_string();
  log->on_decision({});
  EXPECT_FALSE(has("decisions.jsonl"));
  ASSERT_TRUE(write_run_folder(folder_, {}, &*log));
  EXPECT_TRUE(has("decisions.jsonl"));
  EXPECT_TRUE(has("manifest.json"));
  ASSERT_TRUE(write_run_folder(folder_, {}));
  EXPECT_FALSE(has("decisions.jsonl"));
}

TEST_F(RunFolderWriter, LeavesNothingOfAnEarlierRun) {
  const std::vector<Outcome> all = outcomes(2);
  RunRecord record;
  record.outcomes = all;
  ASSERT_TRUE(write_run_folder(folder_, record));
  ASSERT_TRUE(has("outcomes.jsonl"));
  record.with_outcomes = false;
  ASSERT_TRUE(write_run_folder(folder_, record));
  EXPECT_FALSE(has("outcomes.jsonl"));
  EXPECT_TRUE(has("manifest.json"));
}

TEST_F(RunFolderWriter, AnUnwritableFileIsAnErrorThatNamesIt) {
  fs::create_directories(folder_ + "/outcomes.jsonl/in_the_way");
  RunRecord record;
  const Result<void> written = write_run_folder(folder_, record);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().to_string().find("outcomes.jsonl"), std::string::npos);
  EXPECT_FALSE(has("manifest.json"));
}

TEST_F(RunFolderWriter, AFullDiskIsAnErrorAndLeavesNoManifest) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
  fs::create_directories(folder_);
  fs::create_symlink("/dev/full", folder_ + "/signals.jsonl.partial");
  const std::vector<SignalSample> signals(100000);
  RunRecord record;
  record.signals = signals;
  const Result<void> written = write_run_folder(folder_, record);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
  EXPECT_FALSE(has("manifest.json"));
}

}  // namespace
}  // namespace inferscale

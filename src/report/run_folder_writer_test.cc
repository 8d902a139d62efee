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

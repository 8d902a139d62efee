#include "report/studies/page/study_folder_reader.h"

#include <gtest/gtest.h>

#include "base/edge/test_folder.h"

namespace inferscale {
namespace {

constexpr const char* kManifest =
    R"({"schema":"inferscale.study","version":1,"simulated":true,"inferscale":"0.3.0",)"
    R"("kind":"capacity","name":"chat","plan":{"seed":42},"warnings":["short runs"]})";
constexpr const char* kRuns =
    R"({"scenario":"chat.yaml","fingerprint":"00ff00ff00ff00ff","seed":42,)"
    R"("settings":["workload.arrivals.rate_rps=2"],"figures":{"goodput":0.5,"ttft_ms_p95":120}})"
    "\n"
    R"({"scenario":"chat.yaml","fingerprint":"00ff00ff00ff00ff","seed":18446744073709551615,)"
    R"("settings":[],)"
    R"("scales":{"prefill":1.1,"decode":1,"transfer":1},"figures":{"ttft_ms_p95":130}})"
    "\n"
    R"({"scenario":"chat.yaml","fingerprint":"00ff00ff00ff00ff","seed":44,)"
    R"("settings":["deployment.replicas=9"],"figures":{},"failure":"does not fit"})"
    "\n";

class StudyFolderReader : public testing::Test {
 protected:
  StudyFolderReader() {
    folder_.write("study.json", kManifest);
    folder_.write("runs.jsonl", kRuns);
    folder_.write("result.json", R"({"kind":"capacity","carried":3})");
  }
  Result<StudyFolderContent> read(std::size_t most_runs = 10, std::size_t most_failed = 10) const {
    return read_study_folder(study_, {.figures = {"goodput", "ttft_ms_p95"},
                                      .most_runs = most_runs,
                                      .most_failed_runs = most_failed});
  }
  // The error of reading, without the path of the folder.
  std::string error() const {
    const Result<StudyFolderContent> content = read();
    if (content) return "read without an error";
    std::string text = content.error().to_string();
    const std::string path = study_ + "/";
    while (text.find(path) != std::string::npos) text.erase(text.find(path), path.size());
    return text;
  }
  void edit(const std::string& name, const std::string& from, const std::string& to) {
    std::string text = folder_.read(name);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    folder_.write(name, text.replace(at, from.size(), to));
  }

  TestFolder folder_;
  std::string study_ = folder_ / ".";
};

TEST_F(StudyFolderReader, ReadsWhatTheStudyWas) {
  const auto content = read();
  ASSERT_TRUE(content) << content.error().to_string();
  EXPECT_EQ(content->kind, "capacity");
  EXPECT_EQ(content->name, "chat");
  EXPECT_EQ(content->program_version, "0.3.0");
  EXPECT_TRUE(content->simulated);
  EXPECT_EQ(content->warnings, std::vector<std::string>{"short runs"});
  EXPECT_EQ(content->plan["seed"], 42);
  EXPECT_EQ(content->result["carried"], 3);
}

TEST_F(StudyFolderReader, ReadsTheFiguresThatAreAskedForAndMakesUpNone) {
  const auto content = read();
  ASSERT_TRUE(content) << content.error().to_string();
  EXPECT_EQ(content->runs_in_all, 3U);
  EXPECT_EQ(content->runs_failed, 1U);
  ASSERT_EQ(content->runs.size(), 3U);
  const std::vector<StudyRun>& runs = content->runs;
  EXPECT_EQ(runs[0].settings, std::vector<std::string>{"workload.arrivals.rate_rps=2"});
  EXPECT_EQ(runs[0].seed, 42U);
  EXPECT_TRUE(runs[0].scales.is_null());
  EXPECT_EQ(runs[0].figures, (std::vector<std::optional<double>>{0.5, 120.0}));
  EXPECT_EQ(runs[1].figures, (std::vector<std::optional<double>>{std::nullopt, 130.0}));
  EXPECT_EQ(runs[1].scales["prefill"], 1.1);
  EXPECT_EQ(runs[1].seed, 18446744073709551615U);
  EXPECT_EQ(runs[2].figures, (std::vector<std::optional<double>>(2)));
  EXPECT_EQ(runs[2].failure, "does not fit");
}

TEST_F(StudyFolderReader, KeepsTheFirstRunsAndLaterFailures) {
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    lines += R"({"scenario":"a","seed":)" + std::to_string(i) + R"(,"settings":[],"figures":{})" +
             (i % 5 == 4 ? R"(,"failure":"no"})" : "}") + "\n";
  }
  folder_.write("runs.jsonl", lines);
  const auto content = read(6, 2);
  ASSERT_TRUE(content) << content.error().to_string();
  EXPECT_EQ(content->runs_in_all, 20U);
  EXPECT_EQ(content->runs_failed, 4U);
  std::vector<std::uint64_t> seeds;
  for (const StudyRun& run : content->runs) seeds.push_back(run.seed);
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 9, 14}));
}

TEST_F(StudyFolderReader, RefusesWhatIsNotAFinishedStudy) {
  EXPECT_TRUE(is_study_folder(study_));
  EXPECT_FALSE(is_study_folder(folder_ / "nowhere"));
  const auto nowhere = read_study_folder(folder_ / "nowhere", {});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(nowhere.error().message, "expected a study folder, which holds study.json");
  ASSERT_TRUE(std::filesystem::remove(folder_ / "result.json"));
  EXPECT_EQ(error(),
            "result.json: the study is not finished: the command that began it goes on from its "
            "runs");
}

TEST_F(StudyFolderReader, RefusesUnknownVersionsAndOtherKinds) {
  edit("study.json", R"("version":1)", R"("version":2)");
  EXPECT_EQ(error(),
            "study.json: version 2 of the study folder is not known: this program reads version 1");
  edit("study.json", "inferscale.study", "inferscale.run");
  EXPECT_EQ(error(), "study.json: key 'schema': expected 'inferscale.study', got 'inferscale.run'");
  folder_.write("study.json", kManifest);
  edit("result.json", "capacity", "ab");
  EXPECT_EQ(error(), "result.json: key 'kind': 'ab', but study.json says 'capacity'");
}

TEST_F(StudyFolderReader, RefusesDamageWithFileAndLine) {
  edit("runs.jsonl", R"("seed":18446744073709551615)", R"("seed":"43")");
  EXPECT_EQ(error(),
            R"(runs.jsonl:2: key 'seed': expected a whole number of at least 0, got "43")");
  folder_.write("runs.jsonl", std::string(kRuns).substr(0, 300));
  EXPECT_EQ(error(), "runs.jsonl:2: cut off: the JSON object has no end");
  folder_.write("runs.jsonl", kRuns);
  edit("runs.jsonl", R"("goodput":0.5)", R"("goodput":[])");
  EXPECT_EQ(error(), "runs.jsonl:1: key 'figures.goodput': expected a number");
  folder_.write("runs.jsonl", kRuns);
  edit("runs.jsonl", R"(["deployment.replicas=9"])", "[9]");
  EXPECT_EQ(error(), "runs.jsonl:3: key 'settings': expected a list of texts 'key=value'");
  ASSERT_TRUE(std::filesystem::remove(folder_ / "runs.jsonl"));
  EXPECT_NE(error().find("runs.jsonl"), std::string::npos);
  folder_.write("runs.jsonl", kRuns);
  edit("study.json", R"(["short runs"])", "[1]");
  EXPECT_EQ(error(), "study.json: key 'warnings': expected a list of sentences");
}

}  // namespace
}  // namespace inferscale

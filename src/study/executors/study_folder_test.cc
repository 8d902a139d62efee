// Study folders: taken up again, refused where they are another's, whole or not there at all.

#include "study/executors/study_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "base/edge/test_folder.h"
#include "study/executors/run_lines.h"

namespace inferscale {
namespace {

StudyManifest manifest() {
  return {.kind = "capacity",
          .version = "0.1.0",
          .name = "chat",
          .plan = JsonValue::object()
                      .add("scenario", JsonValue::object().add("requests", 300))
                      .add("seeds", JsonValue::array().append(1).append(2)),
          .warnings = {}};
}

RunKey key(std::uint64_t seed) {
  return {.scenario = "chat.yaml", .fingerprint = 7, .seed = seed, .settings = {}};
}

RunResult record(double ttft) {
  RunResult record;
  record.figures.set(Metric::kTtftMean, ttft);
  return record;
}

std::unique_ptr<StudyFolder> open(const std::string& path) {
  Result<std::unique_ptr<StudyFolder>> folder = StudyFolder::open(path, manifest());
  EXPECT_TRUE(folder) << folder.error().to_string();
  return std::move(*folder);
}

std::string open_error(const std::string& path, const StudyManifest& wanted = manifest()) {
  const Result<std::unique_ptr<StudyFolder>> folder = StudyFolder::open(path, wanted);
  return folder ? "opened" : folder.error().to_string();
}

// Runs 1, 2 and 3, of which 3 ends first.
void write_some(StudyFolder& folder) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) static_cast<void>(folder.ask(key(seed)));
  for (const std::uint64_t seed : {3U, 1U, 2U}) {
    if (folder.ask(key(seed)) != nullptr) continue;
    ASSERT_TRUE(folder.add(key(seed), record(static_cast<double>(seed) / 3)));
  }
}

TEST(StudyFolder, HoldsTheRunsInTheOrderOfTheQuestionsInTheEnd) {
  const TestFolder folder;
  const auto study = open(folder / "new/out");
  write_some(*study);
  EXPECT_EQ(folder.read("new/out/runs.jsonl"), run_line(key(3), record(1)) +
                                                   run_line(key(1), record(1.0 / 3)) +
                                                   run_line(key(2), record(2.0 / 3)));
  EXPECT_FALSE(folder.has("new/out/result.json"));
  ASSERT_TRUE(study->finish(JsonValue::object().add("kind", "capacity")));
  EXPECT_EQ(folder.read("new/out/runs.jsonl"), run_line(key(1), record(1.0 / 3)) +
                                                   run_line(key(2), record(2.0 / 3)) +
                                                   run_line(key(3), record(1)));
  EXPECT_EQ(folder.read("new/out/result.json"), "{\n  \"kind\": \"capacity\"\n}\n");
  EXPECT_EQ(folder.read("new/out/study.json").find(R"({
  "schema": "inferscale.study",
  "version": 1,
  "simulated": true,
  "inferscale": "0.1.0",
  "kind": "capacity",
  "name": "chat",
  "plan": {)"),
            0U);
}

TEST(StudyFolder, TakesUpWhatWasFinishedAndDropsATornLine) {
  const TestFolder folder;
  write_some(*open(folder / "out"));
  const std::string whole = folder.read("out/runs.jsonl");
  for (const std::size_t torn : {std::size_t{0}, std::size_t{1}, std::size_t{60}}) {
    folder.write("out/runs.jsonl", whole + run_line(key(9), record(9)).substr(0, torn));
    const auto study = open(folder / "out");
    EXPECT_EQ(study->known(), 3U);
    EXPECT_EQ(*study->ask(key(2)), record(2.0 / 3));
    EXPECT_EQ(study->ask(key(9)), nullptr);
    ASSERT_TRUE(study->add(key(9), record(9)));
    EXPECT_EQ(folder.read("out/runs.jsonl"), whole + run_line(key(9), record(9)));
  }
}

TEST(StudyFolder, NamesADamagedLineAndTouchesNothing) {
  const TestFolder folder;
  write_some(*open(folder / "out"));
  const std::string lines = folder.read("out/runs.jsonl");
  std::string damaged = lines;
  damaged[damaged.find('\n') + 5] = '"';
  folder.write("out/runs.jsonl", damaged);
  EXPECT_EQ(open_error(folder / "out").find(folder / "out/runs.jsonl:2: damaged"), 0U)
      << open_error(folder / "out");
  EXPECT_EQ(folder.read("out/runs.jsonl"), damaged);
  folder.write("out/runs.jsonl", lines + run_line(key(1), record(5)));
  EXPECT_EQ(open_error(folder / "out"),
            folder /
                "out/runs.jsonl:4: contradicts an earlier line: expected one record for each "
                "run");
}

TEST(StudyFolder, RefusesAnotherStudyAndSaysWhatDiffers) {
  const TestFolder folder;
  write_some(*open(folder / "out"));
  const std::string before = folder.read("out/study.json");
  StudyManifest other = manifest();
  other.kind = "ab";
  EXPECT_EQ(open_error(folder / "out", other),
            folder /
                "out: holds another study: kind is \"capacity\" there and \"ab\" here: "
                "expected another folder");
  other = manifest();
  other.version = "0.2.0";
  EXPECT_NE(open_error(folder / "out", other).find("inferscale is \"0.1.0\" there"),
            std::string::npos);
  other = manifest();
  other.plan = JsonValue::object()
                   .add("scenario", JsonValue::object().add("requests", 500))
                   .add("seeds", JsonValue::array().append(1).append(2));
  EXPECT_NE(
      open_error(folder / "out", other).find("plan.scenario.requests is 300 there and 500 here"),
      std::string::npos);
  other.plan = JsonValue::object()
                   .add("scenario", JsonValue::object().add("requests", 300))
                   .add("seeds", JsonValue::array().append(1));
  EXPECT_NE(open_error(folder / "out", other).find("plan.seeds[1] is 2 there and nothing here"),
            std::string::npos);
  EXPECT_EQ(folder.read("out/study.json"), before);
  // A name is for people: the runs are the same.
  other = manifest();
  other.name = "renamed";
  const Result<std::unique_ptr<StudyFolder>> renamed = StudyFolder::open(folder / "out", other);
  ASSERT_TRUE(renamed);
  ASSERT_TRUE((*renamed)->finish(JsonValue::object()));
  EXPECT_NE(folder.read("out/study.json").find("renamed"), std::string::npos);
}

TEST(StudyFolder, RefusesAFolderOfSomethingElse) {
  const TestFolder folder;
  folder.write("notes.txt", "mine");
  EXPECT_EQ(open_error(folder / ""),
            folder /
                ": holds 'notes.txt' and no study.json, so it is not a study folder: "
                "expected a study's folder, an empty or a new one");
  EXPECT_FALSE(folder.has("runs.jsonl"));
  EXPECT_NE(open_error(folder / "notes.txt").find("is a file"), std::string::npos);
  const TestFolder other;
  other.write("study.json", R"({"schema": "something"})");
  EXPECT_NE(open_error(other / "").find("study.json: damaged, or not a study's"),
            std::string::npos);
}

TEST(StudyFolder, IsOpenOnce) {
  const TestFolder folder;
  {
    const auto study = open(folder / "out");
    EXPECT_EQ(open_error(folder / "out"),
              folder /
                  "out: another process writes to this folder: expected another folder, or "
                  "wait for it");
  }
  EXPECT_EQ(open_error(folder / "out"), "opened");
}

// What a full disk does: the file ends where it ended before.
TEST(StudyFolder, KeepsWholeLinesOnlyWhenTheDiskIsFull) {
  const TestFolder folder;
  const auto study = open(folder / "out");
  write_some(*study);
  const std::string before = folder.read("out/runs.jsonl");
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit full{.rlim_cur = before.size() + 10, .rlim_max = old.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &full);
  EXPECT_EQ(study->ask(key(4)), nullptr);
  const Result<const RunResult*> added = study->add(key(4), record(4));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kIo);
  EXPECT_EQ(added.error().to_string(),
            folder / "out/runs.jsonl: cannot be written: File too large");
  EXPECT_EQ(folder.read("out/runs.jsonl"), before);
  // With room again, it goes on.
  ASSERT_TRUE(study->add(key(4), record(4)));
  EXPECT_EQ(folder.read("out/runs.jsonl"), before + run_line(key(4), record(4)));
}

TEST(StudyFolder, ARunThatIsMadeAnewTakesTheResultAway) {
  const TestFolder folder;
  {
    const auto study = open(folder / "out");
    write_some(*study);
    ASSERT_TRUE(study->finish(JsonValue::object()));
  }
  std::filesystem::remove(folder / "out/runs.jsonl");
  const auto study = open(folder / "out");
  EXPECT_EQ(study->known(), 0U);
  EXPECT_TRUE(folder.has("out/result.json"));
  write_some(*study);
  EXPECT_FALSE(folder.has("out/result.json"));
}

}  // namespace
}  // namespace inferscale

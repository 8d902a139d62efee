// Executors against the serial one: the same records, the same files, for any number of threads and
// ranks, whoever is stopped and goes on.

#include "study/executors/executors.h"

#include <gtest/gtest.h>

#include "base/edge/test_folder.h"
#include "study/executors/ranks_test_support.h"
#include "study/serial_executor.h"

namespace inferscale {
namespace {

StudyManifest manifest() {
  return {.kind = "test",
          .version = "1",
          .name = "small",
          .plan = JsonValue::object().add("runs", 13),
          .warnings = {"made up"}};
}

std::string serial_text(const std::vector<Scenario>& scenarios) {
  return small_study(*make_serial_executor(scenarios, nullptr)).value();
}

struct Study {
  const std::vector<Scenario>& scenarios;
  int ranks = 1;
  int threads = 1;
  std::string out;  // empty: no folder
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const RunProgress&)> progress;
};

Result<std::string> run(const Study& study) {
  return on_ranks(study.ranks, [&](RankMail& mail) -> Result<std::string> {
    std::unique_ptr<StudyFolder> folder;
    if (mail.rank() == 0 && !study.out.empty()) {
      Result<std::unique_ptr<StudyFolder>> opened = StudyFolder::open(study.out, manifest());
      if (!opened) return std::unexpected(opened.error());
      folder = std::move(*opened);
    }
    const auto executor = make_executor(study.scenarios, mail,
                                        {.threads = study.threads,
                                         .folder = folder.get(),
                                         .stop = mail.rank() == 0 ? study.stop : nullptr,
                                         .progress = study.progress});
    Result<std::string> text = small_study(*executor);
    if (text && folder) {
      const Result<void> finished = folder->finish(JsonValue::object().add("text", *text));
      if (!finished) return std::unexpected(finished.error());
    }
    return text;
  });
}

struct Shape {
  int ranks;
  int threads;
};

class ExecutorShapes : public testing::TestWithParam<Shape> {
 protected:
  const std::vector<Scenario> scenarios_ = small_scenarios();
  const TestFolder folder_;
};

constexpr const char* kFiles[] = {"study.json", "runs.jsonl", "result.json"};

TEST_P(ExecutorShapes, GiveWhatTheSerialOneGives) {
  const std::string expected = serial_text(scenarios_);
  const Result<std::string> text =
      run({.scenarios = scenarios_, .ranks = GetParam().ranks, .threads = GetParam().threads});
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_EQ(*text, expected);
}

TEST_P(ExecutorShapes, WriteTheSameFiles) {
  ASSERT_TRUE(run({.scenarios = scenarios_, .out = folder_ / "one"}));
  ASSERT_TRUE(run({.scenarios = scenarios_,
                   .ranks = GetParam().ranks,
                   .threads = GetParam().threads,
                   .out = folder_ / "many"}));
  for (const std::string file : kFiles) {
    EXPECT_EQ(folder_.read("many/" + file), folder_.read("one/" + file)) << file;
    EXPECT_NE(folder_.read("one/" + file), "") << file;
  }
}

// Stops after each number of runs in turn, and each time goes on from there with another number.
TEST_P(ExecutorShapes, GoOnWhereTheyWereStoppedAndWriteTheSameFiles) {
  ASSERT_TRUE(run({.scenarios = scenarios_, .out = folder_ / "whole"}));
  std::uint64_t reused_before = 0;
  for (int interruptions = 0;; ++interruptions) {
    ASSERT_LT(interruptions, 40);
    std::atomic<bool> stop = false;
    std::uint64_t reused = 0;
    const Result<std::string> text = run({.scenarios = scenarios_,
                                          .ranks = GetParam().ranks,
                                          .threads = GetParam().threads,
                                          .out = folder_ / "parts",
                                          .stop = &stop,
                                          .progress = [&](const RunProgress& progress) {
                                            reused = progress.reused;
                                            if (progress.done >= reused + 2) stop = true;
                                          }});
    EXPECT_GE(reused, reused_before);
    reused_before = reused;
    if (text) break;
    EXPECT_EQ(text.error().code, ErrorCode::kInterrupted);
    EXPECT_EQ(text.error().where, folder_ / "parts");
    EXPECT_FALSE(folder_.has("parts/result.json"));
  }
  EXPECT_GT(reused_before, 10U);
  for (const std::string file : kFiles) {
    EXPECT_EQ(folder_.read("parts/" + file), folder_.read("whole/" + file)) << file;
  }
}

TEST_P(ExecutorShapes, MakeNoRunAgainThatIsOnDisk) {
  const Study study{.scenarios = scenarios_,
                    .ranks = GetParam().ranks,
                    .threads = GetParam().threads,
                    .out = folder_ / "out",
                    .progress = {}};
  const Result<std::string> first = run(study);
  ASSERT_TRUE(first);
  const std::string runs = folder_.read("out/runs.jsonl");
  Study again = study;
  RunProgress last;
  again.progress = [&](const RunProgress& progress) { last = progress; };
  EXPECT_EQ(run(again).value(), *first);
  EXPECT_EQ(last.reused, last.asked);
  EXPECT_EQ(last.done, last.asked);
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(runs.begin(), runs.end(), '\n')), last.asked);
  EXPECT_EQ(folder_.read("out/runs.jsonl"), runs);
}

INSTANTIATE_TEST_SUITE_P(Of, ExecutorShapes,
                         testing::Values(Shape{1, 1}, Shape{1, 2}, Shape{1, 8}, Shape{2, 1},
                                         Shape{4, 2}),
                         [](const testing::TestParamInfo<Shape>& shape) {
                           return std::to_string(shape.param.ranks) + "RanksOf" +
                                  std::to_string(shape.param.threads);
                         });

TEST(Executors, SayHowManyRunsWereFinished) {
  const std::vector<Scenario> scenarios = small_scenarios();
  const std::atomic<bool> stop = true;
  const Result<std::string> text = run({.scenarios = scenarios, .stop = &stop});
  ASSERT_FALSE(text);
  EXPECT_EQ(exit_code(text.error().code), 130);
  EXPECT_EQ(text.error().to_string(),
            "interrupted: 0 of 11 runs are finished and not kept (--out would have)");
}

TEST(Executors, AskOnceForEqualRuns) {
  const std::vector<Scenario> scenarios = small_scenarios();
  RankMail mail(MpiWorld::alone());
  std::uint64_t asked = 0;
  const auto executor = make_executor(
      scenarios, mail,
      {.threads = 2, .progress = [&](const RunProgress& progress) { asked = progress.asked; }});
  const RunRequest request{.scenario = 0, .settings = {}, .seed = 3, .scales = {}};
  const auto records = executor->run(std::vector<RunRequest>(5, request));
  ASSERT_TRUE(records);
  EXPECT_EQ(records->size(), 5U);
  ASSERT_TRUE(executor->run(std::vector<RunRequest>(2, request)));
  EXPECT_EQ(asked, 1U);
  EXPECT_TRUE(executor->run({})->empty());
}

// A machine whose configuration is another one must not add its runs to the others'.
TEST(Executors, RefuseRanksThatAskForOtherRuns) {
  const std::vector<Scenario> scenarios = small_scenarios();
  const Result<std::string> text = on_ranks(3, [&](RankMail& mail) -> Result<std::string> {
    const auto executor = make_executor(scenarios, mail, {.threads = 1});
    std::vector<RunRequest> requests;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      requests.push_back({.scenario = 0, .settings = {}, .seed = seed, .scales = {}});
    }
    if (mail.rank() == 2) requests[7].seed = 1000;
    const auto records = executor->run(requests);
    if (!records) return std::unexpected(records.error());
    return std::string("done");
  });
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("rank 2 makes another study"), std::string::npos)
      << text.error().message;
}

TEST(Executors, EndWithWhatAnotherRankEndsWith) {
  const std::vector<Scenario> scenarios = small_scenarios();
  const Result<std::string> text = on_ranks(2, [&](RankMail& mail) -> Result<std::string> {
    if (mail.rank() == 1) return fail(ErrorCode::kNotFound, "no such file", "trace.csv");
    const auto executor = make_executor(scenarios, mail, {.threads = 1});
    // Long enough that rank 1 is heard.
    std::vector<RunRequest> requests;
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
      requests.push_back({.scenario = 0, .settings = {}, .seed = seed, .scales = {}});
    }
    const auto records = executor->run(requests);
    if (!records) return std::unexpected(records.error());
    return std::string("done");
  });
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(text.error().to_string(), "trace.csv: no such file (on rank 1)");
}

TEST(Executors, EndAllRanksWhenRank0Ends) {
  const std::vector<Scenario> scenarios = small_scenarios();
  std::atomic<int> ended = 0;
  const Result<std::string> text = on_ranks(3, [&](RankMail& mail) -> Result<std::string> {
    if (mail.rank() == 0) return fail(ErrorCode::kIo, "disk full", "out");
    const auto executor = make_executor(scenarios, mail, {.threads = 1});
    const auto records = executor->run(std::vector<RunRequest>(1));
    ended += records ? 0 : 1;
    return std::unexpected(records.error());
  });
  EXPECT_EQ(text.error().to_string(), "out: disk full");
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace inferscale

// Lines of runs.jsonl: what is read is what was written, and damage is named.

#include "study/executors/run_lines.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "base/random.h"

namespace inferscale {
namespace {

KeptRun read_back(const RunKey& key, const RunResult& record) {
  std::string line = run_line(key, record);
  EXPECT_EQ(line.back(), '\n');
  line.pop_back();
  Result<KeptRun> run = parse_run_line(line, "runs.jsonl", 1);
  EXPECT_TRUE(run) << run.error().to_string();
  return *run;
}

TEST(RunLines, HaveTheShapeOfTheDocument) {
  RunResult record;
  record.figures.set(Metric::kTtftMean, 12.5);
  record.figures.set(Metric::kArrived, 300);
  const RunKey key{.scenario = "chat.yaml",
                   .fingerprint = 0xabc,
                   .seed = 42,
                   .settings = {"deployment.engine.max_num_seqs=64"},
                   .scales = {1.1, 1, 1}};
  EXPECT_EQ(run_line(key, record),
            R"({"scenario":"chat.yaml","fingerprint":"0000000000000abc","seed":42,"settings":)"
            R"(["deployment.engine.max_num_seqs=64"],"scales":{"prefill":1.1,"decode":1,)"
            R"("transfer":1},"figures":{"ttft_ms_mean":12.5,"arrived":300}})"
            "\n");
  EXPECT_EQ(run_line({.scenario = "a", .settings = {}}, {.figures = {}, .failure = "too big"}),
            R"({"scenario":"a","fingerprint":"0000000000000000","seed":0,"settings":[],)"
            R"("figures":{},"failure":"too big"})"
            "\n");
}

TEST(RunLines, KeepEveryBit) {
  RandomStream random(1, "bits");
  for (int i = 0; i < 2000; ++i) {
    RunResult record;
    RunKey key{.scenario = "a \"b\"\n\xc3\xa4",
               .fingerprint = random.next(),
               .seed = random.next(),
               .settings = {}};
    for (double& scale : key.scales) scale = 1 + random.uniform();
    key.settings.push_back("x=\"" + std::to_string(random.next()) + "\"");
    for (const MetricInfo& info : all_metrics()) {
      const auto value = std::bit_cast<double>(random.next());
      if (random.below(4) > 0) record.figures.set(info.metric, value);
    }
    record = settled(record);
    const KeptRun run = read_back(key, record);
    EXPECT_EQ(run.key, key);
    EXPECT_EQ(run.record, record);
    EXPECT_EQ(run_line(run.key, run.record), run_line(key, record));
  }
}

TEST(RunLines, TheDocumentListsTheFigures) {
  std::ifstream file(INFERSCALE_SOURCE_DIR "/docs/formats/study_folder.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::string expected;
  for (const MetricInfo& info : all_metrics()) {
    const std::string better = info.better == Better::kLower    ? "lower"
                               : info.better == Better::kHigher ? "higher"
                                                                : "";
    expected += "| `" + std::string(info.name) + "` | " + std::string(info.label) + " | " +
                std::string(info.unit) + " | " + better + " |\n";
  }
  EXPECT_NE(text.find("|---|---|---|---|\n" + expected + "\n"), std::string::npos)
      << "put this table there:\n"
      << expected;
}

TEST(RunLines, SettledRecordsHoldOnlyWhatComesBack) {
  RunResult record;
  record.figures.set(Metric::kTtftMean, -0.0);
  record.figures.set(Metric::kTtftP50, std::numeric_limits<double>::quiet_NaN());
  record.figures.set(Metric::kTtftP90, std::numeric_limits<double>::infinity());
  record.failure = "caf\xe9";
  record = settled(record);
  EXPECT_FALSE(std::signbit(*record.figures[Metric::kTtftMean]));
  EXPECT_EQ(record.figures[Metric::kTtftP50], std::nullopt);
  EXPECT_EQ(record.figures[Metric::kTtftP90], std::nullopt);
  EXPECT_EQ(record.failure, "caf\xEF\xBF\xBD");
}

TEST(RunLines, DamageIsNamedWithItsPlace) {
  const auto message = [](const std::string& line) {
    const Result<KeptRun> run = parse_run_line(line, "out/runs.jsonl", 17);
    return run ? std::string("taken") : run.error().to_string();
  };
  const std::string head = R"({"scenario":"a","fingerprint":"0000000000000000","seed":1,)";
  EXPECT_EQ(message(head + R"("settings":[],"figures":{"arrived":1}})"), "taken");
  EXPECT_EQ(message("{"), message(""));
  EXPECT_EQ(message("[]").find("out/runs.jsonl:17: damaged"), 0U);
  EXPECT_EQ(message(head + R"("figures":{}})"),
            "out/runs.jsonl:17: key 'settings': expected a list of texts");
  EXPECT_EQ(message(head + R"("settings":[3],"figures":{}})"),
            "out/runs.jsonl:17: key 'settings': expected a list of texts");
  EXPECT_EQ(message(head + R"("settings":[],"figures":{"arived":1}})"),
            "out/runs.jsonl:17: key 'figures.arived': expected the name of a figure");
  EXPECT_EQ(message(head + R"("settings":[],"figures":{"arrived":"1"}})"),
            "out/runs.jsonl:17: key 'figures.arrived': expected a number");
  EXPECT_EQ(message(head + R"("settings":[],"scales":{"prefill":1},"figures":{}})"),
            "out/runs.jsonl:17: key 'scales.decode': expected a number");
  EXPECT_EQ(message(R"({"scenario":"a","fingerprint":"12","seed":1,"settings":[],"figures":{}})"),
            "out/runs.jsonl:17: key 'fingerprint': expected 16 hexadecimal digits");
  EXPECT_EQ(message(R"({"scenario":"a","fingerprint":"0000000000000000","seed":-1,"settings":[]})"),
            "out/runs.jsonl:17: key 'seed': expected a whole number");
}

}  // namespace
}  // namespace inferscale

#include "report/run_folder_reader.h"

#include <gtest/gtest.h>

#include "base/edge/test_folder.h"
#include "base/random.h"
#include "report/run_folder_writer.h"
#include "report/sample_run.h"

namespace inferscale {
namespace {

class RunFolderReader : public testing::Test {
 protected:
  RunFolderReader() : run_({.requests = 300, .slots = 10, .refusals = true}) {
    EXPECT_TRUE(write_run_folder(folder_ / "run", run_.record()));
  }
  // Replaces the first `from` in a file of the run, which must be there.
  void edit(const std::string& name, const std::string& from, const std::string& to) {
    std::string text = folder_.read("run/" + name);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    folder_.write("run/" + name, text.replace(at, from.size(), to));
  }
  // The error of reading, without the path of the folder.
  std::string error() const {
    const Result<RunFolder> read = read_run_folder(folder_ / "run");
    if (read) return "read without an error";
    std::string text = read.error().to_string();
    const std::string path = (folder_ / "run") + "/";
    while (text.find(path) != std::string::npos) text.erase(text.find(path), path.size());
    return text;
  }

  TestFolder folder_;
  SampleRun run_;
};

TEST_F(RunFolderReader, ReadsBackWhatWasWritten) {
  const Result<RunFolder> read = read_run_folder(folder_ / "run");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->name, "chat-on-h100");
  EXPECT_TRUE(read->has_outcomes);
  ASSERT_EQ(read->outcomes.size(), 300U);
  for (std::size_t i = 0; i < 300; ++i) {
    const Outcome& was = run_.outcomes()[i];
    const Outcome& is = read->outcomes[i];
    EXPECT_EQ(is.arrival, was.arrival);
    EXPECT_EQ(is.start, was.start);
    EXPECT_EQ(is.first_token, was.first_token);
    EXPECT_EQ(is.finish, was.finish);
    EXPECT_EQ(is.itl_max, was.itl_max);
    EXPECT_EQ(is.prompt_tokens, was.prompt_tokens);
    EXPECT_EQ(is.output_tokens, was.output_tokens);
    EXPECT_EQ(is.status, was.status);
    EXPECT_EQ(read->verdicts[i] == SloVerdict::kMet, slo_met(run_.record().slo, was));
  }
  ASSERT_EQ(read->signals.size(), run_.signals().size());
  for (std::size_t i = 0; i < read->signals.size(); ++i) {
    EXPECT_EQ(read->signals[i].at, run_.signals()[i].at);
    EXPECT_EQ(read->signals[i].queue_depth, run_.signals()[i].queue_depth);
    EXPECT_EQ(read->signals[i].running, run_.signals()[i].running);
    EXPECT_NEAR(read->signals[i].kv_used_fraction, run_.signals()[i].kv_used_fraction, 5e-7);
  }
}

TEST_F(RunFolderReader, OutcomesMayBeLeftOut) {
  std::filesystem::remove(folder_ / "run/outcomes.jsonl");
  const Result<RunFolder> read = read_run_folder(folder_ / "run");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_FALSE(read->has_outcomes);
}

TEST_F(RunFolderReader, AnUnknownVersionIsRefused) {
  edit("manifest.json", "\"version\": 1", "\"version\": 2");
  EXPECT_EQ(
      error(),
      "manifest.json: version 2 of the run folder is not known: this program reads version 1");
}

TEST_F(RunFolderReader, AnotherSchemaIsRefused) {
  edit("manifest.json", "inferscale.run", "inferscale.bench");
  EXPECT_EQ(error(),
            "manifest.json: key 'schema': expected 'inferscale.run', got "
            "'inferscale.bench'");
}

TEST_F(RunFolderReader, AFolderThatIsNotThereIsAnError) {
  const Result<RunFolder> read = read_run_folder(folder_ / "nothing");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_NE(read.error().to_string().find("nothing: expected a run folder"), std::string::npos);
}

TEST_F(RunFolderReader, AMissingFileIsAnErrorThatNamesIt) {
  for (const char* name : {"signals.jsonl", "summary.json", "manifest.json"}) {
    std::filesystem::remove(folder_ / (std::string("run/") + name));
    EXPECT_EQ(error().substr(0, std::string_view(name).size()), name);
  }
}

TEST_F(RunFolderReader, AFileThatIsCutOffIsAnErrorWithItsLine) {
  const std::string outcomes = folder_.read("run/outcomes.jsonl");
  std::size_t third = 0;
  for (int line = 0; line < 3; ++line) third = outcomes.find('\n', third) + 1;
  folder_.write("run/outcomes.jsonl", outcomes.substr(0, third + 40));
  EXPECT_EQ(error(), "outcomes.jsonl:4: cut off: the JSON object has no end");
  folder_.write("run/outcomes.jsonl", outcomes.substr(0, third));
  EXPECT_EQ(error(),
            "outcomes.jsonl: holds 3 requests, but summary.json counts 300: lines are "
            "missing");
  folder_.write("run/outcomes.jsonl", outcomes);
  folder_.write("run/summary.json", "{\"requests\":");
  EXPECT_EQ(error(), "summary.json: cut off: the JSON object has no end");
}

TEST_F(RunFolderReader, DamagedLinesAreErrorsWithTheirLineAndKey) {
  const struct {
    const char* from;
    const char* to;
    const char* error;
  } kDamages[] = {
      {"{\"id\":1,", "{\"id\":2,",
       "outcomes.jsonl:2: key 'id': expected 1, got 2: a line is missing or out of order"},
      {"\"prompt_tokens\":", "\"prompt_tokens\":-",
       "outcomes.jsonl:1: key 'prompt_tokens': expected a whole number of at least 0, got -"},
      {"\"prompt_tokens\":", "\"prompt_tokens\":99999999999",
       "outcomes.jsonl:1: key 'prompt_tokens': too large: 99999999999"},
      {"\"status\":\"finished\"", "\"status\":\"done\"",
       "outcomes.jsonl:1: key 'status': expected finished, refused or unfinished, got 'done'"},
      {"\"finish_ns\":", "\"finish_ns\":null,\"f\":",
       "outcomes.jsonl:1: key 'finish_ns': null, but the status is finished"},
      {"\"first_token_ns\":", "\"first_token_ns\":1,\"f\":",
       "outcomes.jsonl:1: key 'finish_ns': the timestamps are not in the order"},
      {"\"slo_met\":", "\"slo_met\":1,\"s\":",
       "outcomes.jsonl:1: key 'slo_met': expected true or false, got 1"},
      {"\"queue_ms\"", "\"queue_ms\";", "outcomes.jsonl:1: not valid JSON at byte "},
      {"\"preemptions\"", "\"preempted\"", "outcomes.jsonl:1: key 'preemptions': missing"},
      {"{\"id\":0", "\n{\"id\":0", "outcomes.jsonl:1: cut off: the JSON object has no end"},
      {"{\"id\":0", "[]\n{\"id\":0", "outcomes.jsonl:1: expected a JSON object, got a list"},
  };
  const std::string outcomes = folder_.read("run/outcomes.jsonl");
  for (const auto& damage : kDamages) {
    edit("outcomes.jsonl", damage.from, damage.to);
    EXPECT_EQ(error().substr(0, std::string_view(damage.error).size()), damage.error);
    folder_.write("run/outcomes.jsonl", outcomes);
  }
  edit("signals.jsonl", "\"t_s\":2.0", "\"t_s\":0.5");
  EXPECT_EQ(error(), "signals.jsonl:2: key 't_s': earlier than the line before");
}

TEST_F(RunFolderReader, WrongTypesInManifestAndSummaryAreErrorsWithTheirKey) {
  const std::string summary = folder_.read("run/summary.json");
  edit("summary.json", "\"p95\":", "\"p96\":");
  EXPECT_EQ(error(), "summary.json: key 'ttft_ms.p95': missing");
  folder_.write("run/summary.json", summary);
  edit("summary.json", "\"goodput\": ", "\"goodput\": \"all\", \"g\": ");
  EXPECT_EQ(error(), "summary.json: key 'slo.goodput': expected a number, got \"all\"");
  folder_.write("run/summary.json", summary);
  edit("manifest.json", "\"warnings\": []", "\"warnings\": [1]");
  EXPECT_EQ(error(), "manifest.json: key 'warnings': expected a list of sentences");
}

TEST_F(RunFolderReader, DeepNestingIsRefusedBeforeItIsRead) {
  edit("manifest.json", "\"config\": {",
       "\"config\": {\"deep\":" + std::string(100000, '[') + std::string(100000, ']') + ",");
  EXPECT_EQ(error(), "manifest.json: more than 64 levels of maps and lists");
}

TEST_F(RunFolderReader, ManglingAnyByteNeverStopsTheProgram) {
  RandomStream stream(4, "mangle");
  for (const std::string name :
       {"manifest.json", "summary.json", "outcomes.jsonl", "signals.jsonl"}) {
    const std::string whole = folder_.read("run/" + name);
    for (int round = 0; round < 60; ++round) {
      std::string text = whole;
      text[stream.below(text.size())] = static_cast<char>(stream.below(256));
      folder_.write("run/" + name, text);
      const Result<RunFolder> read = read_run_folder(folder_ / "run");
      if (read) continue;  // the byte was part of a number or a name
      EXPECT_NE(read.error().where.find(name), std::string::npos);
    }
    folder_.write("run/" + name, whole);
  }
}

}  // namespace
}  // namespace inferscale

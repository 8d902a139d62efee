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

TEST_F(RunFolderReader, ReadsAFleetWithAPrefixCache) {
  const SampleRun fleet({.requests = 300, .replicas = 5, .prefix_cache = true});
  ASSERT_TRUE(write_run_folder(folder_ / "run", fleet.record()));
  const Result<RunFolder> read = read_run_folder(folder_ / "run");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_TRUE(read->has_cached_tokens);
  EXPECT_TRUE(read->has_outcome_replica);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(read->outcomes[i].cached_tokens, fleet.outcomes()[i].cached_tokens);
    EXPECT_EQ(read->outcomes[i].replica, fleet.outcomes()[i].replica);
    EXPECT_EQ(read->outcomes[i].status, fleet.outcomes()[i].status);
    if (read->outcomes[i].status == OutcomeStatus::kLost) ++lost;
  }
  EXPECT_GT(lost, 0U);
  ASSERT_EQ(read->replicas.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const ReplicaReport& was = fleet.replicas()[i];
    const ReplicaReport& is = read->replicas[i];
    EXPECT_EQ(is.index, was.index);
    EXPECT_EQ(is.pool, was.pool);
    EXPECT_EQ(is.accelerators, was.accelerators);
    EXPECT_EQ(is.up, was.up);
    EXPECT_NEAR(is.busy_ns, was.busy_ns, 1);
    EXPECT_EQ(is.finished, was.finished);
    EXPECT_EQ(is.prompt_tokens_looked_up, was.prompt_tokens_looked_up);
    EXPECT_EQ(is.prompt_tokens_cached, was.prompt_tokens_cached);
    EXPECT_NEAR(is.kv_block_ns, was.kv_block_ns, 1e-12 * was.kv_block_ns);
    EXPECT_EQ(is.kv_blocks_peak, was.kv_blocks_peak);
  }
  // A run of one replica in the same folder leaves nothing of it.
  ASSERT_TRUE(write_run_folder(folder_ / "run", run_.record()));
  const Result<RunFolder> again = read_run_folder(folder_ / "run");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_TRUE(again->replicas.empty());
}

TEST_F(RunFolderReader, DamagedColumnsAndReplicasAreErrors) {
  const SampleRun fleet({.requests = 50, .replicas = 5, .prefix_cache = true});
  ASSERT_TRUE(write_run_folder(folder_ / "run", fleet.record()));
  const std::string replicas = folder_.read("run/replicas.jsonl");
  edit("replicas.jsonl", "\"up_s\":", "\"up_s\":-");
  EXPECT_EQ(error(), "replicas.jsonl:1: key 'up_s': expected 0 to 9e9 seconds");
  folder_.write("run/replicas.jsonl", replicas);
  edit("replicas.jsonl", "{\"replica\":1,", "{\"replica\":0,");
  EXPECT_EQ(error(), "replicas.jsonl:2: key 'replica': not more than in the line before");
  folder_.write("run/replicas.jsonl", replicas);
  edit("replicas.jsonl", "\"pool\"", "\"pond\"");
  EXPECT_EQ(error(), "replicas.jsonl:1: key 'pool': missing");
  folder_.write("run/replicas.jsonl", replicas);
  const std::string outcomes = folder_.read("run/outcomes.jsonl");
  edit("outcomes.jsonl", "\"cached_tokens\":", "\"cached_tokens\":9");
  EXPECT_EQ(error(), "outcomes.jsonl:1: key 'cached_tokens': more than prompt_tokens");
  folder_.write("run/outcomes.jsonl", outcomes);
  edit("outcomes.jsonl", "\"replica\":", "\"r\":");
  EXPECT_EQ(error(), "outcomes.jsonl:2: key 'replica': the lines before do not have it");
}

TEST_F(RunFolderReader, ReadsARunWithADoor) {
  const SampleRun door({.requests = 300, .slots = 10, .refusals = true, .admission = true});
  ASSERT_TRUE(write_run_folder(folder_ / "run", door.record()));
  const Result<RunFolder> read = read_run_folder(folder_ / "run");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->outcomes.size(), 300U);  // of requests, however many attempts they made
  const std::string summary = folder_.read("run/summary.json");
  edit("summary.json", "\"wasted_share\": ", "\"wasted_share\": \"much\", \"w\": ");
  EXPECT_EQ(error(), "summary.json: key 'tokens.wasted_share': expected a number, got \"much\"");
  folder_.write("run/summary.json", summary);
  edit("summary.json", "\"policy_refusals\"", "\"refusals\"");
  EXPECT_EQ(error(), "summary.json: key 'decisions.policy_refusals': missing");
}

TEST_F(RunFolderReader, LaterKeysOfTheSummaryAreCheckedWhereTheyAre) {
  const std::string summary = folder_.read("run/summary.json");
  edit("summary.json", "\"steady\": ", "\"steady\": 1, \"s\": ");
  EXPECT_EQ(error(), "summary.json: key 'steady': expected true or false, got 1");
  folder_.write("run/summary.json", summary);
  edit("summary.json", "\"excluded\": 0", "\"excluded\": 301");
  EXPECT_EQ(error(), "summary.json: key 'warmup.excluded': more than requests.arrived");
  folder_.write("run/summary.json", summary);
  edit("summary.json", "\"growth_rps\": ", "\"growth_rps\": \"much\", \"g\": ");
  EXPECT_EQ(error(), "summary.json: key 'backlog.growth_rps': expected a number, got \"much\"");
  folder_.write("run/summary.json", summary);
  edit("summary.json", "\"ttft_ms_p95\": ", "\"ttft_ms_p95\": {\"low\": 1}, \"t\": ");
  EXPECT_EQ(error(), "summary.json: key 'ttft_ms_p95.high': missing");
}

TEST_F(RunFolderReader, ReadsARunWithClasses) {
  const SampleRun sample({.requests = 300, .classes = true});
  ASSERT_TRUE(write_run_folder(folder_ / "run", sample.record()));
  EXPECT_EQ(error(), "read without an error");
  edit("summary.json", "\"priority\": 10", "\"priority\": \"high\"");
  EXPECT_NE(error().find("summary.json: key 'slo_classes.priority'"), std::string::npos) << error();
}

// A folder that the first program of version 1 wrote: what came later is absent, not zero.
TEST_F(RunFolderReader, ReadsTheFirstFoldersOfTheVersion) {
  const Result<RunFolder> read = read_run_folder(INFERSCALE_REPORT_TESTDATA "/version_1");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->name, "tiny-refusals");
  EXPECT_EQ(read->outcomes.size(), 8U);
  EXPECT_FALSE(read->has_cached_tokens);
  EXPECT_FALSE(read->has_outcome_replica);
  EXPECT_TRUE(read->replicas.empty());
  for (const char* later : {"\"steady\"", "\"lost\"", "\"fleet\"", "\"prefix_hit_rate\""}) {
    EXPECT_EQ(read->summary_json.find(later), std::string::npos) << later;
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
       "outcomes.jsonl:1: key 'status': expected finished, refused, unfinished, lost, deferred or "
       "abandoned, got "
       "'done'"},
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

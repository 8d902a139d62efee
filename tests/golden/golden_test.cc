// What the program computes stays what it was, to the last bit, until somebody means to change it.
//
// fingerprints.csv has a row for each scenario (scenarios/NAME.yaml) and seed: 64-bit FNV-1a hashes
// of outcomes.jsonl, signals.jsonl and summary.json as `inferscale simulate` writes them. The
// outcomes and signals of the smallest scenarios stand in full in transcripts/. Every run is made
// with --verify, so a row can't bless a broken invariant, and once more with --stepwise, which must
// give the same outcomes.
//
// After a change that is meant to move results:  INFERSCALE_UPDATE_GOLDEN=1 golden_test
// rewrites both; say in CHANGES.md, "Changed results", what moved and why.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "base/random.h"

namespace inferscale {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(INFERSCALE_SOURCE_DIR) / "tests/golden";

constexpr std::array kScenarios = {
    "chat",       "chunked_slo",  "experts",         "fleet_failures", "linear_steps",
    "overload",   "parallel",     "preemptions",     "sglang_long",    "sglang_tenants",
    "split_fair", "static_batch", "tiny_preemption", "tiny_refusals",  "tiny_static",
    "vllm_cache"};
constexpr std::array kTranscripts = {"tiny_preemption", "tiny_refusals", "tiny_static"};
constexpr std::array kSeeds = {1, 2};

bool is_updating() {
  return std::getenv("INFERSCALE_UPDATE_GOLDEN") != nullptr;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string hash_of(const std::string& text) {
  return fmt::format("{:016x}", stable_hash(text));
}

struct RunFiles {
  std::string outcomes;
  std::string signals;
  std::string summary;
};

class Golden : public testing::Test {
 protected:
  Golden() {
    std::string pattern = (fs::temp_directory_path() / "golden_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Golden() override { fs::remove_all(folder_); }

  RunFiles run(const std::string& scenario, int seed, const std::string& flags) {
    const fs::path out = folder_ / "run";
    fs::remove_all(out);
    const std::string command = fmt::format(
        "'{}' simulate '{}' --set seed={} --out '{}' --json {} >'{}' 2>'{}'", INFERSCALE_BINARY,
        (kFolder / "scenarios" / (scenario + ".yaml")).string(), seed, out.string(), flags,
        (folder_ / "out").string(), (folder_ / "err").string());
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n"
                                                               << text_of(folder_ / "err");
    return {text_of(out / "outcomes.jsonl"), text_of(out / "signals.jsonl"),
            text_of(out / "summary.json")};
  }

  fs::path folder_;
};

using Key = std::pair<std::string, std::string>;  // scenario, seed

std::map<Key, std::string> read_fingerprints() {
  std::map<Key, std::string> rows;
  std::istringstream file(text_of(kFolder / "fingerprints.csv"));
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    const std::size_t first = line.find(',');
    const std::size_t second = line.find(',', first + 1);
    rows[{line.substr(0, first), line.substr(first + 1, second - first - 1)}] =
        line.substr(second + 1);
  }
  return rows;
}

TEST_F(Golden, FingerprintsAreWhatTheyWere) {
  const std::map<Key, std::string> expected = read_fingerprints();
  std::string rewritten = "scenario,seed,outcomes,signals,summary\n";
  for (const std::string scenario : kScenarios) {
    for (const int seed : kSeeds) {
      const RunFiles files = run(scenario, seed, "--verify");
      ASSERT_FALSE(files.outcomes.empty()) << scenario;
      EXPECT_EQ(hash_of(run(scenario, seed, "--stepwise").outcomes), hash_of(files.outcomes))
          << scenario << ", seed " << seed << ": single steps give other outcomes";
      const std::string hashes = fmt::format("{},{},{}", hash_of(files.outcomes),
                                             hash_of(files.signals), hash_of(files.summary));
      rewritten += fmt::format("{},{},{}\n", scenario, seed, hashes);
      if (is_updating()) continue;
      const auto row = expected.find({scenario, std::to_string(seed)});
      ASSERT_NE(row, expected.end()) << scenario << ", seed " << seed << " has no row";
      EXPECT_EQ(hashes, row->second)
          << scenario << ", seed " << seed << ": outcomes, signals, summary";
    }
  }
  if (is_updating()) {
    ASSERT_FALSE(HasFailure()) << "fingerprints.csv stays as it is";
    std::ofstream(kFolder / "fingerprints.csv", std::ios::binary) << rewritten;
  } else {
    EXPECT_EQ(expected.size(), kScenarios.size() * kSeeds.size()) << "a row without a scenario";
  }
}

TEST_F(Golden, TranscriptsAreWhatTheyWere) {
  for (const std::string scenario : kTranscripts) {
    const RunFiles files = run(scenario, 2, "--verify");
    const std::string transcript = files.outcomes + files.signals;
    const fs::path path = kFolder / "transcripts" / (scenario + ".jsonl");
    if (is_updating() && !HasFailure()) std::ofstream(path, std::ios::binary) << transcript;
    EXPECT_EQ(transcript, text_of(path)) << scenario;
  }
}

}  // namespace
}  // namespace inferscale

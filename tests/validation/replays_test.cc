// Whole runs over real traces, against counts that use nothing of the engine.
//
// What a cache that never forgets hits is known from the trace alone: a set of the pieces seen so
// far (endless_cache_hits below). Served one after the other, every single request has to find
// exactly that. Served together, a request may miss what another one is just computing, and never
// finds more. Skipped where the data folder isn't; docs/replays.md has the figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/accelerators.h"
#include "catalog/models.h"
#include "sim/deployment.h"
#include "sim/simulator.h"
#include "validation/data_folder.h"
#include "workload/readers/trace_reader.h"
#include "workload/trace.h"

namespace inferscale {
namespace {

constexpr std::uint32_t kBlock = 16;  // tokens
constexpr TokenCount kNoBound = 1'000'000'000'000;

// For each request: the tokens of the longest beginning whose pieces were all seen before, at most
// all but one of the prompt, in whole blocks.
std::vector<std::uint32_t> endless_cache_hits(const Trace& trace) {
  std::set<std::uint64_t> seen;
  std::vector<std::uint32_t> hits;
  TraceSource source(trace);
  for (Request request; source.next(request);) {
    std::uint32_t tokens = 0;
    std::uint32_t piece = 0;
    while (piece < request.content_pieces && seen.contains(request.content[piece].key)) {
      tokens += request.content[piece].tokens;
      ++piece;
    }
    for (; piece < request.content_pieces; ++piece) seen.insert(request.content[piece].key);
    hits.push_back(std::min(tokens, request.prompt_tokens - 1) / kBlock * kBlock);
  }
  return hits;
}

// Eight accelerators and no limit on the context, so that no row is refused.
RunConfig one_engine(TokenCount kv_cache_tokens) {
  RunConfig config;
  GroupConfig group{.name = "replicas", .replicas = 1};
  group.deployment.model = find_model("llama-3.1-8b").value();
  group.deployment.hardware = find_accelerator("h100-sxm").value();
  group.deployment.shape.tensor = 8;
  EngineOptions& engine = group.deployment.engine;
  engine.scheduler = SchedulerKind::kVllm;
  engine.prefix_caching = true;
  engine.kv_block_tokens = kBlock;
  engine.kv_cache_tokens = kv_cache_tokens;
  engine.max_model_len = 10'000'000;
  config.fleet.groups.push_back(group);
  return config;
}

SimulationResult run(const RunConfig& config, const Trace& trace) {
  const FleetDeployment deployment = derive_fleet(config).value();
  TraceSource source(trace);
  return simulate_fleet(deployment.fleet, {.verify = true}, source, {});
}

struct Hits {
  std::uint64_t tokens = 0;
  std::uint64_t prompt_tokens = 0;
  std::size_t finished = 0;
  double rate() const { return static_cast<double>(tokens) / static_cast<double>(prompt_tokens); }
};

Hits hits_of(const SimulationResult& result) {
  Hits hits;
  for (const Outcome& outcome : result.outcomes) {
    hits.tokens += outcome.cached_tokens;
    hits.prompt_tokens += outcome.prompt_tokens;
    hits.finished += outcome.finished() ? 1U : 0U;
  }
  return hits;
}

double mean_ttft_s(const SimulationResult& result) {
  double sum = 0;
  for (const Outcome& outcome : result.outcomes) sum += outcome.ttft().seconds();
  return sum / static_cast<double>(result.outcomes.size());
}

struct Replayed {
  const char* name;
  const char* file;
  double stated_rate;  // of a cache that never forgets, by the data folder's README, in blocks
  std::optional<double> sessions_rps;
};

std::string name_of(const testing::TestParamInfo<Replayed>& instance) {
  return instance.param.name;
}

class Replays : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_data()) GTEST_SKIP() << "no data folder: set INFERSCALE_DATA";
  }
  static Trace read(const std::string& file, std::optional<double> sessions_rps = std::nullopt) {
    TraceOptions options{.file = data_file(file), .skip_failed = true};
    if (sessions_rps) options.session_arrivals = PoissonArrivals{.rate_rps = *sessions_rps};
    Result<Trace> read = read_trace(options, "", 42);
    EXPECT_TRUE(read) << read.error().to_string();
    return read ? std::move(*read) : Trace{};
  }
};

class ReplaysWithContent : public Replays, public testing::WithParamInterface<Replayed> {
 protected:
  static Trace read_content() { return read(GetParam().file, GetParam().sessions_rps); }
};

TEST_P(ReplaysWithContent, ServedOneByOneEachRequestFindsWhatWasSeenBefore) {
  const Trace trace = read_content();
  const std::vector<std::uint32_t> expected = endless_cache_hits(trace);
  RunConfig config = one_engine(kNoBound);
  config.fleet.groups[0].deployment.engine.max_num_seqs = 1;
  const SimulationResult result = run(config, trace);
  EXPECT_TRUE(result.violations.empty());
  ASSERT_EQ(result.outcomes.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(result.outcomes[i].cached_tokens, expected[i]) << "row " << i;
  }
  const Hits hits = hits_of(result);
  EXPECT_EQ(hits.finished, trace.rows());
  // Tokens and blocks are counted differently: a block that was begun counts whole.
  EXPECT_NEAR(hits.rate(), GetParam().stated_rate, 0.012);
}

TEST_P(ReplaysWithContent, ServedTogetherTheyFindNoMoreAndLittleLess) {
  const Trace trace = read_content();
  std::uint64_t expected = 0;
  for (const std::uint32_t tokens : endless_cache_hits(trace)) expected += tokens;
  const Hits hits = hits_of(run(one_engine(kNoBound), trace));
  EXPECT_EQ(hits.finished, trace.rows());
  EXPECT_LE(hits.tokens, expected);
  EXPECT_GE(static_cast<double>(hits.tokens), 0.998 * static_cast<double>(expected));
}

TEST_P(ReplaysWithContent, ALargerCacheHitsMoreAndAnswersSooner) {
  const Trace trace = read_content();
  double rate = 0;
  double ttft_s = std::numeric_limits<double>::infinity();
  for (const TokenCount tokens : {1'000'000, 2'000'000, 4'000'000, 8'000'000}) {
    const SimulationResult result = run(one_engine(tokens), trace);
    const Hits hits = hits_of(result);
    EXPECT_GT(hits.rate(), rate) << tokens;
    EXPECT_LT(mean_ttft_s(result), ttft_s) << tokens;
    rate = hits.rate();
    ttft_s = mean_ttft_s(result);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Traces, ReplaysWithContent,
    testing::Values(Replayed{.name = "mooncake_conversation",
                             .file = "traces/mooncake_conversation_trace.jsonl.gz",
                             .stated_rate = 0.366},
                    Replayed{.name = "mooncake_synthetic",
                             .file = "traces/mooncake_synthetic_trace.jsonl.gz",
                             .stated_rate = 0.640},
                    // A session's calls begin with each other's prompts; sessions share nothing.
                    Replayed{.name = "claude_code_sessions",
                             .file = "traces/claude_code_raw60.jsonl.gz",
                             .stated_rate = 0.947,
                             .sessions_rps = 0.01}),
    name_of);

// The code trace's gaps vary 13 times as much as those of a Poisson process of the same rate.
TEST_F(Replays, BurstsOfTheCodeTraceWaitWhereAnEvenStreamOfTheSameRowsDoesNot) {
  Trace trace = read("traces/azure2023_code.csv.gz");
  RunConfig config = one_engine(kNoBound);
  config.fleet.groups[0].deployment.model = find_model("llama-3.1-70b").value();
  const SimulationResult recorded = run(config, trace);
  ASSERT_EQ(hits_of(recorded).finished, 8819U);
  const std::int64_t span_ns = trace.arrival_ns.back();
  for (std::size_t i = 0; i < trace.rows(); ++i) {
    trace.arrival_ns[i] =
        span_ns / static_cast<std::int64_t>(trace.rows()) * static_cast<std::int64_t>(i);
  }
  const SimulationResult even = run(config, trace);
  EXPECT_GT(mean_ttft_s(recorded), 10 * mean_ttft_s(even));
}

}  // namespace
}  // namespace inferscale

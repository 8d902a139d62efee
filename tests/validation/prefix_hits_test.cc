// The block cache on the Mooncake traces: requests one after the other, each computed and let go of
// before the next one comes.
//
// Expected hit rates of a cache that never forgets: 36.6 % of the blocks (conversation) and 64.0 %
// (synthetic), as the data folder's README states them. The exact counts come from a Python script
// over the JSON lines: without a bound a set of hashes; with one an OrderedDict of single blocks in
// the order of their last use, from which a request removes the longest prefix that is there and,
// from the end that was used longest ago, as many as the rest needs, to put its own blocks behind
// all others, the last one first. Skipped where the data folder isn't.

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "replica/prefix_cache.h"
#include "validation/data_folder.h"
#include "workload/readers/trace_reader.h"
#include "workload/trace.h"

namespace inferscale {
namespace {

constexpr std::int64_t kTraceBlock = 512;  // tokens for each hash of the traces

struct Bounded {
  BlockCount total = 0;
  std::int64_t hits = 0;  // blocks
};

struct Expected {
  const char* name;
  double hit_rate;        // of blocks, as stated
  std::int64_t blocks;    // of all prompts
  std::int64_t hits;      // without a bound, in blocks
  TokenCount hit_tokens;  // and in tokens
  std::vector<Bounded> bounded;
};

std::ostream& operator<<(std::ostream& out, const Expected& expected) {
  return out << expected.name;
}

std::string name_of(const testing::TestParamInfo<Expected>& instance) {
  return instance.param.name;
}

std::int64_t blocks_of(TokenCount tokens, std::int64_t block_tokens) {
  return (tokens + block_tokens - 1) / block_tokens;
}

struct Hits {
  std::int64_t blocks = 0;  // of kTraceBlock tokens, those begun counting whole
  TokenCount tokens = 0;
  std::int64_t blocks_in_all = 0;
};

class PrefixHits : public testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    if (!has_data()) GTEST_SKIP() << "no data folder: set INFERSCALE_DATA";
    const std::string file = std::string("traces/mooncake_") + GetParam().name + "_trace.jsonl.gz";
    Result<Trace> read = read_trace({.file = data_file(file)}, "", 0);
    ASSERT_TRUE(read) << read.error().to_string();
    trace_ = std::move(*read);
  }

  Hits feed(BlockCount total, std::int64_t block_tokens) const {
    PrefixCache cache(total, block_tokens, 1);
    Hits hits;
    TraceSource source(trace_);
    for (Request request; source.next(request);) {
      const PrefixCache::Match match = cache.match(request, request.prompt_tokens);
      hits.tokens += match.tokens;
      hits.blocks += blocks_of(match.tokens, kTraceBlock);
      hits.blocks_in_all += blocks_of(request.prompt_tokens, kTraceBlock);
      PrefixCache::Hold hold;
      cache.acquire(request, match, hold);
      const BlockCount blocks = blocks_of(request.prompt_tokens, block_tokens);
      cache.take(blocks - match.blocks);
      EXPECT_EQ(cache.computed(request, request.prompt_tokens, hold), 0);
      cache.release(request, hold, blocks - hold.blocks);
    }
    EXPECT_EQ(cache.broken_structure(), nullptr);
    EXPECT_EQ(cache.free(), total);
    return hits;
  }

  Trace trace_;
};

TEST_P(PrefixHits, ACacheThatNeverForgetsHitsAsOftenAsStated) {
  // Blocks of one token, so that a prompt's last hash, of less than 512 tokens, counts as well.
  const Hits hits = feed(BlockCount{1} << 60, 1);
  EXPECT_EQ(hits.blocks_in_all, GetParam().blocks);
  EXPECT_EQ(hits.blocks, GetParam().hits);
  EXPECT_EQ(hits.tokens, GetParam().hit_tokens);
  const double rate = static_cast<double>(hits.blocks) / static_cast<double>(hits.blocks_in_all);
  EXPECT_NEAR(rate, GetParam().hit_rate, 0.0005);
}

TEST_P(PrefixHits, ABoundedCacheForgetsWhatWasUsedLongestAgo) {
  for (const Bounded& bounded : GetParam().bounded) {
    const Hits hits = feed(bounded.total, kTraceBlock);
    EXPECT_EQ(hits.blocks, bounded.hits) << bounded.total << " blocks";
    EXPECT_EQ(hits.tokens, bounded.hits * kTraceBlock);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mooncake, PrefixHits,
    testing::Values(Expected{.name = "conversation",
                             .hit_rate = 0.366,
                             .blocks = 288'500,
                             .hits = 105'710,
                             .hit_tokens = 54'098'411,
                             .bounded = {{400, 12'150}, {4'000, 24'921}, {40'000, 101'264}}},
                    Expected{.name = "synthetic",
                             .hit_rate = 0.640,
                             .blocks = 121'877,
                             .hits = 77'953,
                             .hit_tokens = 39'852'661,
                             .bounded = {{400, 4'253}, {4'000, 28'509}, {40'000, 77'707}}}),
    name_of);

}  // namespace
}  // namespace inferscale

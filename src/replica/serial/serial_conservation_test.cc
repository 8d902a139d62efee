// Every token of KV that a call leaves is somewhere, over random programs: reckoned from the
// outside, from what calls wrote and found.

#include <gtest/gtest.h>

#include "replica/latency/linear.h"
#include "replica/serial/random_chains.h"

namespace inferscale {
namespace {

// Of a station after its last event: how many tokens are idle there and in its host memory, by what
// a further nanosecond adds to the integrals.
struct Remaining {
  TokenCount idle = 0;
  TokenCount host = 0;
};

Remaining remaining_in(Replica& replica, Instant at) {
  replica.settle(at);
  const KvRetentionUsage before = replica.usage().retention;
  replica.settle(at + Duration::nanos(1));
  const KvRetentionUsage& after = replica.usage().retention;
  return {.idle = static_cast<TokenCount>(after.idle_token_ns - before.idle_token_ns),
          .host = static_cast<TokenCount>(after.host_token_ns - before.host_token_ns)};
}

TEST(SerialConservationTest, WhatIsLeftIsFoundAgainOrDroppedForACauseOrStillThere) {
  const auto latency = make_linear(
      {.step_us = 0.01, .prefill_us_per_token = 0.001, .decode_ns_per_context_token = 1}, {});
  TokenCount found_in_all = 0;
  for (std::uint64_t seed = 5'000; seed < 6'000; ++seed) {
    SCOPED_TRACE(seed);
    ChainScenario scenario = random_chains(seed);
    // Whoever keeps all its history finds all of its chain's entry, or nothing.
    for (PlannedChain& chain : scenario.chains) {
      for (PlannedCall& call : chain.calls) call.cut = 0;
    }
    const PlannedRequests plan(scenario.chains);
    ChainDriver driver(plan);
    DurationHistogram gaps;
    const auto replica =
        make_serial_replica(scenario.options, {.latency = *latency, .sink = driver, .gaps = gaps});
    driver.run(*replica);
    const Remaining remaining = remaining_in(*replica, driver.end());
    TokenCount left = 0;
    TokenCount found = 0;
    for (const auto& [id, outcome] : driver.outcomes) {
      if (!outcome.finished()) continue;
      left += whole_tokens(scenario.options.layout, static_cast<TokenCount>(outcome.prompt_tokens) +
                                                        outcome.output_tokens - 1);
      found += outcome.cached_tokens;
    }
    const KvRetentionUsage& usage = replica->usage().retention;
    const bool offloads = scenario.options.retention->idle == IdleKv::kOffload;
    EXPECT_EQ(left, found + usage.evicted_ttl + usage.evicted_pressure + usage.dropped_ended +
                        usage.dropped_recompute + usage.host_evicted +
                        (offloads ? remaining.host : remaining.idle));
    if (offloads) {
      EXPECT_EQ(found, usage.restored);
    }
    EXPECT_EQ(replica->usage().prompt_tokens_cached, found);
    found_in_all += found;
  }
  EXPECT_GT(found_in_all, 100'000);
}

}  // namespace
}  // namespace inferscale

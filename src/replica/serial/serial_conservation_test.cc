// Every token of KV that a call leaves is somewhere, over random programs: reckoned from the
// outside, from what calls wrote and found.

#include <gtest/gtest.h>

#include <memory>

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

// What a call wrote: one whose prefill was broken off, nothing but what it had found.
TokenCount left_by(const Outcome& outcome) {
  if (outcome.start == Instant::never()) return 0;
  if (outcome.first_token == Instant::never()) return outcome.cached_tokens;
  return static_cast<TokenCount>(outcome.prompt_tokens) + outcome.output_tokens - 1;
}

class SerialConservationTest : public testing::Test {
 protected:
  // Callers go at random instants, most of them while their chain is at work.
  void add_leavers(std::uint64_t seed, ChainDriver& driver, const PlannedRequests& plan) {
    RandomStream dice(seed, "leavers");
    for (std::uint32_t chain = 0; chain < plan.chains().size(); ++chain) {
      const PlannedChain& planned = plan.chains()[chain];
      for (std::uint32_t turn = 0; turn < planned.calls.size(); ++turn) {
        const std::uint64_t after = dice.below(4'000);
        driver.leavers.emplace(planned.begin_ns + static_cast<std::int64_t>(after),
                               chain * PlannedRequests::kMostCalls + turn);
      }
    }
  }
  void check(std::uint64_t seed, bool callers_go) {
    ChainScenario scenario = random_chains(seed);
    // Whoever keeps all its history finds all of its chain's entry, or nothing.
    for (PlannedChain& chain : scenario.chains) {
      for (PlannedCall& call : chain.calls) call.cut = 0;
    }
    const PlannedRequests plan(scenario.chains);
    ChainDriver driver(plan);
    if (callers_go) add_leavers(seed, driver, plan);
    DurationHistogram gaps;
    const auto replica =
        make_serial_replica(scenario.options, {.latency = *latency_, .sink = driver, .gaps = gaps});
    driver.run(*replica);
    EXPECT_EQ(replica->load_at(driver.end()).kv_blocks_held, 0);
    const Remaining remaining = remaining_in(*replica, driver.end());
    TokenCount left = 0;
    TokenCount found = 0;
    for (const auto& [id, outcome] : driver.outcomes) {
      left += whole_tokens(scenario.options.layout, left_by(outcome));
      found += outcome.cached_tokens;
      if (outcome.status != OutcomeStatus::kAbandoned) continue;
      abandoned_in_service_ += outcome.start != Instant::never() ? 1 : 0;
      abandoned_waiting_ += outcome.start == Instant::never() ? 1 : 0;
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
    found_in_all_ += found;
  }

  std::unique_ptr<LatencyModel> latency_ = make_linear(
      {.step_us = 0.01, .prefill_us_per_token = 0.001, .decode_ns_per_context_token = 1}, {});
  TokenCount found_in_all_ = 0;
  std::int64_t abandoned_in_service_ = 0;
  std::int64_t abandoned_waiting_ = 0;
};

TEST_F(SerialConservationTest, WhatIsLeftIsFoundAgainOrDroppedForACauseOrStillThere) {
  for (std::uint64_t seed = 5'000; seed < 6'000; ++seed) {
    SCOPED_TRACE(seed);
    check(seed, false);
  }
  EXPECT_GT(found_in_all_, 100'000);
}

TEST_F(SerialConservationTest, AlsoWhereCallersGo) {
  for (std::uint64_t seed = 6'000; seed < 7'000; ++seed) {
    SCOPED_TRACE(seed);
    check(seed, true);
  }
  EXPECT_GT(found_in_all_, 50'000);
  EXPECT_GT(abandoned_in_service_, 200);
  EXPECT_GT(abandoned_waiting_, 200);
}

}  // namespace
}  // namespace inferscale

// What calls of chains find on a replica with a batch, worked out by hand: both replicas.
//
// Blocks of 4 tokens. A step takes 1 us and 0.1 us for each prompt token that it computes.

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "replica/latency/linear.h"
#include "replica/replica.h"

namespace inferscale {
namespace {

struct Ended final : ReplicaSink {
  void record(RequestId id, const Outcome& outcome) override { outcomes[id] = outcome; }
  void prefilled(const Handoff&) override {}
  void reserved(RequestId, TokenCount, Instant) override {}
  std::map<RequestId, Outcome> outcomes;
};

class BatchedRetention : public testing::TestWithParam<bool> {
 protected:
  void start(const KvRetentionOptions& retention, BlockCount blocks = 100) {
    options_.layout.block_tokens = 4;
    options_.kv_blocks = blocks;
    options_.prefix_caching = true;
    options_.max_model_len = 10'000;
    options_.retention = retention;
    const ReplicaSurroundings around{.latency = *latency_, .sink = sink_, .gaps = gaps_};
    replica_ = GetParam() ? make_stepwise_replica(options_, around)
                          : make_segment_replica(options_, around);
  }
  // A call whose prompt is what the chain has so far and `added` tokens; it generates `output`.
  RequestId call(std::uint32_t chain, std::int64_t at_ns, std::uint32_t added, std::uint32_t output,
                 bool ends_chain = false) {
    std::vector<ContentPiece>& said = said_[chain];
    const std::uint32_t history = tokens_of(said);
    said.push_back({.key = ++keys_, .tokens = added});
    Request& request = requests_.emplace_back();
    request.id = static_cast<RequestId>(requests_.size() - 1);
    request.arrival = Instant::nanos(at_ns);
    request.prompt_tokens = history + added;
    request.output_tokens = request.max_tokens = output;
    request.output_is_content = true;
    request.content_pieces = static_cast<std::uint32_t>(said.size());
    said.push_back({.key = ++keys_, .tokens = output});
    request.content = pieces_.emplace_back(said).data();
    request.program = &programs_.emplace_back(ProgramCall{.chain = chain,
                                                          .history_tokens = history,
                                                          .own_pieces_from = system_pieces_,
                                                          .ends_chain = ends_chain});
    wake_before(request.arrival);
    replica_->enqueue(request);
    return request.id;
  }
  void begin_with(std::uint32_t chain, const ContentPiece& system) {
    said_[chain] = {system};
    system_pieces_ = 1;
  }
  void wake_before(Instant end) {
    while (replica_->next_wake() < end) replica_->wake(replica_->next_wake());
  }
  const Outcome& of(RequestId id) {
    wake_before(Instant::never());
    return sink_.outcomes.at(id);
  }
  const KvRetentionUsage& usage_at(std::int64_t ns) {
    wake_before(Instant::nanos(ns));
    replica_->settle(Instant::nanos(ns));
    return replica_->usage().retention;
  }
  static std::uint32_t tokens_of(const std::vector<ContentPiece>& pieces) {
    std::uint32_t tokens = 0;
    for (const ContentPiece& piece : pieces) tokens += piece.tokens;
    return tokens;
  }

  std::unique_ptr<LatencyModel> latency_ =
      make_linear({.step_us = 1, .prefill_us_per_token = 0.1}, {});
  ReplicaOptions options_;
  Ended sink_;
  DurationHistogram gaps_;
  std::unique_ptr<Replica> replica_;
  std::deque<Request> requests_;
  std::deque<ProgramCall> programs_;
  std::deque<std::vector<ContentPiece>> pieces_;
  std::map<std::uint32_t, std::vector<ContentPiece>> said_;
  std::uint32_t system_pieces_ = 0;
  std::uint64_t keys_ = 100;
};

KvRetentionOptions with_ttl(std::int64_t ns) {
  KvRetentionOptions retention;
  retention.ttl = Duration::nanos(ns);
  return retention;
}

KvRetentionOptions offloading() {
  KvRetentionOptions retention;
  retention.idle = IdleKv::kOffload;
  retention.kv_bytes_per_token = 100;
  retention.host = {.capacity_bytes = 1e6, .base_latency = Duration::nanos(500), .bytes_per_ns = 1};
  return retention;
}

// The first call computes 10 tokens and generates 3: 2 us, then two steps of 1 us. 12 tokens are
// in the cache at 4 us, three blocks.
TEST_P(BatchedRetention, IdleTokensAreThereUntilTheirTtlEnds) {
  start(with_ttl(5000));
  call(0, 0, 10, 3);
  // In time by a nanosecond: of 15 tokens 12 are there.
  const RequestId second = call(0, 8999, 2, 2);
  EXPECT_EQ(of(second).cached_tokens, 12U);
  EXPECT_EQ(of(second).first_token.ns(), 8999 + 1000 + 300);
  // The second leaves 16 tokens at 11.299 us, which are gone at that instant plus 5 us.
  const RequestId third = call(0, 16'299, 1, 1);
  EXPECT_EQ(of(third).cached_tokens, 0U);
  const KvRetentionUsage& usage = usage_at(30'000);
  EXPECT_EQ(usage.evicted_ttl, 16 + 16);
  EXPECT_EQ(usage.evictions_ttl, 2);
  // 12 tokens from 4 to 8.999 us, 16 for 5 us, and 16 again after the third, of 18 tokens.
  EXPECT_EQ(usage.idle_token_ns, 12 * 4999.0 + 16 * 5000.0 + 16 * 5000.0);
}

TEST_P(BatchedRetention, WhatBlocksGrowIntoIsResidentFromTheStepsBeginning) {
  start({});
  call(0, 0, 4, 6);
  // Prefill: one block for 1.4 us. Four steps write tokens 5 to 8, the fifth the 9th.
  const KvRetentionUsage& usage = usage_at(8400);
  // Two whole blocks of the 9 tokens are left.
  EXPECT_EQ(usage.idle_token_ns, 8 * 2000.0);
  EXPECT_EQ(usage.resident_token_ns, 4 * 1400.0 + 8 * 4000.0 + 12 * 1000.0 + 8 * 2000.0);
  EXPECT_EQ(usage.resident_peak, 12);
}

TEST_P(BatchedRetention, APartOfAnIdleEntryIsEvictedWhenBlocksAreNeeded) {
  start({}, 5);
  call(0, 0, 10, 3);                             // leaves three blocks, two are blank
  const RequestId other = call(1, 5000, 12, 1);  // needs three: takes the end of what is idle
  EXPECT_EQ(of(other).cached_tokens, 0U);
  const RequestId second = call(0, 20'000, 1, 1);  // finds the first two
  EXPECT_EQ(of(second).cached_tokens, 8U);
  const KvRetentionUsage& usage = usage_at(50'000);
  // One block of chain 0, and later two of chain 1: its first was let go of last.
  EXPECT_EQ(usage.evicted_pressure, 4 + 8);
  EXPECT_EQ(usage.evictions_pressure, 2);
}

TEST_P(BatchedRetention, RecomputeKeepsNothingButWhatOthersBeginWith) {
  KvRetentionOptions retention;
  retention.idle = IdleKv::kRecompute;
  start(retention);
  begin_with(0, {.key = 1, .tokens = 8});
  call(0, 0, 10, 3);
  const RequestId second = call(0, 10'000, 1, 1);
  EXPECT_EQ(of(second).cached_tokens, 8U);
  // 20 tokens less the system's 8, and again 20 less 8: of its 22 tokens the last block is not
  // full.
  EXPECT_EQ(usage_at(30'000).dropped_recompute, 12 + 12);
}

TEST_P(BatchedRetention, AnEndedChainLeavesNothing) {
  start({});
  call(0, 0, 10, 3, true);
  EXPECT_EQ(usage_at(20'000).dropped_ended, 12);
  EXPECT_EQ(usage_at(20'000).idle_token_ns, 0);
}

TEST_P(BatchedRetention, AChainThatEndsElsewhereLeavesAtThatInstant) {
  start({});
  const RequestId id = call(0, 0, 10, 3);
  wake_before(Instant::nanos(7000));
  replica_->end_chain(requests_[id], Instant::nanos(7000));
  EXPECT_EQ(usage_at(20'000).dropped_ended, 12);
  EXPECT_EQ(usage_at(20'000).idle_token_ns, 12 * 3000.0);
}

// 12 tokens of 100 bytes move in 500 + 1200 ns, from 4 us on.
TEST_P(BatchedRetention, OffloadedTokensComeBackBeforeTheFirstChunk) {
  start(offloading());
  call(0, 0, 10, 3);
  const RequestId second = call(0, 20'000, 2, 1);
  EXPECT_EQ(of(second).cached_tokens, 12U);
  EXPECT_EQ(of(second).start.ns(), 20'000);
  EXPECT_EQ(of(second).first_token.ns(), 20'000 + 1700 + 1000 + 300);
  EXPECT_EQ(replica_->usage().prompt_tokens_cached, 12);
  // The second leaves 15 tokens at 23 us; all three blocks move again.
  const KvRetentionUsage& usage = usage_at(40'000);
  EXPECT_EQ(usage.offloads, 2);
  EXPECT_EQ(usage.restored, 12);
  EXPECT_EQ(usage.restore_ns, 1700);
  EXPECT_EQ(usage.exposed_ns, 0);
  EXPECT_EQ(usage.idle_token_ns, 2 * 12 * 1700.0);
  EXPECT_EQ(usage.host_token_ns, 12 * 16'000.0 + 12 * 17'000.0);
}

TEST_P(BatchedRetention, WhatHasNotMovedYetIsReadWhereItIs) {
  start(offloading());
  call(0, 0, 10, 3);
  const RequestId second = call(0, 5000, 2, 1);
  EXPECT_EQ(of(second).cached_tokens, 12U);
  EXPECT_EQ(of(second).first_token.ns(), 5000 + 1000 + 300);
  const KvRetentionUsage& usage = usage_at(40'000);
  EXPECT_EQ(usage.restores, 0);
  EXPECT_EQ(usage.exposed_ns, 0);
  EXPECT_EQ(usage.host_token_ns, 12 * 1000.0 + 12 * 33'700.0);
}

// Others took the blocks during the move: the rest of it is waited for, and the difference loaded.
TEST_P(BatchedRetention, WhatIsLeftOfAMoveIsExposedWhereHbmHasLostIt) {
  start(offloading(), 5);
  call(0, 0, 10, 3);
  // Computes 12 tokens in 2.2 us, of three blocks: the last one of chain 0's among them.
  const RequestId other = call(1, 4000, 12, 1, true);
  const RequestId second = call(0, 4100, 2, 1);
  // Admitted at 6.2 us, when the move is done: HBM's copy is gone.
  EXPECT_EQ(of(other).finish.ns(), 6200);
  EXPECT_EQ(of(second).first_token.ns(), 6200 + 1700 + 1000 + 300);
  EXPECT_EQ(usage_at(40'000).exposed_ns, 0);

  // The same with a slower link: 12 tokens in 500 + 4800 ns, done at 9.3 us.
  KvRetentionOptions slow = offloading();
  slow.host.bytes_per_ns = 0.25;
  sink_.outcomes.clear();
  said_.clear();
  start(slow, 5);
  call(0, 0, 10, 3);
  call(1, 4000, 12, 1, true);
  const RequestId late = call(0, 4100, 2, 1);
  EXPECT_EQ(of(late).cached_tokens, 12U);
  // It waits for 3.1 us, and loads 4 tokens in 500 + 1600 ns.
  EXPECT_EQ(of(late).first_token.ns(), 6200 + 3100 + 2100 + 1000 + 300);
  const KvRetentionUsage& usage = usage_at(60'000);
  EXPECT_EQ(usage.exposed_ns, 3100);
  EXPECT_EQ(usage.restored, 4);
}

TEST_P(BatchedRetention, AStepWaitsForARestoreAsAWhole) {
  start(offloading());
  call(0, 0, 10, 3);
  const RequestId other = call(1, 20'000, 8, 1);
  const RequestId second = call(0, 20'000, 2, 1);
  // Both prompts in one step: 1 us, 8 and 3 tokens, and 1.7 us for the restore.
  EXPECT_EQ(of(other).first_token.ns(), 20'000 + 1000 + 1100 + 1700);
  EXPECT_EQ(of(second).first_token, of(other).first_token);
}

TEST_P(BatchedRetention, AFailureLosesBothMemories) {
  start(offloading());
  call(0, 0, 10, 3);
  wake_before(Instant::nanos(10'000));
  EXPECT_TRUE(replica_->fail(Instant::nanos(10'000)).empty());
  const RequestId second = call(0, 20'000, 2, 1);
  EXPECT_EQ(of(second).cached_tokens, 0U);
  EXPECT_EQ(usage_at(22'500).host_token_ns, 12 * 6000.0);
}

INSTANTIATE_TEST_SUITE_P(Replicas, BatchedRetention, testing::Bool(),
                         [](const auto& one) { return one.param ? "Stepwise" : "Segments"; });

}  // namespace
}  // namespace inferscale

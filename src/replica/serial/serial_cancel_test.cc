// Callers who leave a serial station, by hand. A prefill of n tokens takes 1000 + 100 n ns, a
// decode step 1000 ns; blocks of 4 tokens, 10 of them. Calls are {appended, output, gap}.

#include <gtest/gtest.h>

#include "replica/serial/station_test_support.h"

namespace inferscale {
namespace {

class SerialCancelTest : public SerialStationTest {
 protected:
  // After all wake-ups before `at_ns`.
  bool cancel(std::uint32_t chain, std::uint32_t turn, std::int64_t at_ns) {
    while (replica_->next_wake().ns() < at_ns) replica_->wake(replica_->next_wake());
    const RequestId id = chain * PlannedRequests::kMostCalls + turn;
    const bool was_here = replica_->cancel(id, Instant::nanos(at_ns));
    EXPECT_EQ(replica_->broken_invariant(), nullptr);
    return was_here;
  }
  void expect_abandoned(const Outcome& outcome, std::uint32_t tokens) {
    EXPECT_EQ(outcome.status, OutcomeStatus::kAbandoned);
    EXPECT_EQ(outcome.reason, Reason::kClientGone);
    EXPECT_EQ(outcome.finish, Instant::never());
    EXPECT_EQ(outcome.output_tokens, tokens);
  }
};

TEST_F(SerialCancelTest, AWaitingCallGoesAtOnce) {
  plan({{.calls = {{10, 3}}}, {.calls = {{10, 1}}}, {.calls = {{10, 1}}}});
  for (std::uint32_t chain = 0; chain < 3; ++chain) enqueue(chain, 0);
  EXPECT_TRUE(cancel(1, 0, 100));
  expect_abandoned(of(1, 0), 0);
  EXPECT_EQ(of(1, 0).start, Instant::never());
  EXPECT_FALSE(cancel(1, 0, 200));
  wake_to_the_end();
  EXPECT_EQ(of(2, 0).start.ns(), 4'000);
  EXPECT_FALSE(cancel(2, 0, 10'000));
  EXPECT_EQ(replica_->load_at(Instant::nanos(10'000)).tokens_in_flight, 0);
}

TEST_F(SerialCancelTest, ServiceStopsAtOnceAndTheNextBegins) {
  plan({{.calls = {{10, 5}, {7, 1}}}, {.calls = {{10, 1}}}});
  enqueue(0, 0);
  enqueue(1, 0);
  // First token at 2000, second at 3000; the third would come at 4000.
  EXPECT_TRUE(cancel(0, 0, 3'500));
  expect_abandoned(of(0, 0), 2);
  EXPECT_EQ(of(0, 0).first_token.ns(), 2'000);
  EXPECT_EQ(of(0, 0).itl_max.ns(), 1'000);
  EXPECT_EQ(gaps_.total(), 1);
  EXPECT_EQ(replica_->usage().decode_steps, 1);
  EXPECT_EQ(replica_->usage().busy_ns, 3'500);
  EXPECT_EQ(replica_->load_at(Instant::nanos(3'500)).kv_blocks_held, 0);
  wake(3'500);
  EXPECT_EQ(replica_->load_at(Instant::nanos(3'500)).running, 1);
  wake_to_the_end();
  EXPECT_EQ(of(1, 0).start.ns(), 3'500);
  // 10 + 2 - 1 = 11 tokens were written: 8 in whole blocks.
  enqueue(0, 1, 20'000);
  wake_to_the_end();
  EXPECT_EQ(of(0, 1).cached_tokens, 8U);
}

TEST_F(SerialCancelTest, AtTheInstantOfAStepsEndTheStepHasNotEnded) {
  plan({{.calls = {{10, 5}}}});
  enqueue(0, 0);
  EXPECT_TRUE(cancel(0, 0, 3'000));
  expect_abandoned(of(0, 0), 1);
  EXPECT_EQ(gaps_.total(), 0);
  EXPECT_EQ(replica_->next_wake(), Instant::never());
}

TEST_F(SerialCancelTest, APrefillThatIsBrokenOffLeavesWhatItHadFound) {
  plan({{.calls = {{10, 3}, {7, 2}, {1, 1}}}});
  enqueue(0, 0);
  wake_to_the_end();  // leaves 12 tokens
  enqueue(0, 1, 10'000);
  EXPECT_TRUE(cancel(0, 1, 10'500));
  expect_abandoned(of(0, 1), 0);
  EXPECT_EQ(of(0, 1).start.ns(), 10'000);
  EXPECT_EQ(of(0, 1).cached_tokens, 12U);
  EXPECT_EQ(of(0, 1).first_token, Instant::never());
  EXPECT_EQ(replica_->usage().prefill_steps, 1);
  enqueue(0, 2, 20'000);
  wake_to_the_end();
  EXPECT_EQ(of(0, 2).cached_tokens, 12U);
}

TEST_F(SerialCancelTest, AHeadThatWaitsForAMoveOutMakesWay) {
  options_.retention = KvRetentionOptions{
      .idle = IdleKv::kOffload,
      .host = {.capacity_bytes = 1e6, .base_latency = Duration::nanos(10'000), .bytes_per_ns = 1},
      .kv_bytes_per_token = 1};
  plan({{.calls = {{32, 1}, {1, 1}}}, {.calls = {{20, 1}}}, {.calls = {{8, 1}}}});
  for (std::uint32_t chain = 0; chain < 3; ++chain) enqueue(chain, 0);
  // 1000 + 3200; then 32 of 40 tokens move out until 14232, and 20 do not fit beside them.
  wake(0);
  wake(4'200);
  EXPECT_EQ(replica_->next_wake().ns(), 14'232);
  EXPECT_TRUE(cancel(1, 0, 5'000));
  wake(5'000);
  wake_to_the_end();
  EXPECT_EQ(of(2, 0).start.ns(), 5'000);
  EXPECT_EQ(of(2, 0).finish.ns(), 5'000 + 1'800);
}

}  // namespace
}  // namespace inferscale

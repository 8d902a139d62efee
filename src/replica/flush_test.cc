// What a replica says of those still in it when a run is cut short: nothing that has not happened.

#include <gtest/gtest.h>

#include <map>

#include "replica/latency/linear.h"
#include "replica/replica.h"

namespace inferscale {
namespace {

class OutcomeMap final : public ReplicaSink {
 public:
  void record(RequestId id, const Outcome& outcome) override { outcomes[id] = outcome; }
  void prefilled(const Handoff&) override {}
  void reserved(RequestId, TokenCount, Instant) override {}
  std::map<RequestId, Outcome> outcomes;
};

Request request(RequestId id, std::uint32_t output, Instant arrival) {
  return {.id = id,
          .prompt_tokens = 4,
          .output_tokens = output,
          .max_tokens = output,
          .arrival = arrival};
}

// With segments and with single steps. Every step takes 1000 ns, and every gap exceeds the limit.
class FlushTest : public testing::TestWithParam<bool> {
 protected:
  void wake() { replica_->wake(replica_->next_wake()); }

  std::unique_ptr<LatencyModel> latency_ = make_linear({.step_us = 1}, {});
  OutcomeMap sink_;
  ReplicaOptions options_{
      .kv_blocks = 100, .max_model_len = 1000, .itl_limit = Duration::nanos(500)};
  DurationHistogram gaps_;
  const ReplicaSurroundings surroundings_{.latency = *latency_, .sink = sink_, .gaps = gaps_};
  std::unique_ptr<Replica> replica_ = GetParam() ? make_stepwise_replica(options_, surroundings_)
                                                 : make_segment_replica(options_, surroundings_);
};

TEST_P(FlushTest, AGapThatHasNotEndedIsNotCounted) {
  replica_->enqueue(request(0, 5, Instant()));
  wake();  // the prefill starts
  wake();  // it ends with the first token, and decoding starts
  EXPECT_EQ(gaps_.total(), 0);
  replica_->flush();
  EXPECT_EQ(gaps_.total(), 0);
  const Outcome& outcome = sink_.outcomes[0];
  EXPECT_EQ(outcome.status, OutcomeStatus::kUnfinished);
  EXPECT_EQ(outcome.first_token.ns(), 1000);
  EXPECT_EQ(outcome.finish, Instant::never());
  EXPECT_EQ(outcome.itl_max, Duration());
  EXPECT_EQ(outcome.gaps_over_limit, 0U);
}

TEST_P(FlushTest, APrefillingRequestHasNoGapsOfTheOneBefore) {
  replica_->enqueue(request(0, 5, Instant()));
  while (!sink_.outcomes.contains(0)) wake();
  EXPECT_EQ(sink_.outcomes[0].gaps_over_limit, 4U);
  replica_->enqueue(request(1, 5, Instant::nanos(90'000)));
  wake();
  replica_->flush();
  const Outcome& outcome = sink_.outcomes[1];
  EXPECT_EQ(outcome.status, OutcomeStatus::kUnfinished);
  EXPECT_EQ(outcome.start.ns(), 90'000);
  EXPECT_EQ(outcome.first_token, Instant::never());
  EXPECT_EQ(outcome.itl_max, Duration());
  EXPECT_EQ(outcome.gaps_over_limit, 0U);
}

TEST_P(FlushTest, WaitingRequestsAreUnfinishedToo) {
  options_.max_num_seqs = 1;
  replica_ = GetParam() ? make_stepwise_replica(options_, surroundings_)
                        : make_segment_replica(options_, surroundings_);
  for (RequestId id = 0; id < 3; ++id) replica_->enqueue(request(id, 5, Instant()));
  wake();
  replica_->flush();
  ASSERT_EQ(sink_.outcomes.size(), 3U);
  for (const auto& [id, outcome] : sink_.outcomes) {
    EXPECT_EQ(outcome.status, OutcomeStatus::kUnfinished) << id;
    EXPECT_EQ(outcome.start == Instant::never(), id > 0) << id;
  }
}

INSTANTIATE_TEST_SUITE_P(Replicas, FlushTest, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Stepwise" : "Segments";
});

}  // namespace
}  // namespace inferscale

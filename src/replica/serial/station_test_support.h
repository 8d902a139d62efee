// A small serial station for tests with numbers that one can work by hand.
//
// A prefill of n tokens takes 1000 + 100 n ns, a decode step 1000 ns. A block has 4 tokens, the
// cache 10 blocks: 40 tokens.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "replica/latency/linear.h"
#include "replica/serial/serial_test_support.h"

namespace inferscale {

class SerialStationTest : public testing::Test {
 protected:
  // A new station, and the requests of the chains for it.
  void plan(std::vector<PlannedChain> chains) {
    plan_ = std::make_unique<PlannedRequests>(std::move(chains));
    driver_ = std::make_unique<ChainDriver>(*plan_);
    replica_ =
        make_serial_replica(options_, {.latency = *latency_, .sink = *driver_, .gaps = gaps_});
  }
  // The same, driven to the last event.
  void run(std::vector<PlannedChain> chains) {
    plan(std::move(chains));
    driver_->run(*replica_);
  }
  // For those that drive it themselves.
  void enqueue(std::uint32_t chain, std::uint32_t turn, std::int64_t at_ns = 0) {
    Request request = plan_->request(chain, turn);
    request.arrival = Instant::nanos(at_ns);
    replica_->enqueue(request);
  }
  void wake(std::int64_t at_ns) {
    ASSERT_EQ(replica_->next_wake().ns(), at_ns);
    replica_->wake(Instant::nanos(at_ns));
  }
  void wake_to_the_end() {
    while (replica_->next_wake() != Instant::never()) replica_->wake(replica_->next_wake());
  }

  const Outcome& of(std::uint32_t chain, std::uint32_t turn) const {
    return driver_->outcomes.at(chain * PlannedRequests::kMostCalls + turn);
  }
  const KvRetentionUsage& usage() const { return replica_->usage().retention; }

  std::unique_ptr<LatencyModel> latency_ =
      make_linear({.step_us = 1, .prefill_us_per_token = 0.1}, {});
  ReplicaOptions options_{.layout = {.block_tokens = 4},
                          .kv_blocks = 10,
                          .max_model_len = 1000,
                          .retention = KvRetentionOptions{}};
  DurationHistogram gaps_;
  std::unique_ptr<PlannedRequests> plan_;
  std::unique_ptr<ChainDriver> driver_;
  std::unique_ptr<Replica> replica_;
};

}  // namespace inferscale

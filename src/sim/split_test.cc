// Prefill and decode pools, every timestamp worked out by hand. A step takes 1 ms, a transfer
// 100 us and 10 us a token.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sim/fleet_test_support.h"
#include "workload/generated_source.h"

namespace inferscale {
namespace {

TEST(Split, PrefillThenTransferThenDecode) {
  const SimulationResult result =
      run_fleet(split_of(1, 1), {request_at(0, 0, 10, 3), request_at(1, 500, 20, 2)});
  const Outcome& a = result.outcomes[0];
  // Prefill to 1000, transfer to 1200, tokens at 2200 and 3200.
  EXPECT_EQ(a.start, at_us(0));
  EXPECT_EQ(a.first_token, at_us(1000));
  EXPECT_EQ(a.finish, at_us(3200));
  EXPECT_EQ(a.itl_max, micros(1200));
  EXPECT_EQ(a.replica, 1U);
  const Outcome& b = result.outcomes[1];
  // Prefill 1000 to 2000. The decode replica reserves at its boundary, 2200; transfer to 2500;
  // from the boundary at 3200 on it decodes.
  EXPECT_EQ(b.start, at_us(1000));
  EXPECT_EQ(b.first_token, at_us(2000));
  EXPECT_EQ(b.finish, at_us(4200));
  const TransferFacts& facts = result.transfers;
  EXPECT_EQ(facts.handed_over, 2);
  EXPECT_EQ(facts.started, 2);
  EXPECT_EQ(facts.completed, 2);
  EXPECT_EQ(facts.cut, 0);
  EXPECT_EQ(facts.bytes, 30'000);
  EXPECT_EQ(facts.link_busy, micros(500));
  EXPECT_EQ(facts.reserving_ns, 200e3);
  EXPECT_EQ(facts.moving_ns, 500e3);
  EXPECT_EQ(facts.moving_max, micros(300));
}

TEST(Split, ASerialLinkMovesOneAfterTheOther) {
  const SimulationResult result = run_fleet(split_of(1, 1, LinkSharing::kSerial),
                                            {request_at(0, 0, 10, 2), request_at(1, 0, 20, 2)});
  // Both are prefilled at 1000; transfers to 1200 and 1500.
  EXPECT_EQ(result.outcomes[0].finish, at_us(2200));
  EXPECT_EQ(result.outcomes[1].finish, at_us(3200));
  EXPECT_EQ(result.transfers.moving_ns, 700e3);
}

TEST(Split, AFairLinkIsShared) {
  const SimulationResult result = run_fleet(split_of(1, 1, LinkSharing::kFair),
                                            {request_at(0, 0, 10, 2), request_at(1, 0, 20, 2)});
  // Both move from 1100 at half speed: 0 until 1300, 1 has 100 us left and ends at 1400.
  EXPECT_EQ(result.outcomes[0].finish, at_us(2300));
  EXPECT_EQ(result.outcomes[1].finish, at_us(3300));
  EXPECT_EQ(result.transfers.moving_ns, 700e3);
  EXPECT_EQ(result.transfers.link_busy, micros(400));
}

TEST(Split, FullDecodeMemoryHoldsTransfersAndPrefillsBack) {
  FleetOptions fleet = split_of(1, 1);
  fleet.groups[0].replica.kv_blocks = 4;  // two prompts of 16 tokens
  fleet.groups[1].replica.kv_blocks = 3;  // one sequence
  const SimulationResult result =
      run_fleet(fleet, {request_at(0, 0, 16, 3), request_at(1, 0, 16, 3), request_at(2, 0, 16, 3)});
  // 0: transfer 1000 to 1260, tokens at 2260 and 3260.
  EXPECT_EQ(result.outcomes[0].finish, at_us(3260));
  // 1: reserved when 0 leaves, transfer to 3520, tokens at 4520 and 5520.
  EXPECT_EQ(result.outcomes[1].first_token, at_us(1000));
  EXPECT_EQ(result.outcomes[1].finish, at_us(5520));
  // 2: prefilled when 0 has moved out, reserved when 1 leaves.
  EXPECT_EQ(result.outcomes[2].start, at_us(1260));
  EXPECT_EQ(result.outcomes[2].first_token, at_us(2260));
  EXPECT_EQ(result.outcomes[2].finish, at_us(7780));
}

TEST(Split, OneTokenNeedsNoDecode) {
  const SimulationResult result = run_fleet(split_of(1, 1), {request_at(0, 0, 10, 1)});
  EXPECT_EQ(result.outcomes[0].finish, at_us(1000));
  EXPECT_EQ(result.outcomes[0].replica, 0U);
  EXPECT_EQ(result.transfers.handed_over, 0);
}

TEST(Split, WhoDoesNotFitInEitherPoolIsRefusedAtOnce) {
  FleetOptions fleet = split_of(1, 1);
  fleet.groups[0].replica.kv_blocks = 10;  // 80 tokens
  fleet.groups[1].replica.kv_blocks = 20;  // 160 tokens
  const SimulationResult result = run_fleet(
      fleet, {request_at(0, 0, 81, 2), request_at(1, 0, 80, 82), request_at(2, 0, 80, 81)});
  EXPECT_EQ(result.outcomes[0].reason, Reason::kExceedsKvCache);
  EXPECT_EQ(result.outcomes[1].reason, Reason::kExceedsKvCache);
  EXPECT_TRUE(result.outcomes[2].finished());
}

TEST(Split, TheDecodeReplicaIsChosenWhenThePrefillEnds) {
  FleetOptions fleet = split_of(1, 2);
  const SimulationResult result = run_fleet(
      fleet, {request_at(0, 0, 10, 9), request_at(1, 0, 10, 2), request_at(2, 3000, 10, 2)});
  EXPECT_EQ(result.outcomes[0].replica, 1U);
  EXPECT_EQ(result.outcomes[1].replica, 2U);
  EXPECT_EQ(result.outcomes[2].replica, 2U);  // 1 has left it
}

SimulationResult run_busy(const FleetOptions& fleet, std::optional<Duration> samples = {},
                          bool stepwise = false) {
  GeneratedSource source(
      {.requests = 3000,
       .arrivals =
           BurstyArrivals{.rate_rps = 200, .burst_factor = 8, .period = Duration::from_seconds(1)},
       .prompt_tokens = {.shape = LognormalLength{.mean = 60, .cv = 1}},
       .output_tokens = {.shape = LognormalLength{.mean = 40, .cv = 1}}},
      7);
  const RunOptions options{.stepwise = stepwise, .verify = true, .signals_interval = samples};
  SimulationResult result = simulate_fleet(fleet, options, source, {});
  for (const std::string& violation : result.violations) ADD_FAILURE() << violation;
  return result;
}

TEST(Split, BusyPoolsHoldTheInvariants) {
  for (const LinkSharing sharing : {LinkSharing::kSerial, LinkSharing::kFair}) {
    for (const std::int64_t blocks : {100, 1000}) {
      FleetOptions fleet = split_of(2, 3, sharing);
      fleet.groups[1].replica.kv_blocks = blocks;
      const SimulationResult result = run_busy(fleet);
      EXPECT_EQ(result.stuck, "");
      EXPECT_GT(result.transfers.completed, 2900);
      EXPECT_EQ(result.transfers.started, result.transfers.completed);
      const SimulationResult again = run_busy(fleet, micros(3333));
      EXPECT_EQ(std::memcmp(result.outcomes.data(), again.outcomes.data(),
                            result.outcomes.size() * sizeof(Outcome)),
                0);
      EXPECT_EQ(result.usage.preemptions > 0, blocks == 100);
    }
  }
}

// Failures at either end of a hand-over.

TEST(Split, AFailedPrefillReplicaTakesItsTransfersWithIt) {
  FleetOptions fleet = split_of(2, 1);
  fleet.failures.planned.push_back({0, at_us(1100), std::nullopt});
  const SimulationResult result = run_fleet(fleet, {request_at(0, 0, 10, 2)});
  // Cut in its transfer at 1100; prefilled by replica 1 until 2100, moved until 2300.
  EXPECT_EQ(result.outcomes[0].arrival, at_us(0));
  EXPECT_EQ(result.outcomes[0].start, at_us(1100));
  EXPECT_EQ(result.outcomes[0].first_token, at_us(2100));
  EXPECT_EQ(result.outcomes[0].finish, at_us(3300));
  EXPECT_EQ(result.transfers.cut, 1);
  EXPECT_EQ(result.transfers.started, 2);
  EXPECT_EQ(result.fleet.retries, 1);
}

TEST(Split, AFailedDecodeReplicaSendsItsRequestsBackToPrefill) {
  FleetOptions fleet = split_of(1, 2);
  fleet.failures.planned.push_back({1, at_us(1100), std::nullopt});
  fleet.failures.planned.push_back({2, at_us(4000), micros(1000)});
  const SimulationResult result = run_fleet(fleet, {request_at(0, 0, 10, 3)});
  // To replica 1, cut at 1100; prefilled again until 2100, moved to replica 2 until 2300, decodes
  // when it fails at 4000; prefilled until 5000, waits for nothing: replica 2 returns at 5000 and
  // takes it; moved until 5200, tokens at 6200 and 7200.
  EXPECT_EQ(result.outcomes[0].first_token, at_us(5000));
  EXPECT_EQ(result.outcomes[0].finish, at_us(7200));
  EXPECT_EQ(result.transfers.cut, 1);
  EXPECT_EQ(result.transfers.completed, 2);
  EXPECT_EQ(result.fleet.retries, 2);
}

TEST(Split, PrefilledRequestsWaitForADecodeReplica) {
  FleetOptions fleet = split_of(1, 1);
  fleet.failures.planned.push_back({1, at_us(500), micros(4000)});
  const SimulationResult result = run_fleet(fleet, {request_at(0, 0, 10, 2)});
  EXPECT_EQ(result.outcomes[0].first_token, at_us(1000));
  EXPECT_EQ(result.outcomes[0].finish, at_us(4500 + 200 + 1000));
  fleet.failures.planned[0].return_after = std::nullopt;
  RunOptions options;
  const SimulationResult stuck = run_fleet(fleet, {request_at(0, 0, 10, 2)}, options);
  EXPECT_EQ(stuck.outcomes[0].status, OutcomeStatus::kUnfinished);
  EXPECT_EQ(stuck.stuck,
            "1 request is left: no decode replica is up, and none will return or start (1 were "
            "prefilled and wait for one)");
}

TEST(Split, RandomFailuresAtBothEndsHoldTheInvariants) {
  for (const LinkSharing sharing : {LinkSharing::kSerial, LinkSharing::kFair}) {
    FleetOptions fleet = split_of(3, 4, sharing);
    fleet.groups[1].replica.kv_blocks = 60;
    fleet.split->link.bandwidth = 4e7;
    fleet.failures.random = RandomFailures{.mtbf = micros(500'000), .mttr = micros(100'000)};
    const SimulationResult result = run_busy(fleet);
    EXPECT_EQ(result.stuck, "");
    EXPECT_GT(result.fleet.failures, 50);
    EXPECT_GT(result.fleet.retries, 50);
    EXPECT_GT(result.transfers.cut, 5);
    EXPECT_EQ(result.transfers.started, result.transfers.completed + result.transfers.cut);
    const SimulationResult steps = run_busy(fleet, std::nullopt, true);
    EXPECT_EQ(std::memcmp(result.outcomes.data(), steps.outcomes.data(),
                          result.outcomes.size() * sizeof(Outcome)),
              0);
  }
}

}  // namespace
}  // namespace inferscale

// Pools and rows of a fleet, worked by hand.

#include "metrics/fleet_summary.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

ReplicaReport report(std::uint32_t index, const char* pool, double up_s, double busy_s,
                     std::int64_t finished) {
  return {.index = index,
          .pool = pool,
          .accelerators = 2,
          .up = Duration::from_seconds(up_s),
          .busy_ns = 1e9 * busy_s,
          .finished = finished};
}

TEST(FleetSummary, AddsUpEachPool) {
  std::vector<ReplicaReport> replicas = {
      report(0, "prefill", 3600, 1800, 0), report(1, "decode", 3600, 900, 30),
      report(2, "prefill", 1800, 600, 0), report(3, "decode", 3600, 2700, 10)};
  replicas[1].accelerators = 4;
  const FleetSummary fleet = summarize_fleet(replicas);
  EXPECT_EQ(fleet.replicas, 4);
  EXPECT_DOUBLE_EQ(fleet.accelerator_hours, 2 + 4 + 1 + 2);
  ASSERT_EQ(fleet.pools.size(), 2U);
  const PoolSummary& prefill = fleet.pools[0];
  EXPECT_EQ(prefill.name, "prefill");
  EXPECT_EQ(prefill.replicas, 2);
  EXPECT_DOUBLE_EQ(prefill.up_hours, 1.5);
  EXPECT_DOUBLE_EQ(prefill.accelerator_hours, 3);
  EXPECT_DOUBLE_EQ(*prefill.busy_fraction, 2400.0 / 5400);
  EXPECT_DOUBLE_EQ(*prefill.busy_imbalance, 1800.0 / 1200);
  EXPECT_EQ(prefill.finished_imbalance, std::nullopt);  // nobody finished any: no share of nothing
  const PoolSummary& decode = fleet.pools[1];
  EXPECT_EQ(decode.finished, 40);
  EXPECT_DOUBLE_EQ(*decode.busy_imbalance, 1.5);
  EXPECT_DOUBLE_EQ(*decode.finished_imbalance, 1.5);
}

TEST(FleetSummary, NobodyHasNoFigures) {
  EXPECT_EQ(summarize_fleet({}).replicas, 0);
  EXPECT_TRUE(summarize_fleet({}).pools.empty());
  EXPECT_TRUE(fleet_rows({}).empty());
}

TEST(FleetRows, OfAFewReplicasAreTheReplicas) {
  std::vector<ReplicaReport> replicas;
  for (std::uint32_t i = 0; i < 16; ++i) replicas.push_back(report(i, "replicas", 10, 5, i));
  replicas[3].prompt_tokens_looked_up = 200;
  replicas[3].prompt_tokens_cached = 50;
  replicas[3].kv_blocks = 10;
  replicas[3].kv_blocks_peak = 9;
  replicas[3].kv_block_ns = 50e9;
  replicas[3].queue_peak = 7;
  const std::vector<FleetRow> rows = fleet_rows(replicas);
  ASSERT_EQ(rows.size(), 16U);
  EXPECT_EQ(rows[3].replica, "3");
  EXPECT_EQ(rows[3].finished, 3);
  EXPECT_EQ(rows[3].busy_fraction, 0.5);
  EXPECT_EQ(rows[3].prefix_hit_rate, 0.25);
  EXPECT_EQ(rows[3].kv_used_mean, 0.5);
  EXPECT_EQ(rows[3].kv_used_peak, 0.9);
  EXPECT_EQ(rows[3].queue_peak, 7);
  EXPECT_EQ(rows[4].prefix_hit_rate, std::nullopt);  // without a cache there is no rate, not 0
  EXPECT_EQ(rows[4].kv_used_mean, std::nullopt);
}

TEST(FleetRows, OfManyAreQuantilesOfEachPool) {
  std::vector<ReplicaReport> replicas;
  for (std::uint32_t i = 0; i < 20; ++i) replicas.push_back(report(i, "big", 10, 0.5 * i, 100 - i));
  replicas.push_back(report(20, "small", 4, 1, 3));
  replicas[7].prompt_tokens_looked_up = 10;
  const std::vector<FleetRow> rows = fleet_rows(replicas);
  ASSERT_EQ(rows.size(), 8U);
  const char* const kNames[] = {"min", "p50", "p90", "max"};
  const double kBusy[] = {0, 0.45, 0.85, 0.95};  // of ranks 1, 10, 18 and 20
  const double kFinished[] = {81, 90, 98, 100};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows[i].pool, "big");
    EXPECT_EQ(rows[i].replica, kNames[i]);
    EXPECT_DOUBLE_EQ(*rows[i].busy_fraction, kBusy[i]);
    EXPECT_EQ(rows[i].finished, kFinished[i]);
    EXPECT_EQ(rows[i].prefix_hit_rate, 0);  // of the one replica that has it
    EXPECT_EQ(rows[4 + i].pool, "small");
    EXPECT_EQ(rows[4 + i].finished, 3);
    EXPECT_EQ(rows[4 + i].prefix_hit_rate, std::nullopt);
  }
}

}  // namespace
}  // namespace inferscale

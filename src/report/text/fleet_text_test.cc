// The table of replicas: rows, dashes, and quantiles for many.

#include "report/text/fleet_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace inferscale {
namespace {

std::vector<ReplicaReport> replicas(std::uint32_t count) {
  std::vector<ReplicaReport> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.push_back({.index = i,
                   .pool = "replicas",
                   .up = Duration::from_seconds(100),
                   .busy_ns = i == 0 ? 100e9 : 50e9,
                   .finished = 10 + i});
  }
  return all;
}

std::string text_of(const std::vector<ReplicaReport>& all) {
  return fleet_text(summarize_fleet(all), all);
}

TEST(FleetText, OneReplicaNeedsNoTable) {
  EXPECT_EQ(text_of(replicas(1)), "");
  EXPECT_EQ(text_of({}), "");
}

TEST(FleetText, AFewAreListed) {
  std::vector<ReplicaReport> all = replicas(2);
  all[1].prompt_tokens_looked_up = 4;
  all[1].prompt_tokens_cached = 1;
  all[1].kv_blocks = 8;
  all[1].kv_blocks_peak = 6;
  all[1].queue_peak = 5;
  EXPECT_EQ(text_of(all),
            "\n"
            "  pool      replica  up s     busy  finished  preempted  prefix hits  KV mean  "
            "KV peak  queue peak\n"
            "  replicas  0         100  100.0 %        10          0            -        -  "
            "      -           0\n"
            "  replicas  1         100   50.0 %        11          0       25.0 %    0.0 %  "
            " 75.0 %           5\n"
            "\n"
            "Pool       replicas: 2 replicas, busy 75.0 % of the time up; the busiest 1.33 times "
            "the mean; the one that finished most 1.05 times\n");
}

TEST(FleetText, ManyAreQuantiles) {
  const std::string text = text_of(replicas(17));
  EXPECT_NE(text.find("  replicas  min"), std::string::npos) << text;
  EXPECT_NE(text.find("  replicas  max"), std::string::npos);
  EXPECT_EQ(text.find("  replicas  0"), std::string::npos);
}

}  // namespace
}  // namespace inferscale

// Groups of layers against what vLLM's rule gives, worked out by hand.

#include "catalog/kv_groups.h"

#include <gtest/gtest.h>

#include "catalog/models.h"

namespace inferscale {
namespace {

ModelSpec with_windows(std::int64_t layers, std::int64_t windowed) {
  ModelSpec model;
  model.layers = layers;
  model.sliding_window = windowed > 0 ? 1024 : 0;
  model.sliding_window_layers = windowed;
  return model;
}

TEST(KvGroups, AlikeLayersAreOneGroup) {
  const KvGroups groups = kv_groups(*find_model("llama-3.1-8b"), WindowBlocks::kFreed);
  EXPECT_EQ(groups.layers, 32);
  EXPECT_EQ(groups.full, 1);
  EXPECT_EQ(groups.window, 0);
}

TEST(KvGroups, KeptWindowsAreFullAttention) {
  const KvGroups groups = kv_groups(*find_model("gpt-oss-20b"), WindowBlocks::kKept);
  EXPECT_EQ(groups.layers, 24);
  EXPECT_EQ(groups.count(), 1);
}

TEST(KvGroups, LayersAreCutByTheRarerKind) {
  struct Row {
    std::int64_t full;
    std::int64_t window;
    std::int64_t layers;
    std::int64_t full_groups;
    std::int64_t window_groups;
  };
  for (const Row& row : {
           Row{12, 12, 12, 1, 1},  // gpt-oss-20b
           Row{10, 52, 10, 1, 6},  // gemma-3-27b: 52 of 60 places are used
           Row{26, 22, 26, 1, 1},  // less than a quarter more: the larger number, no third group
           Row{25, 20, 20, 2, 1},  // a quarter more
           Row{20, 8, 8, 3, 1},    // windows are the rarer kind
           Row{0, 32, 32, 0, 1},   // nothing but windows
       }) {
    const KvGroups groups =
        kv_groups(with_windows(row.full + row.window, row.window), WindowBlocks::kFreed);
    EXPECT_EQ(groups.layers, row.layers) << row.full << " + " << row.window;
    EXPECT_EQ(groups.full, row.full_groups) << row.full << " + " << row.window;
    EXPECT_EQ(groups.window, row.window_groups) << row.full << " + " << row.window;
  }
}

}  // namespace
}  // namespace inferscale

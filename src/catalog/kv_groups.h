// Which layers share a KV block.
//
// A block keeps some tokens of one group of layers, and all groups draw from one pool of blocks, so
// they have equally many layers. A model whose layers are all alike is one group. Where some have a
// sliding window, a block of theirs can be given back when the window has moved past it, so full
// and windowed layers are in different groups, cut as vLLM's hybrid allocator cuts them: as many
// layers each as the rarer kind has, the last group of a kind filled up with empty places; when the
// other kind has less than a quarter more, as many as that.
//
//   gpt-oss-120b  18 full + 18 window   1 + 1 groups of 18
//   gemma-3-27b   10 full + 52 window   1 + 6 groups of 10, of which 8 places stay empty

#pragma once

#include <cstdint>

#include "catalog/model_spec.h"

namespace inferscale {

// What becomes of the blocks that a window has moved past.
enum class WindowBlocks : std::uint8_t {
  kKept,   // they stay: windows count as full attention in memory
  kFreed,  // they are given back
};

struct KvGroups {
  std::int64_t layers = 0;  // of each group
  std::int64_t full = 1;    // groups that keep every token
  std::int64_t window = 0;  // groups that keep the window's tokens

  std::int64_t count() const { return full + window; }
};

KvGroups kv_groups(const ModelSpec& model, WindowBlocks windows);

}  // namespace inferscale

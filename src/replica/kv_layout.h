// How many KV blocks a sequence of so many cached tokens holds.
//
// A block keeps `block_tokens` tokens of one group of layers. Plain models have one group. Models
// that mix full attention with sliding windows are kept in groups of as many layers each, as
// engines do: the `full_groups` hold every token, the `window_groups` only the window's (rounded up
// to blocks, and one more because a window rarely begins at a block's start).
//
//   blocks(w) = full_groups ceil(w / b) + window_groups min(ceil(w / b), ceil(W / b) + 1)

#pragma once

#include <algorithm>
#include <cstdint>

#include "core/request.h"

namespace inferscale {

struct KvLayout {
  std::int64_t block_tokens = 16;
  std::int64_t full_groups = 1;
  std::int64_t window_groups = 0;
  TokenCount window_tokens = 0;  // 0: no windows

  bool has_window() const { return window_groups > 0; }
  std::int64_t blocks_each_group(TokenCount tokens) const {
    return (tokens + block_tokens - 1) / block_tokens;
  }
  // The most blocks of one window group.
  std::int64_t window_blocks() const { return blocks_each_group(window_tokens) + 1; }
  BlockCount blocks_for(TokenCount tokens) const {
    const std::int64_t each = blocks_each_group(tokens);
    if (window_groups == 0) return full_groups * each;
    return full_groups * each + window_groups * std::min(each, window_blocks());
  }
};

}  // namespace inferscale

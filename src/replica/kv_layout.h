// How many KV blocks a sequence of so many cached tokens holds.
//
// A block keeps `block_tokens` tokens of one group of layers. Plain models have one group. Models
// that mix full attention with sliding windows are kept in groups of as many layers each, as
// engines do: the `full_groups` hold every token, the `window_groups` only the window's (rounded up
// to blocks, and one more because a window rarely begins at a block's start). Where all layers have
// the window there is no full group.
//
//   blocks(w) = full_groups ceil(w / b) + window_groups min(ceil(w / b), ceil(W / b) + 1)

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "catalog/kv_groups.h"
#include "catalog/model_spec.h"
#include "core/request.h"

namespace inferscale {

// How many tokens a block holds: a number that is good at being divided by. Each request asks for
// blocks a dozen times; real engines' blocks are powers of two, for which a shift is enough.
class BlockTokens {
 public:
  constexpr BlockTokens(std::int64_t tokens)
      : tokens_(tokens),
        shift_(tokens > 0 && (tokens & (tokens - 1)) == 0
                   ? std::countr_zero(static_cast<std::uint64_t>(tokens))
                   : -1) {}
  constexpr operator std::int64_t() const { return tokens_; }

  // Blocks that `tokens` tokens fill. REQUIRES: tokens >= 0.
  constexpr std::int64_t full_blocks(TokenCount tokens) const {
    return shift_ >= 0 ? tokens >> shift_ : tokens / tokens_;
  }

 private:
  std::int64_t tokens_;
  int shift_;  // negative: no power of two
};

struct KvLayout {
  BlockTokens block_tokens = 16;
  std::int64_t full_groups = 1;
  std::int64_t window_groups = 0;
  TokenCount window_tokens = 0;  // 0: no windows. Attention has them even where no group is freed

  bool has_window() const { return window_groups > 0; }
  std::int64_t blocks_each_group(TokenCount tokens) const {
    return block_tokens.full_blocks(tokens + block_tokens - 1);
  }
  // The most blocks of one window group.
  std::int64_t window_blocks() const { return blocks_each_group(window_tokens) + 1; }
  BlockCount blocks_for(TokenCount tokens) const {
    const std::int64_t each = blocks_each_group(tokens);
    if (window_groups == 0) return full_groups * each;
    return full_groups * each + window_groups * std::min(each, window_blocks());
  }
};

// The layout that goes with kv_capacity() for the same `windows`. A prefix cache reads blocks that
// windows have moved past, so with one on windows are kept.
KvLayout kv_layout(const ModelSpec& model, WindowBlocks windows, std::int64_t block_tokens);

// How many requests of `tokens` tokens fit in `blocks` at once when chunks of up to `chunk_tokens`
// of them are computed in one step, as vLLM prints it at its start ("Maximum concurrency"; times
// `tokens` it is the size of the cache that it prints). While a chunk is computed a window group
// also holds the chunk, so this is fewer than blocks_for(tokens) suggests:
//
//   blocks / (full_groups ceil(w / b)
//             + window_groups (ceil(min(W - 1 + chunk, w) / b) + 1))
double requests_that_fit(const KvLayout& layout, BlockCount blocks, TokenCount tokens,
                         TokenCount chunk_tokens);

// The first `tokens` tokens cut to whole blocks, and the blocks that these fill.
inline TokenCount whole_tokens(const KvLayout& layout, TokenCount tokens) {
  return layout.block_tokens.full_blocks(tokens) * layout.block_tokens;
}
inline BlockCount whole_blocks(const KvLayout& layout, TokenCount tokens) {
  return layout.blocks_for(whole_tokens(layout, tokens));
}

}  // namespace inferscale

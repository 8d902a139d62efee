#include "replica/kv_layout.h"

#include "base/check.h"

namespace inferscale {

KvLayout kv_layout(const ModelSpec& model, WindowBlocks windows, std::int64_t block_tokens) {
  const KvGroups groups = kv_groups(model, windows);
  return {.block_tokens = block_tokens,
          .full_groups = groups.full,
          .window_groups = groups.window,
          .window_tokens = model.sliding_window_layers > 0 ? model.sliding_window : 0};
}

double requests_that_fit(const KvLayout& layout, BlockCount blocks, TokenCount tokens,
                         TokenCount chunk_tokens) {
  CHECK(tokens >= 1 && chunk_tokens >= 1) << tokens << " tokens in chunks of " << chunk_tokens;
  BlockCount each = layout.full_groups * layout.blocks_each_group(tokens);
  if (layout.has_window()) {
    const TokenCount at_once = std::min(layout.window_tokens - 1 + chunk_tokens, tokens);
    each += layout.window_groups * (layout.blocks_each_group(at_once) + 1);
  }
  return static_cast<double>(blocks) / static_cast<double>(each);
}

}  // namespace inferscale

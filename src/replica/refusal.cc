// What a replica has room for, and which requests it does not take up at all (docs/schedulers).

#include <algorithm>

#include "replica/replica.h"

namespace inferscale {

TokenCount kv_tokens(const ReplicaOptions& options) {
  const KvLayout& layout = options.layout;
  return options.kv_blocks / (layout.full_groups + layout.window_groups) * layout.block_tokens;
}

BlockCount resident_prefix_blocks(const ReplicaOptions& options) {
  return whole_blocks(options.layout, options.shared_prefix_tokens);
}

Reason refusal_of(const ReplicaOptions& options, const Request& request, std::int64_t waiting) {
  const TokenCount longest = static_cast<TokenCount>(request.prompt_tokens) + request.max_tokens;
  if (longest > options.max_model_len) return Reason::kExceedsModelLen;
  // The last token is never written to the cache, except where its place is reserved all the same.
  TokenCount cached = rules_of(options.scheduler).drains ? longest : longest - 1;
  if (options.role == ReplicaRole::kPrefill) cached = request.prompt_tokens;
  BlockCount needed = options.layout.blocks_for(cached);
  BlockCount available = options.kv_blocks;
  if (options.shared_prefix_tokens > 0) {
    // Of the resident prefix it needs no copy of its own.
    const TokenCount shared =
        std::min<TokenCount>({options.shared_prefix_tokens, request.shared_prefix_tokens,
                              static_cast<TokenCount>(request.prompt_tokens) - 1});
    needed -= whole_blocks(options.layout, shared);
    available -= resident_prefix_blocks(options);
  }
  if (needed > available) return Reason::kExceedsKvCache;
  if (options.max_queued && waiting >= *options.max_queued) return Reason::kQueueFull;
  return Reason::kNone;
}

}  // namespace inferscale

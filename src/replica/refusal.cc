// Which requests a replica does not take up at all (docs/schedulers).

#include "replica/replica.h"

namespace inferscale {

RefusalReason refusal_of(const ReplicaOptions& options, const Request& request,
                         std::int64_t waiting) {
  const TokenCount longest = static_cast<TokenCount>(request.prompt_tokens) + request.max_tokens;
  if (longest > options.max_model_len) return RefusalReason::kExceedsModelLen;
  // The last token is never written to the cache, except where its place is reserved all the same.
  const TokenCount cached = options.scheduler == SchedulerKind::kStaticFcfs ? longest : longest - 1;
  if (cached > options.kv_blocks * options.layout.block_tokens)
    return RefusalReason::kExceedsKvCache;
  if (options.max_queued && waiting >= *options.max_queued) return RefusalReason::kQueueFull;
  return RefusalReason::kNone;
}

}  // namespace inferscale

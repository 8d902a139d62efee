#include "replica/retention_ledger.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {
namespace {

// What follows the content of a prompt and, where it is one, its answer.
std::uint32_t own_tokens_of(const Request& request) {
  return request.content_pieces + (request.output_is_content ? 1 : 0);
}

}  // namespace

RetentionLedger::RetentionLedger(const ReplicaOptions& options, PrefixCache* cache,
                                 KvRetentionUsage& usage)
    : options_(*options.retention),
      layout_(options.layout),
      blocks_each_(layout_.full_groups + layout_.window_groups),
      cache_(cache),
      usage_(usage) {
  CHECK(options.role == ReplicaRole::kWhole) << "idle KV caches in a prefill/decode split";
  if (cache_ == nullptr) return;
  cache_->track_idle(options_.ttl, usage_);
  if (options_.idle == IdleKv::kOffload) {
    host_.emplace(options_.host, options_.kv_bytes_per_token, usage_);
  }
}

// --- time

void RetentionLedger::pass_events(BlockCount held, Instant now) {
  while (cache_ != nullptr) {
    const Instant expiry = cache_->next_expiry();
    const Instant due = drops_.empty() ? Instant::never() : drops_.begin()->first;
    if (std::min(expiry, due) > now) break;
    add_up(held, std::min(expiry, due));
    if (expiry <= due) {
      cache_->pass_time(expiry);
    } else {
      carry_out_first();
    }
  }
  add_up(held, now);
  if (cache_ != nullptr) cache_->pass_time(now);
  settle_host(now);
}

// What happens between two wake-ups reaches host memory at once, and the cache in its turn: the
// time of the one may be ahead of the other's.
void RetentionLedger::settle_host(Instant now) {
  if (!host_ || now <= host_settled_) return;
  host_->settle(now);
  host_settled_ = now;
}

void RetentionLedger::carry_out_first() {
  const Drop due = drops_.begin()->second;
  const std::uint32_t chain = due.request.program->chain;
  if (due.reason == Reason::kMovedOut) {
    forget_move(chain);
    drop(due.request);
  } else {
    drops_.erase(drops_.begin());
    usage_.dropped_ended += drop(due.request);
  }
}

void RetentionLedger::forget_move(std::uint32_t chain) {
  const auto found = moves_.find(chain);
  if (found == moves_.end()) return;
  drops_.erase(found->second);
  moves_.erase(found);
}

TokenCount RetentionLedger::drop(const Request& request) {
  return cache_->drop(request, request.program->own_pieces_from) * layout_.block_tokens /
         blocks_each_;
}

// --- a call's way

TokenCount RetentionLedger::cached(const Request& request, TokenCount matched) const {
  if (!host_ || request.program == nullptr) return matched;
  const std::optional<HostTier::Entry> entry = host_->find(request.program->chain);
  if (!entry) return matched;
  const TokenCount usable =
      std::min<TokenCount>({entry->tokens, request.program->history_tokens,
                            static_cast<TokenCount>(request.prompt_tokens) - 1});
  return std::max(matched, whole_tokens(layout_, usable));
}

Duration RetentionLedger::admitted(const Request& request, TokenCount matched, TokenCount cached,
                                   Instant now) {
  if (!host_ || request.program == nullptr) return {};
  const std::uint32_t chain = request.program->chain;
  forget_move(chain);
  const std::optional<HostTier::Entry> entry = host_->find(chain);
  if (!entry) return {};
  settle_host(now);
  if (cached <= matched) {
    host_->drop(chain, now);
    return {};
  }
  const Duration rest = std::max(entry->done - now, Duration());
  usage_.exposed_ns += static_cast<double>(rest.ns());
  return rest + host_->restore(chain, cached - matched, now);
}

void RetentionLedger::ended(const Sequence& sequence, Instant now) {
  if (cache_ == nullptr) return;
  const Request& request = sequence.request;
  // Its own tokens became readable then, and nobody else will ask for them.
  if (sequence.preemptions > 0) cache_->drop(request, own_tokens_of(request));
  const ProgramCall* const program = request.program;
  if (program == nullptr) {
    // Others may share what it leaves.
  } else if (program->ends_chain && !options_.keep_ended) {
    usage_.dropped_ended += drop(request);
  } else if (options_.idle == IdleKv::kRecompute) {
    usage_.dropped_recompute += drop(request);
  } else if (options_.idle == IdleKv::kOffload) {
    move_out(request, whole_tokens(layout_, sequence.computed), now);
  }
  // Where the TTL is nothing, what was left just now is gone.
  cache_->pass_time(now);
}

void RetentionLedger::move_out(const Request& request, TokenCount tokens, Instant now) {
  const std::uint32_t chain = request.program->chain;
  forget_move(chain);
  settle_host(now);
  const std::optional<Instant> done = host_->offload(chain, tokens, now);
  if (!done) {
    drop(request);
    return;
  }
  moves_.emplace(chain, drops_.emplace(*done, Drop{request, Reason::kMovedOut}));
}

void RetentionLedger::ended_elsewhere(const Request& request, Instant at) {
  CHECK(request.program != nullptr) << "request " << request.id << " belongs to no chain";
  if (cache_ == nullptr || options_.keep_ended) return;
  // A move that is done by then has its drop before this one.
  const auto move = moves_.find(request.program->chain);
  if (move != moves_.end() && move->second->first > at) forget_move(request.program->chain);
  if (host_) {
    settle_host(at);
    host_->drop(request.program->chain, at);
  }
  drops_.emplace(at, Drop{request, Reason::kEnded});
}

void RetentionLedger::begin_anew(Instant now) {
  drops_.clear();
  moves_.clear();
  if (cache_ != nullptr) {
    cache_->track_idle(options_.ttl, usage_);
    cache_->pass_time(now);
  }
  if (host_) {
    settle_host(now);
    host_->clear(now);
  }
}

}  // namespace inferscale

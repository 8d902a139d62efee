#include "replica/host_tier.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {

HostTier::HostTier(const HostTierOptions& options, double kv_bytes_per_token,
                   KvRetentionUsage& usage)
    : options_(options), kv_bytes_per_token_(kv_bytes_per_token), usage_(usage) {
  CHECK(options.capacity_bytes >= 0) << "a host tier of " << options.capacity_bytes << " bytes";
  CHECK(options.bytes_per_ns > 0) << "a host link of " << options.bytes_per_ns << " bytes/ns";
}

double HostTier::bytes_of(TokenCount tokens) const {
  return static_cast<double>(tokens) * kv_bytes_per_token_;
}

Duration HostTier::transfer_time(TokenCount tokens) const {
  // However slow the link, an instant later than the end of time must not come out.
  const double ns = std::min(bytes_of(tokens) / options_.bytes_per_ns + 0.5,
                             static_cast<double>(kEndOfTime.ns()));
  return options_.base_latency + Duration::nanos(static_cast<std::int64_t>(ns));
}

void HostTier::settle(Instant now) {
  DCHECK(now >= settled_);
  usage_.host_token_ns += static_cast<double>(tokens_) * static_cast<double>((now - settled_).ns());
  settled_ = now;
}

void HostTier::remove(std::list<Kept>::iterator kept) {
  tokens_ -= kept->entry.tokens;
  by_chain_.erase(kept->chain);
  kept_.erase(kept);
}

std::optional<Instant> HostTier::offload(std::uint32_t chain, TokenCount tokens, Instant now) {
  drop(chain, now);
  if (tokens == 0) return std::nullopt;
  if (bytes_of(tokens) > options_.capacity_bytes) {
    usage_.host_evicted += tokens;
    return std::nullopt;
  }
  while (bytes_of(tokens_ + tokens) > options_.capacity_bytes) {
    usage_.host_evicted += kept_.front().entry.tokens;
    remove(kept_.begin());
  }
  const Duration time = transfer_time(tokens);
  const Entry entry{.tokens = tokens, .done = now + time};
  kept_.push_back({.chain = chain, .entry = entry});
  by_chain_.emplace(chain, std::prev(kept_.end()));
  tokens_ += tokens;
  ++usage_.offloads;
  usage_.offloaded += tokens;
  usage_.offload_ns += static_cast<double>(time.ns());
  usage_.host_peak = std::max(usage_.host_peak, tokens_);
  return entry.done;
}

std::optional<HostTier::Entry> HostTier::find(std::uint32_t chain) const {
  const auto found = by_chain_.find(chain);
  if (found == by_chain_.end()) return std::nullopt;
  return found->second->entry;
}

Duration HostTier::restore(std::uint32_t chain, TokenCount tokens, Instant now) {
  settle(now);
  const auto found = by_chain_.find(chain);
  CHECK(found != by_chain_.end()) << "chain " << chain << " has nothing in host memory";
  DCHECK(tokens <= found->second->entry.tokens);
  remove(found->second);
  const Duration time = transfer_time(tokens);
  ++usage_.restores;
  usage_.restored += tokens;
  usage_.restore_ns += static_cast<double>(time.ns());
  return time;
}

void HostTier::drop(std::uint32_t chain, Instant now) {
  settle(now);
  const auto found = by_chain_.find(chain);
  if (found != by_chain_.end()) remove(found->second);
}

void HostTier::clear(Instant now) {
  settle(now);
  kept_.clear();
  by_chain_.clear();
  tokens_ = 0;
}

}  // namespace inferscale

#include "replica/kv_blocks.h"

#include "base/check.h"

namespace inferscale {

KvBlocks::KvBlocks(BlockCount total, const KvLayout& layout, bool prefix_caching)
    : total_(total), layout_(layout) {
  CHECK(total >= 1 && layout.block_tokens >= 1)
      << total << " blocks of " << layout.block_tokens << " tokens";
  by_class_.assign(static_cast<size_t>(layout.block_tokens), 0);
  if (prefix_caching) {
    cache_.emplace(total, layout.block_tokens, layout.full_groups + layout.window_groups);
  }
}

void KvBlocks::take(BlockCount blocks) {
  CHECK(blocks >= 0 && blocks <= free()) << "took " << blocks << " of " << free() << " free blocks";
  held_ += blocks;
  if (cache_) cache_->take(blocks);
}

void KvBlocks::give_back(BlockCount blocks) {
  CHECK(blocks >= 0 && blocks <= held_) << "gave back " << blocks << " of " << held_ << " blocks";
  held_ -= blocks;
  if (cache_) cache_->give_back(blocks);
}

void KvBlocks::start_growing(TokenCount tokens) {
  const std::int32_t growth = growth_of(tokens);
  by_class_[static_cast<size_t>(class_of(tokens))] += growth;
  growing_ += growth;
}

void KvBlocks::stop_growing(TokenCount tokens) {
  const std::int32_t growth = growth_of(tokens);
  std::int32_t& blocks = by_class_[static_cast<size_t>(class_of(tokens))];
  CHECK(blocks >= growth) << "no growing sequence has " << tokens << " tokens";
  blocks -= growth;
  growing_ -= growth;
}

void KvBlocks::window_filled() {
  const auto windows = static_cast<std::int32_t>(layout_.window_groups);
  by_class_[static_cast<size_t>(class_of(window_limit()))] -= windows;
  growing_ -= windows;
}

PrefixCache::Match KvBlocks::match(const Request& request, TokenCount limit) const {
  return cache_ ? cache_->match(request, limit) : PrefixCache::Match{};
}

void KvBlocks::acquire(const Request& request, const PrefixCache::Match& match,
                       PrefixCache::Hold& hold) {
  if (!cache_) return;
  cache_->acquire(request, match, hold);
  count_cache();
}

void KvBlocks::computed(const Request& request, TokenCount tokens, PrefixCache::Hold& hold) {
  if (!cache_) return;
  cache_->computed(request, tokens, hold);
  count_cache();
}

void KvBlocks::release(const Request& request, PrefixCache::Hold& hold, BlockCount own) {
  if (!cache_) {
    give_back(own);
    return;
  }
  cache_->release(request, hold, own);
  count_cache();
}

void KvBlocks::release_preempted(const Request& request, TokenCount tokens, PrefixCache::Hold& hold,
                                 BlockCount own) {
  if (!cache_) {
    give_back(own);
    return;
  }
  cache_->preempt(request, tokens, hold, own);
  count_cache();
}

const char* KvBlocks::broken_invariant() const {
  if (held_ < 0 || held_ > total_) return "INV-4: KV blocks do not add up";
  return cache_ ? cache_->broken_invariant() : nullptr;
}

BlockCount KvBlocks::needed_for(std::int64_t steps) const {
  if (growing_ == 0) return 0;
  const std::int64_t rounds = steps < layout_.block_tokens ? 0 : steps / layout_.block_tokens;
  BlockCount needed = rounds * growing_;
  for_each_step(steps - rounds * layout_.block_tokens, [&](std::int64_t, BlockCount members) {
    needed += members;
    return true;
  });
  return needed;
}

std::int64_t KvBlocks::steps_that_fit(std::int64_t limit) const {
  // In each round of b steps every growing sequence takes one block.
  if (growing_ == 0 || free() >= growing_ * (limit / layout_.block_tokens + 1)) return limit;
  const BlockCount rounds = free() / growing_;
  std::int64_t steps = rounds * layout_.block_tokens;
  BlockCount left = free() - rounds * growing_;
  // One more round needs more than is left, so this ends within it.
  for_each_step(layout_.block_tokens, [&](std::int64_t, BlockCount members) {
    left -= members;
    if (left >= 0) ++steps;
    return left >= 0;
  });
  return steps < limit ? steps : limit;
}

void KvBlocks::advance(std::int64_t steps) {
  take(needed_for(steps));
  const std::int64_t part = steps < layout_.block_tokens ? steps : steps % layout_.block_tokens;
  phase_ = phase_ >= part ? phase_ - part : phase_ - part + layout_.block_tokens;
}

double KvBlocks::block_time(const DecodeSegment& segment, std::int64_t steps) const {
  const double end = segment.offset_ns(steps);
  double integral = static_cast<double>(held_) * end;
  if (growing_ == 0) return integral;
  const bool within_a_round = steps <= layout_.block_tokens;
  for_each_step(within_a_round ? steps : layout_.block_tokens,
                [&](std::int64_t ahead, BlockCount members) {
                  if (members == 0) return true;
                  // These sequences take a block at the start of step ahead + 1, and again every
                  // round after.
                  double held_for = end - segment.offset_ns(ahead);
                  if (!within_a_round) {
                    const std::int64_t times = (steps - 1 - ahead) / layout_.block_tokens + 1;
                    held_for = static_cast<double>(times) * end -
                               segment.sum_of_offsets(ahead, layout_.block_tokens, times);
                  }
                  integral += static_cast<double>(members) * held_for;
                  return true;
                });
  return integral;
}

}  // namespace inferscale

#include "replica/kv_blocks.h"

#include "base/check.h"

namespace inferscale {

KvBlocks::KvBlocks(BlockCount total, const KvLayout& layout, bool prefix_caching)
    : total_(total), layout_(layout) {
  CHECK(total >= 1 && layout.block_tokens >= 1)
      << total << " blocks of " << layout.block_tokens << " tokens";
  by_class_.assign(static_cast<size_t>(2 * layout.block_tokens), 0);
  if (prefix_caching) {
    cache_.emplace(total, layout.block_tokens, layout.full_groups + layout.window_groups);
  }
}

void KvBlocks::give_back(BlockCount blocks) {
  CHECK(blocks >= 0 && blocks <= held_) << "gave back " << blocks << " of " << held_ << " blocks";
  held_ -= blocks;
  if (cache_) cache_->give_back(blocks);
}

void KvBlocks::add_to_class(std::int64_t place, std::int32_t blocks) {
  std::int32_t* const of_class = by_class_.data() + place;
  *of_class += blocks;
  of_class[layout_.block_tokens] += blocks;
  growing_ += blocks;
}

void KvBlocks::start_growing(TokenCount tokens) {
  add_to_class(class_of(tokens), growth_of(tokens));
}

void KvBlocks::stop_growing(TokenCount tokens) {
  const std::int32_t growth = growth_of(tokens);
  const std::int64_t place = class_of(tokens);
  CHECK(by_class_[static_cast<std::size_t>(place)] >= growth)
      << "no growing sequence has " << tokens << " tokens";
  add_to_class(place, -growth);
}

void KvBlocks::window_filled() {
  add_to_class(class_of(window_limit()), -static_cast<std::int32_t>(layout_.window_groups));
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
  const std::int64_t rounds = layout_.block_tokens.full_blocks(steps);
  BlockCount needed = rounds * growing_;
  for_each_step(steps - rounds * layout_.block_tokens, [&](std::int64_t, BlockCount members) {
    needed += members;
    return true;
  });
  return needed;
}

std::int64_t KvBlocks::steps_that_fit(std::int64_t limit) const {
  // In each round of b steps every growing sequence takes one block.
  if (growing_ == 0 || free() >= most_needed_for(limit)) return limit;
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

// `inline`, here and below: on the way of every jump.
inline double KvBlocks::held_over(const DecodeSegment& segment, std::int64_t steps,
                                  BlockCount& needed) const {
  const double end = segment.offset_ns(steps);
  double integral = static_cast<double>(held_) * end;
  needed = 0;
  if (growing_ > 0 && steps <= layout_.block_tokens) {
    DecodeSegment::Offsets offset = segment.offsets();
    for_each_step(steps, [&](std::int64_t, BlockCount members) {
      needed += members;
      // These sequences take a block at the start of the step that is so many ahead.
      integral += static_cast<double>(members) * (end - offset.next());
      return true;
    });
  } else if (growing_ > 0) {
    // And these again every round after; those that are left over begin one round more.
    const std::int64_t rounds = layout_.block_tokens.full_blocks(steps);
    const std::int64_t left_over = steps - rounds * layout_.block_tokens;
    const DecodeSegment::Stride once_a_round(layout_.block_tokens, rounds);
    const DecodeSegment::Stride once_more(layout_.block_tokens, rounds + 1);
    for_each_step(layout_.block_tokens, [&](std::int64_t ahead, BlockCount members) {
      if (members == 0) return true;
      const bool more = ahead < left_over;
      const DecodeSegment::Stride& times = more ? once_more : once_a_round;
      needed += members * (more ? rounds + 1 : rounds);
      const double held_for = times.n * end - segment.sum_of_offsets(ahead, times);
      integral += static_cast<double>(members) * held_for;
      return true;
    });
  }
  return integral;
}

inline void KvBlocks::turn(std::int64_t steps) {
  const std::int64_t part = steps - whole_tokens(layout_, steps);
  phase_ = phase_ >= part ? phase_ - part : phase_ - part + layout_.block_tokens;
}

double KvBlocks::advance(const DecodeSegment& segment, std::int64_t steps) {
  BlockCount needed = 0;
  const double integral = held_over(segment, steps, needed);
  take(needed);
  turn(steps);
  return integral;
}

double KvBlocks::advance_in_order(const DecodeSegment& segment, std::int64_t from,
                                  std::int64_t steps, const Before& before_take) {
  BlockCount needed = 0;
  const double integral = held_over(segment.after(from), steps, needed);
  std::int64_t place = phase_;
  for (std::int64_t ahead = 0; needed > 0; ++ahead) {
    const BlockCount members = by_class_[static_cast<std::size_t>(place)];
    place = place > 0 ? place - 1 : layout_.block_tokens - 1;
    if (members == 0) continue;
    before_take(segment.time_after(from + ahead));
    take(members);
    needed -= members;
  }
  turn(steps);
  return integral;
}

}  // namespace inferscale

// The KV blocks of one replica: how many are held, and when the batch will need more.
//
// A sequence that has w tokens in the cache holds ceil(w / b) blocks of b tokens in each group of
// layers (kv_layout.h). Each decode step writes one token for each sequence, so a sequence needs
// new blocks before the steps at which w is a multiple of b. All sequences advance together; it is
// enough to add up the blocks that sequences need by the residue of (w - steps so far) modulo b,
// and the blocks that any number of steps will need follow without looking at a single sequence.
// Cost: at most b additions for a question, whatever the batch size and the number of steps.
//
// Window groups stop growing when the window is full: window_filled() says so, at the step at which
// a sequence's cached tokens reach window_limit().
//
// With a prefix cache the free blocks are in the cache's order and may hold content that can be
// found again; blocks that several sequences share count as held once. Sequences with a reservation
// (static batching) hold their blocks from the start and never grow.
// Invariant: held() + free() == total(), none of them negative.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/check.h"
#include "core/request.h"
#include "replica/decode_segment.h"
#include "replica/kv_layout.h"
#include "replica/prefix_cache.h"

namespace inferscale {

class KvBlocks {
 public:
  // REQUIRES: total >= 1, block_tokens >= 1.
  KvBlocks(BlockCount total, const KvLayout& layout, bool prefix_caching);

  BlockCount total() const { return total_; }
  BlockCount held() const { return held_; }
  BlockCount free() const { return total_ - held_; }
  const KvLayout& layout() const { return layout_; }
  BlockCount blocks_for(TokenCount tokens) const { return layout_.blocks_for(tokens); }
  // Cached tokens at which a sequence's window groups hold all that they ever will.
  TokenCount window_limit() const { return layout_.window_blocks() * layout_.block_tokens; }

  // Takes or gives back blocks. REQUIRES: there are as many.
  void take(BlockCount blocks) {
    CHECK(blocks >= 0 && blocks <= free())
        << "took " << blocks << " of " << free() << " free blocks";
    held_ += blocks;
    if (cache_) cache_->take(blocks);
  }
  void give_back(BlockCount blocks);

  // A sequence of `tokens` cached tokens starts, or stops, to grow by one token a step.
  void start_growing(TokenCount tokens);
  void stop_growing(TokenCount tokens);
  // A growing sequence has reached window_limit() tokens; start_growing() counted it below.
  void window_filled();

  // With a prefix cache only, else nothing is ever found and nothing shared.
  bool finds() const { return cache_.has_value(); }
  PrefixCache::Match match(const Request& request, TokenCount limit) const {
    return cache_ ? cache_->match(request, limit) : PrefixCache::Match{};
  }
  void acquire(const Request& request, const PrefixCache::Match& match, PrefixCache::Hold& hold) {
    if (!cache_) return;
    cache_->acquire(request, match, hold);
    count_cache();
  }
  // The request's first `tokens` tokens are computed, in blocks that it holds.
  void computed(const Request& request, TokenCount tokens, PrefixCache::Hold& hold) {
    if (!cache_) return;
    cache_->computed(request, tokens, hold);
    count_cache();
  }
  // Gives back what the request shares, and `own` blocks beside.
  void release(const Request& request, PrefixCache::Hold& hold, BlockCount own);
  // The same for a preempted sequence: its first `tokens` tokens stay readable for itself.
  void release_preempted(const Request& request, TokenCount tokens, PrefixCache::Hold& hold,
                         BlockCount own);
  const char* broken_invariant() const;

  // Blocks that the growing sequences need before each of the next `steps` steps, in all.
  BlockCount needed_for(std::int64_t steps) const;
  // At least as many, told at once.
  BlockCount most_needed_for(std::int64_t steps) const {
    return growing_ * (layout_.block_tokens.full_blocks(steps) + 1);
  }
  // The same for one step.
  BlockCount needed_next() const { return by_class_[static_cast<std::size_t>(phase_)]; }
  // The most steps, up to `limit`, for which there are enough free blocks.
  std::int64_t steps_that_fit(std::int64_t limit) const;
  // The cache, for what becomes of idle blocks; null without one.
  PrefixCache* cache() { return cache_ ? &*cache_ : nullptr; }
  // The first `steps` steps of `segment` are taken: takes what they need and lets every growing
  // sequence grow by as much. Returns the integral over their time of the blocks held, in
  // block-nanoseconds: a block counts from the start of the step that needed it.
  double advance(const DecodeSegment& segment, std::int64_t steps);
  // The same for the steps from + 1 to from + steps of `segment`, where it matters when a block is
  // taken: before_take(instant) is called before blocks are taken at it. Its cost grows with the
  // steps.
  using Before = std::function<void(Instant)>;
  double advance_in_order(const DecodeSegment& segment, std::int64_t from, std::int64_t steps,
                          const Before& before_take);

 private:
  // Calls visit(ahead, members) for each of the next steps, ahead = 0 to steps - 1, with the number
  // of blocks that are needed before it; stops when visit returns false.
  // REQUIRES: steps <= block_tokens.
  template <typename Visit>
  void for_each_step(std::int64_t steps, Visit visit) const {
    // Ahead lie ever lower classes, then the highest. As all are kept twice, this is a straight
    // walk.
    const std::int64_t now = phase_ + layout_.block_tokens;
    for (std::int64_t ahead = 0; ahead < steps; ++ahead) {
      if (!visit(ahead, by_class_[static_cast<std::size_t>(now - ahead)])) return;
    }
  }
  std::int64_t class_of(TokenCount tokens) const {
    const std::int64_t sum = tokens - whole_tokens(layout_, tokens) + phase_;
    return sum >= layout_.block_tokens ? sum - layout_.block_tokens : sum;
  }

  // What a growing sequence of so many tokens needs at a block's end.
  std::int32_t growth_of(TokenCount tokens) const {
    if (!layout_.has_window()) return static_cast<std::int32_t>(layout_.full_groups);
    const std::int64_t windows = tokens < window_limit() ? layout_.window_groups : 0;
    return static_cast<std::int32_t>(layout_.full_groups + windows);
  }
  // The integral of held blocks over so many steps, and how many they need.
  double held_over(const DecodeSegment& segment, std::int64_t steps, BlockCount& needed) const;
  void turn(std::int64_t steps);
  void add_to_class(std::int64_t place, std::int32_t blocks);
  void count_cache() { held_ = total_ - cache_->free(); }

  BlockCount total_;
  KvLayout layout_;
  BlockCount held_ = 0;
  BlockCount growing_ = 0;  // blocks that one round of block_tokens steps needs
  // -(steps so far) modulo b: a sequence's class is (w + phase_) mod b, constant while it grows.
  std::int64_t phase_ = 0;
  std::vector<std::int32_t> by_class_;  // blocks, by class; all classes twice over
  std::optional<PrefixCache> cache_;
};

}  // namespace inferscale

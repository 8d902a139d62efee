// The KV blocks of one replica: how many are held, and when the batch will need more.
//
// A sequence that has w tokens in the cache holds ceil(w / b) blocks of b tokens. Each decode step
// writes one token for each sequence, so a sequence needs a new block before the steps at which w
// is a multiple of b. All sequences advance together; it is enough to count the sequences by the
// residue of (w - steps so far) modulo b, and the blocks that any number of steps will need follow
// without looking at a single sequence. Cost: at most b additions for a question, whatever the
// batch size and the number of steps.
//
// Sequences with a reservation (static batching) hold their blocks from the start and never grow.
// Invariant: held() + free() == total(), none of them negative.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/request.h"
#include "replica/decode_segment.h"

namespace inferscale {

class KvBlocks {
 public:
  // REQUIRES: total >= 1, block_tokens >= 1.
  KvBlocks(BlockCount total, std::int64_t block_tokens);

  BlockCount total() const { return total_; }
  BlockCount held() const { return held_; }
  BlockCount free() const { return total_ - held_; }
  std::int64_t block_tokens() const { return block_tokens_; }
  BlockCount blocks_for(TokenCount tokens) const {
    return (tokens + block_tokens_ - 1) / block_tokens_;
  }

  // Takes or gives back blocks. REQUIRES: there are as many.
  void take(BlockCount blocks);
  void give_back(BlockCount blocks);

  // A sequence of `tokens` cached tokens starts, or stops, to grow by one token a step.
  void start_growing(TokenCount tokens);
  void stop_growing(TokenCount tokens);

  // Blocks that the growing sequences need before each of the next `steps` steps, in all.
  BlockCount needed_for(std::int64_t steps) const;
  // The most steps, up to `limit`, for which there are enough free blocks.
  std::int64_t steps_that_fit(std::int64_t limit) const;
  // Takes what `steps` steps need and lets every growing sequence grow by as much.
  void advance(std::int64_t steps);
  // The integral over time of the blocks held during the first `steps` steps of `segment`, in
  // block-nanoseconds: a block counts from the start of the step that needed it.
  double block_time(const DecodeSegment& segment, std::int64_t steps) const;

 private:
  // Calls visit(ahead, members) for each of the next steps, ahead = 0 to steps - 1, with the number
  // of sequences that need a block before it; stops when visit returns false.
  // REQUIRES: steps <= block_tokens().
  template <typename Visit>
  void for_each_step(std::int64_t steps, Visit visit) const {
    std::int64_t needing = phase_;  // the class that is at a block's end now
    for (std::int64_t ahead = 0; ahead < steps; ++ahead) {
      if (!visit(ahead, by_class_[static_cast<std::size_t>(needing)])) return;
      needing = needing == 0 ? block_tokens_ - 1 : needing - 1;
    }
  }
  std::int64_t class_of(TokenCount tokens) const {
    const std::int64_t sum = tokens % block_tokens_ + phase_;
    return sum >= block_tokens_ ? sum - block_tokens_ : sum;
  }

  BlockCount total_;
  std::int64_t block_tokens_;
  BlockCount held_ = 0;
  std::int64_t growing_ = 0;
  // -(steps so far) modulo b: a sequence's class is (w + phase_) mod b, constant while it grows.
  std::int64_t phase_ = 0;
  std::vector<std::int32_t> by_class_;
};

}  // namespace inferscale

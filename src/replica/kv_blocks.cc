#include "replica/kv_blocks.h"

#include "base/check.h"

namespace inferscale {

KvBlocks::KvBlocks(BlockCount total, std::int64_t block_tokens)
    : total_(total), block_tokens_(block_tokens) {
  CHECK(total >= 1 && block_tokens >= 1) << total << " blocks of " << block_tokens << " tokens";
  by_class_.assign(static_cast<size_t>(block_tokens), 0);
}

void KvBlocks::take(BlockCount blocks) {
  CHECK(blocks >= 0 && blocks <= free()) << "took " << blocks << " of " << free() << " free blocks";
  held_ += blocks;
}

void KvBlocks::give_back(BlockCount blocks) {
  CHECK(blocks >= 0 && blocks <= held_) << "gave back " << blocks << " of " << held_ << " blocks";
  held_ -= blocks;
}

void KvBlocks::start_growing(TokenCount tokens) {
  ++by_class_[static_cast<size_t>(class_of(tokens))];
  ++growing_;
}

void KvBlocks::stop_growing(TokenCount tokens) {
  std::int32_t& members = by_class_[static_cast<size_t>(class_of(tokens))];
  CHECK(members > 0) << "no growing sequence has " << tokens << " tokens";
  --members;
  --growing_;
}

BlockCount KvBlocks::needed_for(std::int64_t steps) const {
  if (growing_ == 0) return 0;
  const std::int64_t rounds = steps < block_tokens_ ? 0 : steps / block_tokens_;
  BlockCount needed = rounds * growing_;
  for_each_step(steps - rounds * block_tokens_, [&](std::int64_t, BlockCount members) {
    needed += members;
    return true;
  });
  return needed;
}

std::int64_t KvBlocks::steps_that_fit(std::int64_t limit) const {
  // In each round of b steps every growing sequence takes one block.
  if (growing_ == 0 || free() >= growing_ * (limit / block_tokens_ + 1)) return limit;
  const BlockCount rounds = free() / growing_;
  std::int64_t steps = rounds * block_tokens_;
  BlockCount left = free() - rounds * growing_;
  // One more round needs more than is left, so this ends within it.
  for_each_step(block_tokens_, [&](std::int64_t, BlockCount members) {
    left -= members;
    if (left >= 0) ++steps;
    return left >= 0;
  });
  return steps < limit ? steps : limit;
}

void KvBlocks::advance(std::int64_t steps) {
  take(needed_for(steps));
  const std::int64_t part = steps < block_tokens_ ? steps : steps % block_tokens_;
  phase_ = phase_ >= part ? phase_ - part : phase_ - part + block_tokens_;
}

double KvBlocks::block_time(const DecodeSegment& segment, std::int64_t steps) const {
  const double end = segment.offset_ns(steps);
  double integral = static_cast<double>(held_) * end;
  if (growing_ == 0) return integral;
  const bool within_a_round = steps <= block_tokens_;
  for_each_step(within_a_round ? steps : block_tokens_,
                [&](std::int64_t ahead, BlockCount members) {
                  if (members == 0) return true;
                  // These sequences take a block at the start of step ahead + 1, and again every
                  // round after.
                  double held_for = end - segment.offset_ns(ahead);
                  if (!within_a_round) {
                    const std::int64_t times = (steps - 1 - ahead) / block_tokens_ + 1;
                    held_for = static_cast<double>(times) * end -
                               segment.sum_of_offsets(ahead, block_tokens_, times);
                  }
                  integral += static_cast<double>(members) * held_for;
                  return true;
                });
  return integral;
}

}  // namespace inferscale

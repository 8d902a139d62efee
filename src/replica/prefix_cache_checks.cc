// What must hold in a block cache (prefix_cache.h), by its sums and by looking at all of it.

#include "replica/prefix_cache.h"

namespace inferscale {

const char* PrefixCache::broken_invariant() const {
  if (free_ < 0 || cached_ < 0 || private_ < 0 || referenced_ < 0) return "a count is negative";
  if (free_ + private_ + referenced_ != total_) {
    return "free, private and referenced blocks are not all there are";
  }
  if (cached_ > free_) return "more unreferenced blocks are readable than there are";
  return nullptr;
}

const char* PrefixCache::broken_structure() const {
  if (const char* broken = broken_invariant()) return broken;
  BlockCount listed = 0;
  BlockCount listed_content = 0;
  std::uint32_t before = kNone;
  for (std::uint32_t at = head_; at != kNone; before = at, at = runs_[at].after) {
    const Run& run = runs_[at];
    if (run.before != before) return "the free list's links disagree";
    if (run.end <= run.begin) return "an empty run is in the free list";
    if (run.strand == kNone) {
      listed += run.end;
      continue;
    }
    const Strand& strand = strands_[run.strand];
    const std::int64_t begin = run.lower == kNone ? strand.longest.length : runs_[run.lower].end;
    const std::int64_t end = run.higher == kNone ? strand.resident : runs_[run.higher].begin;
    if (run.begin != begin || run.end != end) return "a strand's runs have gaps";
    if ((run.lower == kNone ? strand.lowest : runs_[run.lower].higher) != at ||
        (run.higher == kNone ? strand.highest : runs_[run.higher].lower) != at) {
      return "a strand's links disagree";
    }
    listed_content += (run.end - run.begin) * blocks_each_;
  }
  if (before != tail_) return "the free list ends before its tail";
  if (listed + listed_content != free_) return "the free list is not as long as counted";
  if (listed_content != cached_) return "the readable part of the free list is not as counted";
  return broken_strand();
}

std::int64_t PrefixCache::blocks_of_names(std::uint32_t number) const {
  const PieceName& last =
      name_at(number, static_cast<std::uint32_t>(strands_[number].further.size()));
  return block_tokens_.full_blocks(TokenCount{last.start} + last.tokens) - first_block(number);
}

const char* PrefixCache::broken_strand() const {
  BlockCount referenced_blocks = 0;
  std::size_t resident_strands = 0;
  std::size_t levels = 0;
  for (std::uint32_t number = 0; number < strands_.size(); ++number) {
    const Strand& strand = strands_[number];
    if (strand.resident > 0) {
      ++resident_strands;
      if (strand.resident > blocks_of_names(number)) return "a resident block is of no piece";
    }
    if (strand.longest.length > strand.resident) return "a referenced block is not resident";
    if ((strand.lowest == kNone) != (strand.longest.length == strand.resident)) {
      return "unreferenced blocks of a strand are not in the free list";
    }
    referenced_blocks += strand.longest.length * blocks_each_;
    if ((strand.longest.length == 0) != (strand.longest.sequences == 0)) return "a level of nobody";
    StrandBlocks longer = strand.longest.length;
    for (std::uint32_t at = strand.longest.shorter; at != kNone; at = levels_[at].shorter) {
      ++levels;
      if (levels_[at].length >= longer) return "a strand's levels are out of order";
      if (levels_[at].length == 0 || levels_[at].sequences == 0) return "a level of nobody";
      longer = levels_[at].length;
    }
  }
  if (referenced_blocks != referenced_) return "the referenced blocks are not as many as counted";
  if (resident_strands != index_.size()) return "a strand without blocks can be found";
  if (levels + unused_levels_.size() != levels_.size()) return "a level is lost";
  return nullptr;
}

}  // namespace inferscale

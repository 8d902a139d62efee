// The strands of a block cache (prefix_cache.h): where a request's pieces are on them, where new
// pieces go, and how one becomes two.

#include <algorithm>

#include "base/check.h"
#include "replica/prefix_cache.h"

namespace inferscale {

// ---- A request's way along them.

bool PrefixCache::enter(const ContentWalk& walk, Spot& spot) const {
  const PieceName name = walk.name();
  if (spot.strand != kNone) {
    const std::vector<PieceName>& further = strands_[spot.strand].further;
    if (spot.at < further.size() && further[spot.at] == name) {
      ++spot.at;
      return true;
    }
  }
  const std::uint32_t number = index_.find(name);
  if (number == PieceIndex::kAbsent) return false;
  spot = {.strand = number, .at = 0, .first = walk.first()};
  return true;
}

void PrefixCache::enter_or_add(const ContentWalk& walk, Spot& spot) {
  if (enter(walk, spot)) return;
  // Nothing follows a sequence's own tokens, and they are dropped by themselves.
  if (spot.strand != kNone && !walk.at_own()) {
    Strand& strand = strands_[spot.strand];
    if (strand.resident <= walk.first() - spot.first) {
      strand.further.resize(spot.at);
      strand.further.push_back(walk.name());
      ++spot.at;
      return;
    }
  }
  spot = {.strand = add_strand(walk.name()), .at = 0, .first = walk.first()};
}

const PieceName& PrefixCache::name_at(std::uint32_t strand, std::uint32_t at) const {
  return at == 0 ? index_.name(strand) : strands_[strand].further[at - 1];
}

std::int64_t PrefixCache::first_block(std::uint32_t strand) const {
  return block_tokens_.full_blocks(index_.name(strand).start);
}

std::uint32_t PrefixCache::owner_of(std::uint32_t strand, std::int64_t block) const {
  const std::vector<PieceName>& further = strands_[strand].further;
  const auto behind = std::partition_point(
      further.begin(), further.end(),
      [&](const PieceName& name) { return block_tokens_.full_blocks(name.start) <= block; });
  return static_cast<std::uint32_t>(behind - further.begin());
}

std::uint32_t PrefixCache::add_strand(const PieceName& first) {
  const std::uint32_t number = index_.add(first);
  if (number == strands_.size()) strands_.emplace_back();
  return number;
}

void PrefixCache::forget_if_empty(std::uint32_t number) {
  if (strands_[number].resident > 0) return;
  index_.remove(number);
  strands_[number].further.clear();
}

const std::vector<PrefixCache::Stretch>& PrefixCache::stretches(const Request& request,
                                                                const Hold& hold) {
  stretches_.clear();
  const std::int64_t held = hold.blocks / blocks_each_;
  const std::int64_t last_first = first_block(hold.strand);
  Spot spot;
  // Until the strand of the last piece begins.
  for (ContentWalk walk(request, block_tokens_); walk.first() < last_first; walk.next()) {
    const StrandBlocks length = walk.within(held);
    if (length == 0) continue;
    const std::uint32_t before = spot.strand;
    CHECK(enter(walk, spot)) << "no piece of key " << walk.name().key << " is resident";
    if (spot.strand != before) stretches_.push_back({.strand = spot.strand, .length = 0});
    stretches_.back().length = static_cast<StrandBlocks>(walk.first() - spot.first) + length;
  }
  stretches_.push_back(
      {.strand = hold.strand, .length = static_cast<StrandBlocks>(held - last_first)});
  return stretches_;
}

// ---- One becomes two.

std::uint32_t PrefixCache::cut(std::uint32_t number, std::uint32_t piece, StrandBlocks first) {
  CHECK(strands_[number].longest.length <= first && first < strands_[number].resident)
      << "cut before block " << first << " of " << strands_[number].resident << ", of which "
      << strands_[number].longest.length << " are referenced";
  const PieceName name = strands_[number].further[piece - 1];
  if (index_.find(name) != PieceIndex::kAbsent) return kNone;
  const std::uint32_t upper = add_strand(name);
  std::vector<PieceName>& names = strands_[number].further;
  strands_[upper].further.assign(names.begin() + piece, names.end());
  names.resize(piece - 1);
  strands_[upper].resident = strands_[number].resident - first;
  strands_[number].resident = first;
  cut_runs(number, upper, first);
  return upper;
}

void PrefixCache::cut_runs(std::uint32_t number, std::uint32_t upper, StrandBlocks first) {
  Strand& low = strands_[number];
  Strand& high = strands_[upper];
  std::uint32_t at = low.highest;
  while (at != kNone && runs_[at].end > first) {
    if (runs_[at].begin < first) cut_run(at, first);
    Run& run = runs_[at];
    run.strand = upper;
    run.begin -= first;
    run.end -= first;
    if (high.highest == kNone) high.highest = at;
    high.lowest = at;
    at = run.lower;
  }
  if (high.lowest == kNone) return;
  runs_[high.lowest].lower = kNone;
  low.highest = at;
  (at == kNone ? low.lowest : runs_[at].higher) = kNone;
}

// Its blocks before `first` become the next run, given out after the others.
void PrefixCache::cut_run(std::uint32_t index, StrandBlocks first) {
  const Run run = runs_[index];
  const std::uint32_t lower = put_run({.end = first,
                                       .begin = run.begin,
                                       .strand = run.strand,
                                       .lower = run.lower,
                                       .higher = index});
  (run.lower == kNone ? strands_[run.strand].lowest : runs_[run.lower].higher) = lower;
  link(lower, index, run.after);
  runs_[index].begin = first;
  runs_[index].lower = lower;
  if (usage_ == nullptr) return;
  stamps_.resize(runs_.size());
  stamps_[lower] = stamps_[index];
}

}  // namespace inferscale

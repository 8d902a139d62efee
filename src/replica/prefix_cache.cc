#include "replica/prefix_cache.h"

#include <algorithm>

#include "base/check.h"
#include "replica/content_walk.h"

namespace inferscale {
namespace {

// Puts an element where one was removed before, or at the end; returns its index.
template <typename Element>
std::uint32_t put(const Element& element, std::vector<Element>& all,
                  std::vector<std::uint32_t>& unused) {
  if (unused.empty()) {
    all.push_back(element);
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  const std::uint32_t index = unused.back();
  unused.pop_back();
  all[index] = element;
  return index;
}

}  // namespace

PrefixCache::PrefixCache(BlockCount total, std::int64_t block_tokens, std::int64_t blocks_each)
    : total_(total), block_tokens_(block_tokens), blocks_each_(blocks_each) {
  CHECK(total >= 1 && block_tokens >= 1 && blocks_each >= 1)
      << total << " blocks, " << blocks_each << " for each " << block_tokens << " tokens";
  append_blank(total);
}

// ---- What sequences do.

void PrefixCache::take(BlockCount blocks) {
  CHECK(blocks >= 0 && blocks <= free_) << "took " << blocks << " of " << free_ << " free blocks";
  free_ -= blocks;
  private_ += blocks;
  while (blocks > 0) blocks -= take_from_head(blocks);
}

void PrefixCache::give_back(BlockCount blocks) {
  CHECK(blocks >= 0 && blocks <= private_)
      << "gave back " << blocks << " of " << private_ << " private blocks";
  private_ -= blocks;
  append_blank(blocks);
}

PrefixCache::Match PrefixCache::match(const Request& request, TokenCount limit) const {
  Match match;
  if (index_.size() == 0) return match;
  const std::int64_t most = block_tokens_.full_blocks(limit);
  std::int64_t blocks = 0;
  std::int64_t unreferenced = 0;
  Spot spot;
  for (ContentWalk walk(request, block_tokens_); !walk.at_end(); walk.next()) {
    const std::int64_t wanted = walk.within(most);
    // A piece within one block owns none: the next one says whether the block is readable.
    if (wanted == 0 && walk.owned() > 0) break;
    if (wanted == 0) continue;
    if (!enter(walk, spot)) break;
    const Strand& strand = strands_[spot.strand];
    const std::int64_t before = walk.first() - spot.first;
    const std::int64_t readable = std::min(wanted, strand.resident - before);
    if (readable <= 0) break;
    blocks += readable;
    unreferenced +=
        readable - std::clamp<std::int64_t>(strand.longest.length - before, 0, readable);
    match.pieces = walk.at() + 1;
    match.strand = spot.strand;
    if (readable < walk.owned()) break;
  }
  match.tokens = blocks * block_tokens_;
  match.blocks = blocks * blocks_each_;
  match.from_free = unreferenced * blocks_each_;
  return match;
}

void PrefixCache::acquire(const Request& request, const Match& match, Hold& hold) {
  CHECK(hold.blocks == 0) << "a sequence that holds " << hold.blocks << " blocks acquires more";
  if (match.pieces == 0) return;
  const BlockCount free_before = free_;
  hold = {.pieces = match.pieces, .strand = match.strand, .blocks = match.blocks};
  for (const Stretch& stretch : stretches(request, hold)) reference(stretch.strand, stretch.length);
  CHECK(free_before - free_ == match.from_free)
      << "a match of before: " << match.from_free << " of its blocks were free, now "
      << free_before - free_;
}

BlockCount PrefixCache::computed(const Request& request, TokenCount tokens, Hold& hold) {
  return publish(request, tokens, Reader::kEveryone, hold);
}

BlockCount PrefixCache::publish(const Request& request, TokenCount tokens, Reader reader,
                                Hold& hold) {
  const std::int64_t target = block_tokens_.full_blocks(tokens);
  const std::int64_t held = hold.blocks / blocks_each_;
  const bool shares = request.content_pieces > 0 || request.output_is_content;
  if (target <= held || !(shares || reader == Reader::kItself)) return 0;
  BlockCount duplicates = 0;
  // Those before the last held one are held in full.
  const std::uint32_t from = hold.pieces > 0 ? hold.pieces - 1 : 0;
  TokenCount start = 0;
  Spot spot;
  if (hold.pieces > 0) {
    spot = {.strand = hold.strand,
            .at = owner_of(hold.strand, held - 1),
            .first = first_block(hold.strand)};
    start = name_at(spot.strand, spot.at).start;
  }
  std::int64_t end = 0;
  std::uint32_t pieces = 0;
  for (ContentWalk walk(request, block_tokens_, from, start);
       !walk.at_end() && walk.first() < target; walk.next()) {
    if (walk.at_own() && reader == Reader::kEveryone) break;
    const StrandBlocks within = walk.within(target);
    if (within == 0) continue;
    const std::uint32_t strand = spot.strand;
    const std::int64_t first = spot.first;
    if (walk.at() >= hold.pieces) enter_or_add(walk, spot);
    if (spot.strand != strand) duplicates += publish_on(strand, first, held, end);
    end = walk.first() + within;
    pieces = walk.at() + 1;
  }
  duplicates += publish_on(spot.strand, spot.first, held, end);
  CHECK(private_ >= 0) << "more blocks became readable than were private";
  if (end > held) {
    hold = {.pieces = pieces, .strand = spot.strand, .blocks = end * blocks_each_};
  }
  give_back(duplicates);
  return duplicates;
}

BlockCount PrefixCache::publish_on(std::uint32_t number, std::int64_t first, std::int64_t held,
                                   std::int64_t end) {
  if (end <= held) return 0;
  const auto before = static_cast<StrandBlocks>(std::max<std::int64_t>(held - first, 0));
  const auto after = static_cast<StrandBlocks>(end - first);
  Strand& strand = strands_[number];
  const StrandBlocks published = after - std::min(after, strand.resident);
  strand.resident += published;
  private_ -= published * blocks_each_;
  referenced_ += published * blocks_each_;
  reference(number, after);
  if (before > 0) let_go(number, before);
  return (after - before - published) * blocks_each_;
}

void PrefixCache::release(const Request& request, Hold& hold, BlockCount private_blocks) {
  give_back(private_blocks);
  ++release_;
  if (hold.pieces == 0) return;
  const std::vector<Stretch>& held = stretches(request, hold);
  for (std::size_t i = held.size(); i > 0; --i) let_go(held[i - 1].strand, held[i - 1].length);
  hold = {};
}

void PrefixCache::preempt(const Request& request, TokenCount tokens, Hold& hold,
                          BlockCount private_blocks) {
  const BlockCount held = hold.blocks;
  publish(request, tokens, Reader::kItself, hold);
  // What was private is now held, or was a duplicate and is back already.
  release(request, hold, private_blocks - (hold.blocks - held));
}

// ---- Who references what.

void PrefixCache::reference(std::uint32_t number, StrandBlocks length) {
  Strand& strand = strands_[number];
  CHECK(length <= strand.resident)
      << length << " blocks of a strand of which " << strand.resident << " are resident";
  std::int64_t unreferenced = 0;
  while (strand.lowest != kNone && runs_[strand.lowest].begin < length) {
    Run& run = runs_[strand.lowest];
    const std::int64_t end = std::min<std::int64_t>(run.end, length);
    unreferenced += end - run.begin;
    run.begin = static_cast<StrandBlocks>(end);
    if (run.begin == run.end) drop_run(strand.lowest);
  }
  const BlockCount blocks = unreferenced * blocks_each_;
  free_ -= blocks;
  cached_ -= blocks;
  referenced_ += blocks;
  add_level(strand, length);
}

void PrefixCache::let_go(std::uint32_t number, StrandBlocks length) {
  Strand& strand = strands_[number];
  const StrandBlocks before = strand.longest.length;
  drop_level(strand, length);
  const StrandBlocks after = strand.longest.length;
  if (after == before) return;
  const BlockCount blocks = (before - after) * blocks_each_;
  free_ += blocks;
  cached_ += blocks;
  referenced_ -= blocks;
  append_content(number, after, before);
}

void PrefixCache::add_level(Strand& strand, StrandBlocks length) {
  Level& longest = strand.longest;
  if (length > longest.length) {
    const std::uint32_t shorter = longest.sequences == 0 ? kNone : put_level(longest);
    longest = {.length = length, .sequences = 1, .shorter = shorter};
    return;
  }
  if (length == longest.length) {
    ++longest.sequences;
    return;
  }
  const auto [longer, at] = find_level(longest, length);
  if (at != kNone && levels_[at].length == length) {
    ++levels_[at].sequences;
    return;
  }
  const std::uint32_t index = put_level({.length = length, .sequences = 1, .shorter = at});
  (longer == kNone ? longest : levels_[longer]).shorter = index;
}

void PrefixCache::drop_level(Strand& strand, StrandBlocks length) {
  Level& longest = strand.longest;
  if (length == longest.length) {
    if (--longest.sequences > 0) return;
    const std::uint32_t shorter = longest.shorter;
    longest = shorter == kNone ? Level{} : levels_[shorter];
    if (shorter != kNone) unused_levels_.push_back(shorter);
    return;
  }
  const auto [longer, at] = find_level(longest, length);
  CHECK(at != kNone && levels_[at].length == length)
      << "no sequence references exactly " << length << " blocks of the strand";
  if (--levels_[at].sequences > 0) return;
  (longer == kNone ? longest : levels_[longer]).shorter = levels_[at].shorter;
  unused_levels_.push_back(at);
}

PrefixCache::LevelPlace PrefixCache::find_level(const Level& longest, StrandBlocks length) const {
  LevelPlace place{.longer = kNone, .at = longest.shorter};
  while (place.at != kNone && levels_[place.at].length > length) {
    place = {.longer = place.at, .at = levels_[place.at].shorter};
  }
  return place;
}

std::uint32_t PrefixCache::put_level(const Level& level) {
  return put(level, levels_, unused_levels_);
}

// ---- The free list.

std::uint32_t PrefixCache::put_run(const Run& run) {
  return put(run, runs_, unused_runs_);
}

void PrefixCache::append_blank(BlockCount blocks) {
  if (blocks == 0) return;
  free_ += blocks;
  if (usage_ != nullptr) {
    put_first(blocks);
    return;
  }
  if (tail_ != kNone && runs_[tail_].strand == kNone) {
    runs_[tail_].end += blocks;
    return;
  }
  link(put_run({.end = blocks}), tail_, kNone);
}

void PrefixCache::append_content(std::uint32_t number, StrandBlocks begin, StrandBlocks end) {
  Strand& strand = strands_[number];
  if (tail_ != kNone && tail_ == strand.lowest && may_grow(tail_)) {
    runs_[tail_].begin = begin;
    return;
  }
  const std::uint32_t higher = strand.lowest;
  const std::uint32_t index =
      put_run({.end = end, .begin = begin, .strand = number, .higher = higher});
  (higher == kNone ? strand.highest : runs_[higher].lower) = index;
  strand.lowest = index;
  link(index, tail_, kNone);
  if (usage_ != nullptr) stamp(index);
}

void PrefixCache::link(std::uint32_t index, std::uint32_t before, std::uint32_t after) {
  runs_[index].before = before;
  runs_[index].after = after;
  (before == kNone ? head_ : runs_[before].after) = index;
  (after == kNone ? tail_ : runs_[after].before) = index;
}

void PrefixCache::drop_run(std::uint32_t index) {
  const Run& run = runs_[index];
  (run.before == kNone ? head_ : runs_[run.before].after) = run.after;
  (run.after == kNone ? tail_ : runs_[run.after].before) = run.before;
  if (run.strand != kNone) {
    Strand& strand = strands_[run.strand];
    (run.lower == kNone ? strand.lowest : runs_[run.lower].higher) = run.higher;
    (run.higher == kNone ? strand.highest : runs_[run.higher].lower) = run.lower;
  }
  unused_runs_.push_back(index);
}

BlockCount PrefixCache::take_from_head(BlockCount blocks) {
  Run& run = runs_[head_];
  if (run.strand == kNone) {
    const BlockCount taken = std::min(blocks, run.end);
    run.end -= taken;
    if (run.end == 0) drop_run(head_);
    return taken;
  }
  // A block of `block_tokens` tokens is unreadable when one of its KV blocks is gone; the others
  // stay where they were in the list, blank.
  const std::int64_t evicted =
      std::min(run.end - run.begin, (blocks + blocks_each_ - 1) / blocks_each_);
  const BlockCount taken = std::min(blocks, evicted * blocks_each_);
  const BlockCount blank = evicted * blocks_each_ - taken;
  if (usage_ != nullptr) count_eviction(head_, evicted);
  cached_ -= evicted * blocks_each_;
  const std::uint32_t number = run.strand;
  Strand& strand = strands_[number];
  CHECK(run.end == strand.resident) << "evicted from the middle of a strand";
  strand.resident -= static_cast<StrandBlocks>(evicted);
  run.end -= evicted;
  if (run.begin == run.end) drop_run(head_);
  forget_if_empty(number);
  if (blank > 0) link(put_run({.end = blank}), kNone, head_);
  return taken;
}

}  // namespace inferscale

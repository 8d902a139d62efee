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
  const std::int64_t most = limit / block_tokens_;
  std::int64_t blocks = 0;
  std::int64_t unreferenced = 0;
  for (ContentWalk walk(request, block_tokens_); !walk.at_end(); walk.next()) {
    const PieceBlocks wanted = walk.within(most);
    // A piece within one block owns none: the next one says whether the block is readable.
    if (wanted == 0 && walk.owned() > 0) break;
    if (wanted == 0) continue;
    const std::uint32_t number = index_.find(walk.name());
    if (number == PieceIndex::kAbsent) break;
    const Piece& piece = pieces_[number];
    const PieceBlocks readable = std::min(wanted, piece.resident);
    blocks += readable;
    unreferenced += readable - std::min(readable, piece.longest.length);
    match.pieces = walk.at() + 1;
    if (readable < walk.owned()) break;
  }
  match.tokens = blocks * block_tokens_;
  match.blocks = blocks * blocks_each_;
  match.from_free = unreferenced * blocks_each_;
  return match;
}

void PrefixCache::acquire(const Request& request, const Match& match, Hold& hold) {
  CHECK(hold.blocks == 0) << "a sequence that holds " << hold.blocks << " blocks acquires more";
  const std::int64_t blocks = match.blocks / blocks_each_;
  const BlockCount free_before = free_;
  for (ContentWalk walk(request, block_tokens_); walk.at() < match.pieces; walk.next()) {
    const PieceBlocks length = walk.within(blocks);
    if (length > 0) reference(held_piece(walk.name()), length);
  }
  CHECK(free_before - free_ == match.from_free)
      << "a match of before: " << match.from_free << " of its blocks were free, now "
      << free_before - free_;
  hold = {.pieces = match.pieces, .blocks = match.blocks};
}

BlockCount PrefixCache::computed(const Request& request, TokenCount tokens, Hold& hold) {
  return publish(request, tokens, Reader::kEveryone, hold);
}

BlockCount PrefixCache::publish(const Request& request, TokenCount tokens, Reader reader,
                                Hold& hold) {
  const std::int64_t target = tokens / block_tokens_;
  const std::int64_t held = hold.blocks / blocks_each_;
  if (target <= held) return 0;
  BlockCount duplicates = 0;
  ContentWalk walk(request, block_tokens_);
  // Pieces before the last held one are held in full.
  walk.go_to(std::max(hold.pieces, 1U) - 1);
  for (; !walk.at_end() && walk.first() < target; walk.next()) {
    if (walk.at_own() && reader == Reader::kEveryone) break;
    const PieceBlocks before = walk.within(held);
    const PieceBlocks after = walk.within(target);
    if (after <= before) continue;
    const std::uint32_t number = piece_for(walk.name());
    Piece& piece = pieces_[number];
    const PieceBlocks published = after - std::min(after, piece.resident);
    piece.resident += published;
    private_ -= published * blocks_each_;
    referenced_ += published * blocks_each_;
    duplicates += (after - before - published) * blocks_each_;
    reference(number, after);
    if (before > 0) let_go(number, before);
    hold.blocks += (after - before) * blocks_each_;
    hold.pieces = walk.at() + 1;
  }
  CHECK(private_ >= 0) << "more blocks became readable than were private";
  give_back(duplicates);
  return duplicates;
}

void PrefixCache::release(const Request& request, Hold& hold, BlockCount private_blocks) {
  give_back(private_blocks);
  if (hold.pieces > 0) {
    const std::int64_t held = hold.blocks / blocks_each_;
    ContentWalk walk(request, block_tokens_);
    walk.go_to(hold.pieces - 1);
    for (;; walk.back()) {
      const PieceBlocks length = walk.within(held);
      if (length > 0) let_go(held_piece(walk.name()), length);
      if (walk.at() == 0) break;
    }
  }
  hold = {};
}

void PrefixCache::preempt(const Request& request, TokenCount tokens, Hold& hold,
                          BlockCount private_blocks) {
  const BlockCount held = hold.blocks;
  publish(request, tokens, Reader::kItself, hold);
  // What was private is now held, or was a duplicate and is back already.
  release(request, hold, private_blocks - (hold.blocks - held));
}

// ---- Pieces and who references them.

std::uint32_t PrefixCache::held_piece(const PieceName& name) const {
  const std::uint32_t number = index_.find(name);
  CHECK(number != PieceIndex::kAbsent) << "no piece of key " << name.key << " is resident";
  return number;
}

std::uint32_t PrefixCache::piece_for(const PieceName& name) {
  std::uint32_t number = index_.find(name);
  if (number != PieceIndex::kAbsent) return number;
  number = index_.add(name);
  if (number == pieces_.size()) pieces_.emplace_back();
  return number;
}

void PrefixCache::reference(std::uint32_t number, PieceBlocks length) {
  Piece& piece = pieces_[number];
  CHECK(length <= piece.resident) << length << " blocks of a piece of which " << piece.resident
                                  << " are resident";
  std::int64_t unreferenced = 0;
  while (piece.lowest != kNone && runs_[piece.lowest].begin < length) {
    Run& run = runs_[piece.lowest];
    const std::int64_t end = std::min<std::int64_t>(run.end, length);
    unreferenced += end - run.begin;
    run.begin = static_cast<PieceBlocks>(end);
    if (run.begin == run.end) drop_run(piece.lowest);
  }
  const BlockCount blocks = unreferenced * blocks_each_;
  free_ -= blocks;
  cached_ -= blocks;
  referenced_ += blocks;
  add_level(piece, length);
}

void PrefixCache::let_go(std::uint32_t number, PieceBlocks length) {
  Piece& piece = pieces_[number];
  const PieceBlocks before = piece.longest.length;
  drop_level(piece, length);
  const PieceBlocks after = piece.longest.length;
  if (after == before) return;
  const BlockCount blocks = (before - after) * blocks_each_;
  free_ += blocks;
  cached_ += blocks;
  referenced_ -= blocks;
  append_content(number, after, before);
}

void PrefixCache::add_level(Piece& piece, PieceBlocks length) {
  Level& longest = piece.longest;
  if (length > longest.length) {
    const std::uint32_t shorter =
        longest.sequences == 0 ? kNone : put(longest, levels_, unused_levels_);
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
  const std::uint32_t index =
      put(Level{.length = length, .sequences = 1, .shorter = at}, levels_, unused_levels_);
  (longer == kNone ? longest : levels_[longer]).shorter = index;
}

void PrefixCache::drop_level(Piece& piece, PieceBlocks length) {
  Level& longest = piece.longest;
  if (length == longest.length) {
    if (--longest.sequences > 0) return;
    const std::uint32_t shorter = longest.shorter;
    longest = shorter == kNone ? Level{} : levels_[shorter];
    if (shorter != kNone) unused_levels_.push_back(shorter);
    return;
  }
  const auto [longer, at] = find_level(longest, length);
  CHECK(at != kNone && levels_[at].length == length)
      << "no sequence references exactly " << length << " blocks of the piece";
  if (--levels_[at].sequences > 0) return;
  (longer == kNone ? longest : levels_[longer]).shorter = levels_[at].shorter;
  unused_levels_.push_back(at);
}

PrefixCache::LevelPlace PrefixCache::find_level(const Level& longest, PieceBlocks length) const {
  LevelPlace place{.longer = kNone, .at = longest.shorter};
  while (place.at != kNone && levels_[place.at].length > length) {
    place = {.longer = place.at, .at = levels_[place.at].shorter};
  }
  return place;
}

// ---- The free list.

void PrefixCache::append_blank(BlockCount blocks) {
  if (blocks == 0) return;
  free_ += blocks;
  if (tail_ != kNone && runs_[tail_].piece == kNone) {
    runs_[tail_].end += blocks;
    return;
  }
  link(put(Run{.end = blocks}, runs_, unused_runs_), tail_, kNone);
}

void PrefixCache::append_content(std::uint32_t number, PieceBlocks begin, PieceBlocks end) {
  Piece& piece = pieces_[number];
  if (tail_ != kNone && tail_ == piece.lowest) {
    runs_[tail_].begin = begin;
    return;
  }
  const std::uint32_t higher = piece.lowest;
  const std::uint32_t index =
      put(Run{.end = end, .begin = begin, .piece = number, .higher = higher}, runs_, unused_runs_);
  (higher == kNone ? piece.highest : runs_[higher].lower) = index;
  piece.lowest = index;
  link(index, tail_, kNone);
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
  if (run.piece != kNone) {
    Piece& piece = pieces_[run.piece];
    (run.lower == kNone ? piece.lowest : runs_[run.lower].higher) = run.higher;
    (run.higher == kNone ? piece.highest : runs_[run.higher].lower) = run.lower;
  }
  unused_runs_.push_back(index);
}

BlockCount PrefixCache::take_from_head(BlockCount blocks) {
  Run& run = runs_[head_];
  if (run.piece == kNone) {
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
  cached_ -= evicted * blocks_each_;
  const std::uint32_t number = run.piece;
  Piece& piece = pieces_[number];
  CHECK(run.end == piece.resident) << "evicted from the middle of a piece";
  piece.resident -= static_cast<PieceBlocks>(evicted);
  run.end -= evicted;
  if (run.begin == run.end) drop_run(head_);
  if (piece.resident == 0) index_.remove(number);
  if (blank > 0) link(put(Run{.end = blank}, runs_, unused_runs_), kNone, head_);
  return taken;
}

// ---- Invariants.

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
    if (run.piece == kNone) {
      listed += run.end;
      continue;
    }
    const Piece& piece = pieces_[run.piece];
    const std::int64_t begin = run.lower == kNone ? piece.longest.length : runs_[run.lower].end;
    const std::int64_t end = run.higher == kNone ? piece.resident : runs_[run.higher].begin;
    if (run.begin != begin || run.end != end) return "a piece's runs have gaps";
    if ((run.lower == kNone ? piece.lowest : runs_[run.lower].higher) != at ||
        (run.higher == kNone ? piece.highest : runs_[run.higher].lower) != at) {
      return "a piece's links disagree";
    }
    listed_content += (run.end - run.begin) * blocks_each_;
  }
  if (before != tail_) return "the free list ends before its tail";
  if (listed + listed_content != free_) return "the free list is not as long as counted";
  if (listed_content != cached_) return "the readable part of the free list is not as counted";
  return broken_piece();
}

const char* PrefixCache::broken_piece() const {
  BlockCount referenced_blocks = 0;
  std::size_t resident_pieces = 0;
  std::size_t levels = 0;
  for (const Piece& piece : pieces_) {
    if (piece.resident > 0) ++resident_pieces;
    if (piece.longest.length > piece.resident) return "a referenced block is not resident";
    if ((piece.lowest == kNone) != (piece.longest.length == piece.resident)) {
      return "unreferenced blocks of a piece are not in the free list";
    }
    referenced_blocks += piece.longest.length * blocks_each_;
    if ((piece.longest.length == 0) != (piece.longest.sequences == 0)) return "a level of nobody";
    PieceBlocks longer = piece.longest.length;
    for (std::uint32_t at = piece.longest.shorter; at != kNone; at = levels_[at].shorter) {
      ++levels;
      if (levels_[at].length >= longer) return "a piece's levels are out of order";
      if (levels_[at].length == 0 || levels_[at].sequences == 0) return "a level of nobody";
      longer = levels_[at].length;
    }
  }
  if (referenced_blocks != referenced_) return "the referenced blocks are not as many as counted";
  if (resident_pieces != index_.size()) return "a piece without blocks can be found";
  if (levels + unused_levels_.size() != levels_.size()) return "a level is lost";
  return nullptr;
}

}  // namespace inferscale

// Time in a block cache (prefix_cache.h): idle blocks end their TTL, or are dropped.

#include <algorithm>

#include "base/check.h"
#include "replica/content_walk.h"
#include "replica/prefix_cache.h"

namespace inferscale {

void PrefixCache::track_idle(std::optional<Duration> ttl, KvRetentionUsage& usage) {
  CHECK(cached_ == 0) << cached_ << " blocks are idle already";
  ttl_ = ttl;
  usage_ = &usage;
}

Instant PrefixCache::next_expiry() {
  if (!ttl_) return Instant::never();
  const std::uint32_t first = first_content();
  if (first == kNone) return Instant::never();
  const Instant let_go = stamps_[first].let_go;
  // A TTL may be as long as time itself.
  return *ttl_ < Instant::never() - let_go ? let_go + *ttl_ : Instant::never();
}

void PrefixCache::pass_time(Instant now) {
  CHECK(usage_ != nullptr && now >= now_) << "from " << now_.ns() << " ns to " << now.ns() << " ns";
  now_ = now;
  while (next_expiry() <= now) {
    const std::uint32_t index = first_content();
    const Run& run = runs_[index];
    usage_->evicted_ttl += (run.end - run.begin) * block_tokens_;
    if (stamps_[index].release != last_expired_) ++usage_->evictions_ttl;
    last_expired_ = stamps_[index].release;
    make_blank(index);
  }
}

BlockCount PrefixCache::drop(const Request& request, std::uint32_t from_piece) {
  const BlockCount before = cached_;
  Part part;
  Spot spot;
  for (ContentWalk walk(request, block_tokens_); !walk.at_end(); walk.next()) {
    if (walk.owned() == 0) continue;
    // What is behind a gap may be there all the same.
    if (!enter(walk, spot)) spot = {};
    if (spot.strand != part.strand) {
      drop_part(part);
      part = {};
    }
    if (spot.strand == kNone || walk.at() < from_piece) continue;
    const std::int64_t first = walk.first() - spot.first;
    if (part.strand == kNone) part = {.strand = spot.strand, .begin = spot.at, .from = first};
    part.end = spot.at + 1;
    part.to = first + walk.owned();
  }
  drop_part(part);
  return before - cached_;
}

void PrefixCache::drop_part(const Part& part) {
  if (part.strand == kNone) return;
  // Its unreferenced blocks, from here to the last resident one.
  const std::int64_t idle_from = strands_[part.strand].longest.length;
  const std::int64_t resident = strands_[part.strand].resident;
  if (std::max(idle_from, part.from) >= std::min(resident, part.to)) return;
  std::uint32_t dropped = part.strand;
  if (resident > part.to && cut(dropped, part.end, static_cast<StrandBlocks>(part.to)) == kNone) {
    return;
  }
  if (idle_from < part.from)
    dropped = cut(dropped, part.begin, static_cast<StrandBlocks>(part.from));
  if (dropped == kNone) return;
  while (strands_[dropped].highest != kNone) make_blank(strands_[dropped].highest);
}

void PrefixCache::stamp(std::uint32_t run) {
  stamps_.resize(runs_.size());
  stamps_[run] = {.let_go = now_, .release = release_};
}

// The list is in the order of the sequences' ends, so what one let go of is lost in a row.
void PrefixCache::count_eviction(std::uint32_t run, std::int64_t blocks) {
  usage_->evicted_pressure += blocks * block_tokens_;
  if (stamps_[run].release != last_evicted_) ++usage_->evictions_pressure;
  last_evicted_ = stamps_[run].release;
}

// ---- Runs.

void PrefixCache::make_blank(std::uint32_t index) {
  Run& run = runs_[index];
  Strand& strand = strands_[run.strand];
  CHECK(run.end == strand.resident) << "blank in the middle of a strand";
  strand.resident = run.begin;
  strand.highest = run.lower;
  (run.lower == kNone ? strand.lowest : runs_[run.lower].higher) = kNone;
  forget_if_empty(run.strand);
  const BlockCount blocks = (run.end - run.begin) * blocks_each_;
  cached_ -= blocks;
  run.strand = kNone;
  drop_run(index);
  put_first(blocks);
}

// Whoever drops content knows that these blocks are blank: they go before any that could be found
// again, so that nothing is evicted while there is room.
void PrefixCache::put_first(BlockCount blocks) {
  if (head_ != kNone && runs_[head_].strand == kNone) {
    runs_[head_].end += blocks;
    return;
  }
  link(put_run({.end = blocks}), kNone, head_);
}

std::uint32_t PrefixCache::first_content() {
  if (head_ == kNone || runs_[head_].strand != kNone) return head_;
  return runs_[head_].after;
}

}  // namespace inferscale

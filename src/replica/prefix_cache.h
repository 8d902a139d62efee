// The content-addressed block cache: who may read which KV blocks, and which are given out next.
//
// Unreferenced blocks form one list, the free list, in the order in which they will be given out. A
// block keeps its content there until it is given out, so a prefix that was computed is a hit while
// somebody uses it and afterwards, until its blocks go to someone else.
//
//   blank ---take()---> private ---computed()---> referenced, readable
//     ^                    |                        |            ^
//     +----give_back()-----+              release() |            | acquire()
//     |                                             v            |
//     +-------------------take() evicts-------- unreferenced, readable
//
// A request's content is a chain of pieces (core/request.h). Of tokens [s, e) and blocks of b
// tokens a piece owns the blocks floor(s / b) to floor(e / b) - 1, those that end within it. Blocks
// are readable one by one, as soon as all their tokens are computed.
//
// Why many pieces can be handled at once. A sequence references a prefix of its chain, and lets go
// of the last block first. So no block of a chain was let go of later than the one before it: of a
// row of pieces that follow one another the resident blocks are always the first ones, eviction
// takes the last of them, and the free ones are the last of the resident ones. Such a row, a
// strand, is thus two numbers (resident, referenced) beside the names of its pieces, and the free
// list is made of runs: so many blocks of a strand, or so many blank ones. The outcome is that of a
// list of single blocks with a reference count each, which is what the test compares it with.
// docs/prefix_cache.md says how engines do it and where this differs.
//
//   strand of a system prompt and of the first chain behind it   [s  a1 a2 a3 a4]
//   strands of others that begin with the system prompt             [b1 b2 b3]  [c1 c2]
//
// A piece that becomes readable joins the strand of the piece before it, if nothing that is
// resident follows there, else it is the first of a strand of its own; only such first ones are
// looked up by name. Names whose blocks are gone stay until others take their place. A strand is
// cut in two where blocks in its middle are dropped.
//
// track_idle() adds time to this: an unreferenced block is blank from TTL after it was let go of
// on, and blank blocks stand at the head of the list, before all readable ones. The list of these
// is in the order of that instant, so the next ones to end their TTL are at its head, and of a
// strand they are its last ones. A run is then what one sequence let go of, and it is counted why
// it was lost.
//
// Cost: match, acquire, computed, release and drop compare one name for each piece, whatever its
// length, and take one lookup for each strand; take and pass_time are constant for each run that
// they empty. Memory: 16 bytes for a piece, about 100 for a resident strand and 32 for a free run
// (48 with track_idle()), whatever the number of blocks.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/kv_retention_usage.h"
#include "core/request.h"
#include "replica/content_walk.h"
#include "replica/kv_layout.h"
#include "replica/piece_index.h"

namespace inferscale {

class PrefixCache {
 public:
  // `blocks_each`: the KV blocks that hold `block_tokens` tokens, one for each group of layers. All
  // counts are KV blocks. REQUIRES: all at least 1.
  PrefixCache(BlockCount total, std::int64_t block_tokens, std::int64_t blocks_each);

  // Idle blocks have a time from now on. `usage`, which outlives the cache, takes the tokens that
  // are lost to the TTL and to others, and how often: for each sequence's end once, however many
  // of its blocks go. REQUIRES: nothing was let go of yet.
  void track_idle(std::optional<Duration> ttl, KvRetentionUsage& usage);
  // When the next idle blocks will have been idle for the TTL.
  Instant next_expiry();
  // Time goes on to `now`: those whose TTL has ended by then, `now` included, become blank.
  // REQUIRES: track_idle(), and `now` is not before the last one.
  void pass_time(Instant now);
  // The same without a TTL.
  void set_time(Instant now) {
    CHECK(usage_ != nullptr && !ttl_ && now >= now_)
        << "from " << now_.ns() << " ns to " << now.ns() << " ns";
    now_ = now;
  }

  // Unreferenced blocks, readable or not.
  BlockCount free() const { return free_; }
  // Unreferenced blocks that are readable.
  BlockCount cached() const { return cached_; }

  // From the head of the free list, those let go of longest ago. What is in them is lost.
  // REQUIRES: blocks <= free().
  void take(BlockCount blocks);
  // Private blocks, to the tail of the free list; with track_idle() to its head. REQUIRES: as many
  // are private.
  void give_back(BlockCount blocks);

  struct Match {
    TokenCount tokens = 0;
    std::uint32_t pieces = 0;  // the last of them perhaps in part
    std::uint32_t strand = 0;  // where the last of them is
    BlockCount blocks = 0;
    BlockCount from_free = 0;  // of `blocks`: referenced by no one, so acquiring lowers free()
  };
  // The longest readable prefix of the request's tokens, in whole blocks, of at most `limit`
  // tokens: its content, its answer where that is content, and behind these, after a preemption,
  // its own.
  Match match(const Request& request, TokenCount limit) const;

  // What one sequence references: the first `blocks` blocks of its tokens, which end in the last of
  // the first `pieces` pieces.
  struct Hold {
    std::uint32_t pieces = 0;
    std::uint32_t strand = 0;  // as in Match; what is referenced stays where it is
    BlockCount blocks = 0;
  };
  // REQUIRES: `match` is the present answer to the same request, and `hold` is empty.
  void acquire(const Request& request, const Match& match, Hold& hold);

  // The first `tokens` tokens of the sequence are computed, those behind its Hold in private
  // blocks of its own. Whole blocks of content become readable and part of the Hold. Where somebody
  // else computed the same meanwhile, the Hold references theirs, and the sequence's own copies go
  // back to the free list; returns how many. `tokens` may go beyond the prompt.
  BlockCount computed(const Request& request, TokenCount tokens, Hold& hold);

  // The sequence ends. Its private blocks go to the free list, then what it references and nobody
  // else does, the last block first.
  void release(const Request& request, Hold& hold, BlockCount private_blocks);
  // The sequence is preempted, with its first `tokens` tokens computed, and will come back: whole
  // blocks of its own tokens, those behind its content, stay readable for the same request id.
  void preempt(const Request& request, TokenCount tokens, Hold& hold, BlockCount private_blocks);

  // Nobody will ask for the request's content from piece `from_piece` on (those of content, the
  // answer, its own tokens): its unreferenced blocks become blank. Returns how many.
  BlockCount drop(const Request& request, std::uint32_t from_piece);

  // Whether the counts add up, in constant time: what is broken, or null.
  const char* broken_invariant() const;
  // Looks at every run and piece: what is broken, or null.
  const char* broken_structure() const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Of a strand's blocks these count each as `blocks_each` KV blocks.
  using StrandBlocks = std::uint32_t;

  // Blocks that are free and consecutive. Of a strand: its blocks begin .. end - 1, given out from
  // the last to the first. Blank ones: begin is 0, end their number in KV blocks.
  struct Run {
    std::int64_t end = 0;
    StrandBlocks begin = 0;
    std::uint32_t strand = kNone;
    std::uint32_t before = kNone;  // in the free list; before the first: given out earlier
    std::uint32_t after = kNone;
    std::uint32_t lower = kNone;  // in the same strand
    std::uint32_t higher = kNone;
  };
  // So many sequences reference exactly the first `length` blocks of a strand.
  struct Level {
    StrandBlocks length = 0;
    std::uint32_t sequences = 0;
    std::uint32_t shorter = kNone;  // the next level of the strand
  };
  // Its number is that of its first piece in the index.
  struct Strand {
    StrandBlocks resident = 0;
    Level longest;                 // its length is how many blocks are referenced
    std::uint32_t lowest = kNone;  // of its runs, the one let go of last
    std::uint32_t highest = kNone;
    std::vector<PieceName> further;  // those behind its first piece
  };

  // Where a piece of a request is.
  struct Spot {
    std::uint32_t strand = kNone;
    std::uint32_t at = 0;    // 0 is the strand's first piece
    std::int64_t first = 0;  // the strand's first block, counted in the request
  };
  // So many blocks of a strand, its first ones.
  struct Stretch {
    std::uint32_t strand;
    StrandBlocks length;
  };

  // Where a level is, or would be: behind `longer`; kNone is the strand's longest.
  struct LevelPlace {
    std::uint32_t longer = kNone;
    std::uint32_t at = kNone;
  };

  // When a run was let go of, and by which sequence's end.
  struct Stamp {
    Instant let_go;
    std::uint64_t release = 0;
  };

  // Who may read what was computed: content everyone, all of it the sequence itself.
  enum class Reader : std::uint8_t { kEveryone, kItself };
  BlockCount publish(const Request& request, TokenCount tokens, Reader reader, Hold& hold);
  // Blocks of a strand, whose first one is the request's block `first`: up to the request's block
  // `end` they are computed, those from `held` on just now.
  // Returns how many were duplicates.
  BlockCount publish_on(std::uint32_t number, std::int64_t first, std::int64_t held,
                        std::int64_t end);

  // From the place of the piece before it (of those that own blocks) to the place of this one. Of a
  // piece that is nowhere: false, and the spot is as it was; or it is given a place.
  bool enter(const ContentWalk& walk, Spot& spot) const;
  void enter_or_add(const ContentWalk& walk, Spot& spot);
  // The strand's piece that owns a block. REQUIRES: it is one of the strand's; the block is counted
  // in the request.
  std::uint32_t owner_of(std::uint32_t strand, std::int64_t block) const;
  const PieceName& name_at(std::uint32_t strand, std::uint32_t at) const;
  std::int64_t first_block(std::uint32_t strand) const;
  std::uint32_t add_strand(const PieceName& first);
  // What a sequence with this hold references, in order. Good until the next call.
  // REQUIRES: it has pieces.
  const std::vector<Stretch>& stretches(const Request& request, const Hold& hold);
  // A strand from which the last block went cannot be found any more.
  void forget_if_empty(std::uint32_t number);
  // Makes a strand of a strand's pieces from `piece` on, whose blocks begin with `first`. Its
  // number; kNone where hashes lie and there is one that begins so. REQUIRES: some of those
  // blocks are resident, and none is referenced.
  std::uint32_t cut(std::uint32_t number, std::uint32_t piece, StrandBlocks first);
  void cut_runs(std::uint32_t number, std::uint32_t upper, StrandBlocks first);
  void cut_run(std::uint32_t index, StrandBlocks first);
  // Of a strand the pieces begin .. end - 1, and where their blocks begin and end.
  struct Part {
    std::uint32_t strand = kNone;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  void drop_part(const Part& part);

  // One more, or one less, sequence references exactly the first `length` blocks of a strand.
  void reference(std::uint32_t number, StrandBlocks length);
  void let_go(std::uint32_t number, StrandBlocks length);
  void add_level(Strand& strand, StrandBlocks length);
  void drop_level(Strand& strand, StrandBlocks length);
  LevelPlace find_level(const Level& longest, StrandBlocks length) const;

  std::uint32_t put_run(const Run& run);
  std::uint32_t put_level(const Level& level);
  void append_blank(BlockCount blocks);
  void append_content(std::uint32_t number, StrandBlocks begin, StrandBlocks end);
  // Whether what is let go of now may become part of a run that is there already.
  bool may_grow(std::uint32_t run) const {
    return usage_ == nullptr || stamps_[run].release == release_;
  }
  void make_blank(std::uint32_t index);
  // To the head of the list.
  void put_first(BlockCount blocks);
  // The first readable run; kNone when there is none.
  std::uint32_t first_content();
  // Puts a run between two neighbours in the free list.
  void link(std::uint32_t index, std::uint32_t before, std::uint32_t after);
  void drop_run(std::uint32_t index);
  void stamp(std::uint32_t run);
  // So many blocks of the run are lost to whoever needs them.
  void count_eviction(std::uint32_t run, std::int64_t blocks);
  // Takes at most `blocks` from the run at the head. Returns how many.
  BlockCount take_from_head(BlockCount blocks);
  std::int64_t blocks_of_names(std::uint32_t number) const;
  const char* broken_strand() const;

  BlockCount total_;
  BlockTokens block_tokens_;
  std::int64_t blocks_each_;
  BlockCount free_ = 0;
  BlockCount cached_ = 0;
  BlockCount private_ = 0;
  BlockCount referenced_ = 0;

  PieceIndex index_;
  std::vector<Strand> strands_;     // by number
  std::vector<Stretch> stretches_;  // of stretches()
  std::vector<Run> runs_;
  std::vector<std::uint32_t> unused_runs_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> unused_levels_;
  std::uint32_t head_ = kNone;
  std::uint32_t tail_ = kNone;

  KvRetentionUsage* usage_ = nullptr;  // null: no time, and nothing is counted
  std::optional<Duration> ttl_;
  Instant now_;
  std::vector<Stamp> stamps_;       // of runs_, where there is a usage
  std::uint64_t release_ = 0;       // the latest sequence's end
  std::uint64_t last_expired_ = 0;  // whose blocks were lost last, by cause
  std::uint64_t last_evicted_ = 0;
};

}  // namespace inferscale

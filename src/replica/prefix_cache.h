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
// Why whole pieces can be handled at once. A sequence references a prefix of its chain, and lets go
// of the last block first. So no block of a piece was let go of later than the one before it: the
// resident blocks of a piece are always its first ones, eviction takes the last of them, and the
// free ones are the last of the resident ones. A piece is thus three numbers (owned, resident,
// referenced), and the free list is made of runs: so many blocks of a piece, or so many blank ones.
// The outcome is that of a list of single blocks with a reference count each, which is what the
// test compares it with. docs/prefix_cache.md says how engines do it and where this differs.
//
// Cost: match, acquire, computed and release take one lookup for each piece, whatever its length;
// take is constant for each run that it empties. Memory: about 70 bytes for a resident piece and 32
// for a free run, whatever the number of blocks.

#pragma once

#include <cstdint>
#include <vector>

#include "core/request.h"
#include "replica/piece_index.h"

namespace inferscale {

class PrefixCache {
 public:
  // `blocks_each`: the KV blocks that hold `block_tokens` tokens, one for each group of layers. All
  // counts are KV blocks. REQUIRES: all at least 1.
  PrefixCache(BlockCount total, std::int64_t block_tokens, std::int64_t blocks_each);

  // Unreferenced blocks, readable or not.
  BlockCount free() const { return free_; }
  // Unreferenced blocks that are readable.
  BlockCount cached() const { return cached_; }

  // From the head of the free list, those let go of longest ago. What is in them is lost.
  // REQUIRES: blocks <= free().
  void take(BlockCount blocks);
  // Private blocks, to the tail of the free list. REQUIRES: as many are private.
  void give_back(BlockCount blocks);

  struct Match {
    TokenCount tokens = 0;
    std::uint32_t pieces = 0;  // the last of them perhaps in part
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

  // Whether the counts add up, in constant time: what is broken, or null.
  const char* broken_invariant() const;
  // Looks at every run and piece: what is broken, or null.
  const char* broken_structure() const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Of a piece's blocks these count each as `blocks_each` KV blocks.
  using PieceBlocks = std::uint32_t;

  // Blocks that are free and consecutive. Of a piece: its blocks begin .. end - 1, given out from
  // the last to the first. Blank ones: begin is 0, end their number in KV blocks.
  struct Run {
    std::int64_t end = 0;
    PieceBlocks begin = 0;
    std::uint32_t piece = kNone;
    std::uint32_t before = kNone;  // in the free list; before the first: given out earlier
    std::uint32_t after = kNone;
    std::uint32_t lower = kNone;  // in the same piece
    std::uint32_t higher = kNone;
  };
  // So many sequences reference exactly the first `length` blocks of a piece.
  struct Level {
    PieceBlocks length = 0;
    std::uint32_t sequences = 0;
    std::uint32_t shorter = kNone;  // the next level of the piece
  };
  struct Piece {
    PieceBlocks resident = 0;
    Level longest;                 // its length is how many blocks are referenced
    std::uint32_t lowest = kNone;  // of its runs, the one let go of last
    std::uint32_t highest = kNone;
  };

  // Where a level is, or would be: behind `longer`; kNone is the piece's longest.
  struct LevelPlace {
    std::uint32_t longer = kNone;
    std::uint32_t at = kNone;
  };

  // Who may read what was computed: content everyone, all of it the sequence itself.
  enum class Reader : std::uint8_t { kEveryone, kItself };
  BlockCount publish(const Request& request, TokenCount tokens, Reader reader, Hold& hold);

  // The number of a piece; piece_for() makes it when it is new.
  std::uint32_t held_piece(const PieceName& name) const;
  std::uint32_t piece_for(const PieceName& name);
  // One more, or one less, sequence references exactly the first `length` blocks of a piece.
  void reference(std::uint32_t number, PieceBlocks length);
  void let_go(std::uint32_t number, PieceBlocks length);
  void add_level(Piece& piece, PieceBlocks length);
  void drop_level(Piece& piece, PieceBlocks length);
  LevelPlace find_level(const Level& longest, PieceBlocks length) const;

  void append_blank(BlockCount blocks);
  void append_content(std::uint32_t number, PieceBlocks begin, PieceBlocks end);
  // Puts a run between two neighbours in the free list.
  void link(std::uint32_t index, std::uint32_t before, std::uint32_t after);
  void drop_run(std::uint32_t index);
  // Takes at most `blocks` from the run at the head. Returns how many.
  BlockCount take_from_head(BlockCount blocks);
  const char* broken_piece() const;

  BlockCount total_;
  std::int64_t block_tokens_;
  std::int64_t blocks_each_;
  BlockCount free_ = 0;
  BlockCount cached_ = 0;
  BlockCount private_ = 0;
  BlockCount referenced_ = 0;

  PieceIndex index_;
  std::vector<Piece> pieces_;  // by number
  std::vector<Run> runs_;
  std::vector<std::uint32_t> unused_runs_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> unused_levels_;
  std::uint32_t head_ = kNone;
  std::uint32_t tail_ = kNone;
};

}  // namespace inferscale

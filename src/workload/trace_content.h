// What the prompts of a trace have in common, as pieces of content (core/request.h).
//
// Traces name the blocks of their prompts by hash, or say how many blocks a prompt shares with the
// one before it. Either way a prompt becomes a chain of few pieces: blocks that no prompt ever
// parts are one piece, whose key is its last block's. Nothing is lost by that, for a cache that
// looks at blocks within a piece; and a prompt of 100,000 tokens, 1,700 blocks of 64, costs some
// dozen look-ups.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/request.h"

namespace inferscale {

// The pieces of row i are pieces[offsets[i] .. offsets[i + 1]). Memory: 8 bytes a row, 16 a piece.
struct TraceContent {
  std::uint32_t block_tokens = 0;  // of the trace's own blocks; 0: it says nothing about content
  std::vector<std::uint64_t> offsets;
  std::vector<ContentPiece> pieces;

  bool any() const { return block_tokens > 0; }
  std::span<const ContentPiece> of(std::size_t row) const {
    return std::span(pieces).subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
};

// A key for the `number`-th thing within `scope`: a bijection of the number, so that keys of one
// scope differ, and keys of two scopes (two traces, a trace and a generator) are alike only by a
// chance of 2^-64 each.
std::uint64_t content_key(std::uint64_t scope, std::uint64_t number);

// Chains of block hashes. Equal hashes mean that prompts agree up to and including that block.
// Cost: sorting the hashes, and two passes over them.
class BlockChains {
 public:
  // The next row. A last block that the prompt does not fill is a piece of its own. REQUIRES: as
  // many hashes as `prompt_tokens` has blocks, the last one, which isn't full, perhaps left out.
  void add(std::span<const std::uint64_t> hashes, std::uint32_t prompt_tokens);
  // `scope`: what the keys stand apart by. REQUIRES: `block_tokens` is what add() was told with.
  TraceContent finish(std::uint64_t scope) const;

  explicit BlockChains(std::uint32_t block_tokens) : block_tokens_(block_tokens) {}

 private:
  std::size_t full_blocks(std::size_t row) const;

  std::uint32_t block_tokens_;
  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> prompt_tokens_;
};

}  // namespace inferscale

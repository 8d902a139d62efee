// Goes through the tokens of a sequence, piece by piece, and says which blocks each piece owns.
//
// Of tokens [s, e) and blocks of b tokens a piece owns the blocks floor(s / b) to floor(e / b) - 1:
// those that end within it, since their content is known once the piece's is. A piece that lies
// within one block owns none.
//
// First come the pieces of the prompt that others may share, then the answer where it is content,
// and last one piece without end: the sequence's own tokens, which only itself will read again.

#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "core/request.h"
#include "replica/kv_layout.h"
#include "replica/piece_index.h"

namespace inferscale {

class ContentWalk {
 public:
  ContentWalk(const Request& request, BlockTokens block_tokens)
      : ContentWalk(request, block_tokens, 0, 0) {}
  // From piece `at` on, before which there are `start` tokens.
  ContentWalk(const Request& request, BlockTokens block_tokens, std::uint32_t at, TokenCount start)
      : request_(request),
        block_tokens_(block_tokens),
        shared_(request.content_pieces + (request.output_is_content ? 1 : 0)),
        at_(at),
        start_(start),
        first_(block_tokens.full_blocks(start)) {
    enter();
  }

  bool at_end() const { return at_ > shared_; }
  // The piece of the sequence's own tokens.
  bool at_own() const { return at_ == shared_; }
  std::uint32_t at() const { return at_; }
  // Own pieces are told apart by the request, and from all others by their length.
  PieceName name() const {
    return {.key = at_own() ? request_.id : request_.content[at_].key,
            .start = static_cast<std::uint32_t>(start_),
            .tokens = at_own() ? kEndless : request_.content[at_].tokens};
  }
  // In blocks of `block_tokens` tokens: those that the pieces before it own, and its own.
  std::int64_t first() const { return first_; }
  std::uint32_t owned() const { return static_cast<std::uint32_t>(after_ - first_); }
  // Of the content's first `blocks` blocks, those in this piece.
  std::uint32_t within(std::int64_t blocks) const {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(blocks - first_, 0, owned()));
  }

  void next() {
    start_ = end_;
    first_ = after_;
    ++at_;
    enter();
  }

 private:
  static constexpr std::uint32_t kEndless = UINT32_MAX;

  void enter() {
    if (at_own()) {
      end_ = kEndless;
    } else if (!at_end()) {
      CHECK(at_ < request_.content_pieces || start_ == request_.prompt_tokens)
          << "the answer is content, but the pieces cover " << start_ << " of "
          << request_.prompt_tokens << " prompt tokens";
      end_ = start_ + request_.content[at_].tokens;
    }
    after_ = block_tokens_.full_blocks(end_);
  }

  const Request& request_;
  BlockTokens block_tokens_;
  std::uint32_t shared_;  // pieces before the own one
  std::uint32_t at_;
  TokenCount start_;    // tokens before this piece
  TokenCount end_ = 0;  // and up to its end
  std::int64_t first_;
  std::int64_t after_ = 0;
};

}  // namespace inferscale

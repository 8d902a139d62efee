// Which replica has probably cached which prefix: an approximate index over the content pieces of
// the prompts that were dispatched.
//
// Nobody tells the router what is in the caches. It remembers, for each replica, the pieces of what
// it sent there, within `capacity` tokens, and forgets those sent longest ago, as the replica's own
// cache would. A piece counts at least kLeastCharge tokens, which bounds the number of pieces.
//
// The pieces of a replica are a forest: a piece's parent is the one before it in its prompts. A
// prompt that is sent again uses all its pieces, the head after the tail, so a piece is forgotten
// before its parent, and who holds a piece holds all before it: the longest match is found by
// bisection. And only the last piece's use has to be written down. A piece was last used when it or
// one below it was; when the last piece below it is forgotten, it inherits that one's use.
//
// For each piece up to kHolders replicas are listed that began to hold it last; whether any other
// one holds it can be asked, one at a time.
//
// Cost: a dispatch, log(pieces) look-ups and constant time for each piece that is new there (what
// they displace is paid for by them).

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/key_table.h"
#include "core/request.h"

namespace inferscale {

class PrefixIndex {
 public:
  static constexpr std::uint32_t kHolders = 8;
  static constexpr std::uint32_t kLeastCharge = 16;

  void add_replica(TokenCount capacity);
  // The prompt (and its answer, where that is content) will be cached there.
  void dispatched(std::uint32_t replica, const Request& request);
  void forget(std::uint32_t replica);

  // Of the pieces of a prompt, from its start, those that the replica holds.
  std::uint32_t pieces_held(std::uint32_t replica, const Request& request) const;
  // Of the pieces of a prompt, from its start, those that any replica holds.
  std::uint32_t pieces_held(const Request& request) const;

  struct Holders {
    std::uint32_t count = 0;                // all of them
    std::span<const std::uint32_t> listed;  // the one that began to hold it last first
  };
  Holders holders(std::uint64_t key) const;

  // Remembered pieces, over all replicas.
  std::size_t size() const;

 private:
  static constexpr std::uint32_t kNone = KeyTable::kNone;

  // A piece that some replica holds.
  struct Piece {
    std::uint32_t count = 0;
    std::uint32_t listed = 0;
    std::array<std::uint32_t, kHolders> holders{};
  };
  // A piece on one replica.
  struct Node {
    std::uint64_t key = 0;
    std::uint64_t last_use = 0;  // but for uses of pieces below it
    std::uint32_t parent = kNone;
    std::uint32_t children = 0;
    std::uint32_t charge = 0;
  };
  // Void when the node has been used since, or is gone.
  struct Use {
    std::uint64_t number = 0;
    std::uint32_t node = 0;
  };
  struct Replica {
    KeyTable places;
    std::vector<Node> nodes;
    std::vector<std::uint32_t> unused;  // places in nodes
    std::deque<Use> uses;               // the oldest first
    std::uint64_t last_use = 0;
    TokenCount charged = 0;
    TokenCount capacity = 0;
  };

  std::uint32_t add_node(std::uint32_t replica, const ContentPiece& piece, std::uint32_t parent);
  void use(Replica& replica, std::uint32_t node);
  void drop_oldest(std::uint32_t replica);
  void add_holder(std::uint64_t key, std::uint32_t replica);
  void drop_holder(std::uint64_t key, std::uint32_t replica);

  std::vector<Replica> replicas_;
  KeyTable places_;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> unused_;  // places in pieces_
};

}  // namespace inferscale

// Prompts that grow out of each other, known by lengths alone: "this one shares its first 40 blocks
// with that one".
//
//   tree.extend(a, 60): a prompt of 60 blocks that begins with all of a
//   tree.at(a, 40):     the first 40 blocks of a
//
// A node is a run of blocks behind its parent's; a prompt is a node, and its content the path from
// a root. Parting a run in the middle puts a new node before the rest of it, so nodes that were
// handed out stay what they were. Cost: at() and common() walk up from a node, one step a run.

#pragma once

#include <cstdint>
#include <vector>

#include "core/request.h"

namespace inferscale {

class ContentTree {
 public:
  using Node = std::uint32_t;

  // `scope`: what the keys of its pieces stand apart by (content_key()).
  explicit ContentTree(std::uint64_t scope) : scope_(scope) {}

  // A prompt of no blocks, which shares nothing with those of other roots.
  Node add_root();
  // A prompt of `blocks` blocks whose first blocks(node) are those of `node` and whose others are
  // new. REQUIRES: blocks >= blocks(node).
  Node extend(Node node, std::uint32_t blocks);
  // The first `blocks` of it. REQUIRES: blocks <= blocks(node).
  Node at(Node node, std::uint32_t blocks);
  // How many blocks two prompts have in common.
  std::uint32_t common(Node a, Node b) const;
  std::uint32_t blocks(Node node) const { return nodes_[node].end; }

  // Appends the chain of pieces of a prompt, in blocks of `block_tokens`.
  void append_pieces(Node node, std::uint32_t block_tokens,
                     std::vector<ContentPiece>& pieces) const;

 private:
  static constexpr Node kNone = UINT32_MAX;
  struct Run {
    Node parent = kNone;
    std::uint32_t end = 0;  // blocks from the root to its last one
  };
  Node add(Node parent, std::uint32_t end);

  std::uint64_t scope_;
  std::vector<Run> nodes_;  // a run's key follows from its number
};

}  // namespace inferscale

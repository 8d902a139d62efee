#include "workload/content_tree.h"

#include <algorithm>

#include "base/check.h"
#include "workload/trace_content.h"

namespace inferscale {

ContentTree::Node ContentTree::add(Node parent, std::uint32_t end) {
  nodes_.push_back({parent, end});
  return static_cast<Node>(nodes_.size() - 1);
}

ContentTree::Node ContentTree::add_root() {
  return add(kNone, 0);
}

ContentTree::Node ContentTree::extend(Node node, std::uint32_t blocks) {
  CHECK(blocks >= nodes_[node].end) << blocks << " blocks extend " << nodes_[node].end;
  return blocks == nodes_[node].end ? node : add(node, blocks);
}

ContentTree::Node ContentTree::at(Node node, std::uint32_t blocks) {
  CHECK(blocks <= nodes_[node].end) << blocks << " of " << nodes_[node].end << " blocks";
  Node below = node;
  while (nodes_[node].end > blocks) {
    below = node;
    node = nodes_[node].parent;
  }
  if (nodes_[node].end == blocks) return node;
  const Node parted = add(node, blocks);
  nodes_[below].parent = parted;
  return parted;
}

std::uint32_t ContentTree::common(Node a, Node b) const {
  while (a != b && a != kNone && b != kNone) {
    // Of two roots that meet without being one, either may step out of the tree.
    if (nodes_[a].end >= nodes_[b].end) {
      a = nodes_[a].parent;
    } else {
      b = nodes_[b].parent;
    }
  }
  return a == b && a != kNone ? nodes_[a].end : 0;
}

void ContentTree::append_pieces(Node node, std::uint32_t block_tokens,
                                std::vector<ContentPiece>& pieces) const {
  const auto first = static_cast<std::ptrdiff_t>(pieces.size());
  for (; nodes_[node].parent != kNone; node = nodes_[node].parent) {
    const std::uint32_t blocks = nodes_[node].end - nodes_[nodes_[node].parent].end;
    pieces.push_back({content_key(scope_, node), blocks * block_tokens});
  }
  std::reverse(pieces.begin() + first, pieces.end());
}

}  // namespace inferscale

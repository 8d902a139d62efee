#include "routing/prefix_index.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {
namespace {

// A place for one more element: one that was given back, or a new one at the end.
std::uint32_t place_in(std::size_t size, std::vector<std::uint32_t>& unused) {
  if (unused.empty()) return static_cast<std::uint32_t>(size);
  const std::uint32_t place = unused.back();
  unused.pop_back();
  return place;
}

// Of the first `count` pieces, those that are in the table, where those that are come first.
std::uint32_t count_in(const KeyTable& table, const ContentPiece* content, std::uint32_t count) {
  const std::span pieces(content, count);
  const auto end = std::partition_point(
      pieces.begin(), pieces.end(),
      [&](const ContentPiece& piece) { return table.find(piece.key) != KeyTable::kNone; });
  return static_cast<std::uint32_t>(end - pieces.begin());
}

}  // namespace

void PrefixIndex::add_replica(TokenCount capacity) {
  replicas_.emplace_back();
  replicas_.back().capacity = capacity;
}

void PrefixIndex::dispatched(std::uint32_t replica, const Request& request) {
  CHECK(replica < replicas_.size()) << "no replica " << replica;
  Replica& to = replicas_[replica];
  const std::uint32_t pieces = request.content_pieces + (request.output_is_content ? 1 : 0);
  if (pieces == 0) return;
  const std::uint32_t held = count_in(to.places, request.content, pieces);
  std::uint32_t last = held == 0 ? kNone : to.places.find(request.content[held - 1].key);
  for (std::uint32_t i = held; i < pieces; ++i) last = add_node(replica, request.content[i], last);
  use(to, last);
  while (to.charged > to.capacity) drop_oldest(replica);
}

std::uint32_t PrefixIndex::add_node(std::uint32_t replica, const ContentPiece& piece,
                                    std::uint32_t parent) {
  Replica& to = replicas_[replica];
  const std::uint32_t place = place_in(to.nodes.size(), to.unused);
  if (place == to.nodes.size()) to.nodes.emplace_back();
  to.nodes[place] = {
      .key = piece.key, .parent = parent, .charge = std::max(piece.tokens, kLeastCharge)};
  if (parent != kNone) ++to.nodes[parent].children;
  to.places.insert(piece.key, place);
  to.charged += to.nodes[place].charge;
  add_holder(piece.key, replica);
  return place;
}

void PrefixIndex::use(Replica& replica, std::uint32_t node) {
  replica.nodes[node].last_use = ++replica.last_use;
  replica.uses.push_back({.number = replica.last_use, .node = node});
  // Void uses pile up while nothing is dropped.
  if (replica.uses.size() <= 64 + 2 * replica.places.size()) return;
  std::erase_if(replica.uses,
                [&](const Use& use) { return replica.nodes[use.node].last_use != use.number; });
}

void PrefixIndex::drop_oldest(std::uint32_t replica) {
  Replica& of = replicas_[replica];
  while (true) {
    const Use use = of.uses.front();
    of.uses.pop_front();
    Node& node = of.nodes[use.node];
    // A piece with others below it comes up again when the last of them is dropped.
    if (node.last_use != use.number || node.children > 0) continue;
    of.charged -= node.charge;
    of.places.erase(node.key);
    of.unused.push_back(use.node);
    drop_holder(node.key, replica);
    node.last_use = 0;
    if (node.parent == kNone) return;
    Node& parent = of.nodes[node.parent];
    --parent.children;
    if (parent.last_use > use.number) return;  // its own use is still to come
    parent.last_use = use.number;
    if (parent.children == 0) of.uses.push_front({.number = use.number, .node = node.parent});
    return;
  }
}

void PrefixIndex::add_holder(std::uint64_t key, std::uint32_t replica) {
  std::uint32_t place = places_.find(key);
  if (place == KeyTable::kNone) {
    place = place_in(pieces_.size(), unused_);
    if (place == pieces_.size()) pieces_.emplace_back();
    pieces_[place] = {};
    places_.insert(key, place);
  }
  Piece& piece = pieces_[place];
  ++piece.count;
  piece.listed = std::min(piece.listed + 1, kHolders);
  const auto begin = piece.holders.begin();
  std::copy_backward(begin, begin + piece.listed - 1, begin + piece.listed);
  *begin = replica;
}

void PrefixIndex::drop_holder(std::uint64_t key, std::uint32_t replica) {
  const std::uint32_t place = places_.find(key);
  CHECK(place != KeyTable::kNone) << "a piece without holders was held";
  Piece& piece = pieces_[place];
  const auto end = piece.holders.begin() + piece.listed;
  const auto found = std::find(piece.holders.begin(), end, replica);
  if (found != end) {
    std::copy(found + 1, end, found);
    --piece.listed;
  }
  if (--piece.count > 0) return;
  places_.erase(key);
  unused_.push_back(place);
}

void PrefixIndex::forget(std::uint32_t replica) {
  CHECK(replica < replicas_.size()) << "no replica " << replica;
  while (replicas_[replica].places.size() > 0) drop_oldest(replica);
  const TokenCount capacity = replicas_[replica].capacity;
  replicas_[replica] = {};
  replicas_[replica].capacity = capacity;
}

std::uint32_t PrefixIndex::pieces_held(std::uint32_t replica, const Request& request) const {
  return count_in(replicas_[replica].places, request.content, request.content_pieces);
}

std::uint32_t PrefixIndex::pieces_held(const Request& request) const {
  return count_in(places_, request.content, request.content_pieces);
}

PrefixIndex::Holders PrefixIndex::holders(std::uint64_t key) const {
  const std::uint32_t place = places_.find(key);
  if (place == KeyTable::kNone) return {};
  const Piece& piece = pieces_[place];
  return {.count = piece.count, .listed = std::span(piece.holders).first(piece.listed)};
}

std::size_t PrefixIndex::size() const {
  std::size_t size = 0;
  for (const Replica& replica : replicas_) size += replica.places.size();
  return size;
}

}  // namespace inferscale

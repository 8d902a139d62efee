#include "routing/load_tournament.h"

#include <bit>

#include "base/check.h"

namespace inferscale {

bool is_better(const LoadKey& a, std::uint32_t ia, const LoadKey& b, std::uint32_t ib) {
  if (a.load != b.load) return a.load < b.load;
  if (a.next_load != b.next_load) return a.next_load < b.next_load;
  if (a.weight != b.weight) return a.weight > b.weight;
  if (a.last_dispatch != b.last_dispatch) return a.last_dispatch < b.last_dispatch;
  return ia < ib;
}

void LoadTournament::grow(std::uint32_t size) {
  keys_.resize(size);
  if (size <= leaves_) return;
  const std::vector<std::uint32_t> old = winners_;
  const std::uint32_t old_leaves = leaves_;
  leaves_ = std::bit_ceil(size);
  winners_.assign(std::size_t{2} * leaves_, kNobody);
  for (std::uint32_t i = 0; i < old_leaves; ++i) winners_[leaves_ + i] = old[old_leaves + i];
  for (std::uint32_t node = leaves_ - 1; node > 0; --node) {
    winners_[node] = better_of(winners_[2 * node], winners_[2 * node + 1]);
  }
}

std::uint32_t LoadTournament::better_of(std::uint32_t a, std::uint32_t b) const {
  if (a == kNobody || b == kNobody) return a == kNobody ? b : a;
  return is_better(keys_[a], a, keys_[b], b) ? a : b;
}

void LoadTournament::replay(std::uint32_t replica) {
  for (std::uint32_t node = (leaves_ + replica) / 2; node > 0; node /= 2) {
    const std::uint32_t winner = better_of(winners_[2 * node], winners_[2 * node + 1]);
    // Where someone else won before and wins again, the nodes above see no change.
    if (winner == winners_[node] && winner != replica) return;
    winners_[node] = winner;
  }
}

void LoadTournament::set(std::uint32_t replica, const LoadKey& key) {
  DCHECK(replica < keys_.size()) << "no replica " << replica;
  keys_[replica] = key;
  winners_[leaves_ + replica] = replica;
  replay(replica);
}

void LoadTournament::remove(std::uint32_t replica) {
  DCHECK(replica < keys_.size()) << "no replica " << replica;
  winners_[leaves_ + replica] = kNobody;
  replay(replica);
}

std::optional<std::uint32_t> LoadTournament::best() const {
  if (leaves_ == 0 || winners_[1] == kNobody) return std::nullopt;
  return winners_[1];
}

}  // namespace inferscale

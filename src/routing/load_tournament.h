// The replica with the least load, kept up to date: a tournament tree over the replicas.
//
// Every inner node holds the better of the two below it, the root the best of all. A change of one
// key is replayed on the path to the root: logarithmic time; the best is known at once.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace inferscale {

// What replicas are compared by, in this order; the last tie goes to the lower index.
struct LoadKey {
  double load = 0;                  // less is better
  double next_load = 0;             // where `load` ties: less is better
  double weight = 1;                // more is better
  std::uint64_t last_dispatch = 0;  // the number of the last dispatch to it, 0 for never
};

// Whether `a` of replica `ia` comes before `b` of replica `ib`.
bool is_better(const LoadKey& a, std::uint32_t ia, const LoadKey& b, std::uint32_t ib);

class LoadTournament {
 public:
  // Makes room for replicas below `size`; new ones do not take part. Linear time.
  void grow(std::uint32_t size);
  // Puts the replica in, or changes its key. REQUIRES: below the size, as for remove().
  void set(std::uint32_t replica, const LoadKey& key);
  void remove(std::uint32_t replica);
  std::optional<std::uint32_t> best() const;
  // As it was last set.
  const LoadKey& key(std::uint32_t replica) const { return keys_[replica]; }

 private:
  static constexpr std::uint32_t kNobody = UINT32_MAX;
  std::uint32_t better_of(std::uint32_t a, std::uint32_t b) const;
  void replay(std::uint32_t replica);

  std::uint32_t leaves_ = 0;            // a power of two
  std::vector<std::uint32_t> winners_;  // [1] is the root, [leaves_ + i] the leaf of replica i
  std::vector<LoadKey> keys_;
};

}  // namespace inferscale

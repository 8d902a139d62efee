// The indices of the replicas that may be chosen: a set of small integers that can be counted and
// indexed in order.
//
// A bit for each index, and a Fenwick tree (P. Fenwick, "A new data structure for cumulative
// frequency tables", 1994) over the counts of its 64-bit words. Every operation but grow() takes
// logarithmic time.

#pragma once

#include <cstdint>
#include <vector>

namespace inferscale {

class AvailableSet {
 public:
  // Makes room for indices below `size`. Linear time.
  void grow(std::uint32_t size);
  // REQUIRES: the index is below the size, here and in contains().
  void insert(std::uint32_t index);
  void erase(std::uint32_t index);
  bool contains(std::uint32_t index) const { return (words_[index / 64] >> (index % 64) & 1) != 0; }
  std::uint32_t count() const { return count_; }
  // The index that has `position` others before it. REQUIRES: position < count().
  std::uint32_t at(std::uint32_t position) const;
  // How many of its indices are below `index`. REQUIRES: index is at most the size.
  std::uint32_t rank(std::uint32_t index) const;

 private:
  void add_to_counts(std::uint32_t word, std::uint32_t change);

  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> counts_;  // Fenwick tree: [i] sums the (i & -i) words before word i
  std::uint32_t count_ = 0;
};

}  // namespace inferscale

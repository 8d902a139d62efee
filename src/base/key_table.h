// A table from 64-bit keys to places in somebody's array. For look-ups only: it can't be walked
// over, so its order never reaches a result.
//
// Open addressing with linear probing in a power of two of cells, at most 3/4 full; an erased cell
// is filled by moving later ones back, so look-ups do not slow down as entries come and go.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inferscale {

class KeyTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // kNone when the key is not there.
  std::uint32_t find(std::uint64_t key) const;
  // REQUIRES: the key is not there; place != kNone.
  void insert(std::uint64_t key, std::uint32_t place);
  // REQUIRES: the key is there.
  void erase(std::uint64_t key);
  std::size_t size() const { return size_; }

 private:
  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t place = kNone;  // kNone: the cell is empty
  };

  std::size_t home(std::uint64_t key) const;
  // The cell of the key, or the empty one where it would go. REQUIRES: there are cells.
  std::size_t cell_of(std::uint64_t key) const;
  void rebuild(std::size_t cells);

  std::vector<Cell> cells_;
  std::size_t size_ = 0;
};

}  // namespace inferscale

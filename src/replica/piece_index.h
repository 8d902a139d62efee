// Which strands of cached content there are (prefix_cache.h): from the name of a strand's first
// piece to its number.
//
// A name is the key together with the tokens that the piece spans. By contract a key alone says
// enough; traces that break it (one hash at two positions) then share less than they claim, and
// nothing worse. A hash table with linear probing that is asked, filled and emptied, but never
// walked through: its order reaches nobody. Cost: constant on average; 8 bytes a place, at most
// a quarter of the places filled, and 16 bytes a name.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/request.h"

namespace inferscale {

struct PieceName {
  std::uint64_t key = 0;
  std::uint32_t start = 0;   // prompt tokens before it
  std::uint32_t tokens = 0;  // its own

  bool operator==(const PieceName&) const = default;
};

class PieceIndex {
 public:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  PieceIndex() : places_(kSmallest) {}

  std::uint32_t find(const PieceName& name) const;
  // The number of a new piece; numbers of removed ones are used again. REQUIRES: it is absent.
  std::uint32_t add(const PieceName& name);
  // REQUIRES: there is a piece of this number.
  void remove(std::uint32_t number);

  // REQUIRES: there is a piece of this number.
  const PieceName& name(std::uint32_t number) const { return names_[number]; }
  std::size_t size() const { return names_.size() - unused_.size(); }

 private:
  static constexpr std::size_t kSmallest = 16;

  struct Place {
    std::uint32_t hash = 0;
    std::uint32_t number = kAbsent;
  };

  std::size_t mask() const { return places_.size() - 1; }
  void put(const Place& taken);

  std::vector<Place> places_;          // a power of two of them
  std::vector<PieceName> names_;       // by number
  std::vector<std::uint32_t> unused_;  // numbers of removed pieces
};

}  // namespace inferscale

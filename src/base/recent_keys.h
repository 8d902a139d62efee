// Keys with a value each, in the order of their last use: the memory behind whatever a router or a
// policy remembers within bounds. Constant time an operation.

#pragma once

#include <cstdint>
#include <vector>

#include "base/key_table.h"

namespace inferscale {

class RecentKeys {
 public:
  using Place = std::uint32_t;  // stays the same while the key is there
  static constexpr Place kNone = KeyTable::kNone;

  // kNone when the key is not there.
  Place find(std::uint64_t key) const { return places_.find(key); }
  // REQUIRES: the key is not there. It is the most recent one then.
  Place add(std::uint64_t key, std::uint64_t value);
  // Makes it the most recent one.
  void touch(Place place);
  void erase(Place place);
  void clear();

  std::uint64_t key(Place place) const { return entries_[place].key; }
  std::uint64_t value(Place place) const { return entries_[place].value; }
  void set_value(Place place, std::uint64_t value) { entries_[place].value = value; }
  // The one used longest ago; kNone when there is none.
  Place oldest() const { return oldest_; }
  std::size_t size() const { return places_.size(); }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    Place older = kNone;
    Place newer = kNone;
  };

  void link_newest(Place place);
  void unlink(Place place);

  KeyTable places_;
  std::vector<Entry> entries_;
  std::vector<Place> unused_;
  Place oldest_ = kNone;
  Place newest_ = kNone;
};

}  // namespace inferscale

// When each replica of a fleet must be woken next, and which one is first.
//
// An indexed binary heap: every replica stands in it once, with its instant (never() when it has
// nothing to do), and a change moves it up or down. The first is known at once; ties go to the
// lower index. Cost: logarithmic in the number of replicas for a change, none for a fleet of one.

#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace inferscale {

class WakeQueue {
 public:
  // A further replica, with nothing to do; its index is the number of those before it.
  void add();
  // REQUIRES: the replica was added.
  void set(std::uint32_t replica, Instant at) {
    if (heap_.size() == 1) {
      heap_.front().at = at;
    } else if (heap_[positions_[replica]].at != at) {
      move(replica, at);
    }
  }

  // never() when nobody has anything to do. REQUIRES: a replica was added, as for first().
  Instant first_at() const { return heap_.front().at; }
  std::uint32_t first() const { return heap_.front().replica; }

 private:
  struct Entry {
    Instant at;
    std::uint32_t replica = 0;
    bool before(const Entry& other) const {
      return at != other.at ? at < other.at : replica < other.replica;
    }
  };
  void move(std::uint32_t replica, Instant at);
  void place(std::size_t position, const Entry& entry);

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> positions_;  // by replica, in heap_
};

}  // namespace inferscale

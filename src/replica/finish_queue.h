// The decoding sequences by the step at which each finishes: a binary heap that can also remove a
// sequence in the middle (a preempted one). Sequences are named by their slot, a small integer.
// Cost: logarithmic in the batch size.

#pragma once

#include <cstdint>
#include <vector>

namespace inferscale {

class FinishQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // The least step and a slot that finishes then. REQUIRES: not empty.
  std::int64_t first_step() const { return heap_.front().step; }
  std::uint32_t first_slot() const { return heap_.front().slot; }

  // REQUIRES: the slot is not in the queue.
  void push(std::int64_t step, std::uint32_t slot);
  bool holds(std::uint32_t slot) const { return slot < place_.size() && place_[slot] != kAbsent; }
  // REQUIRES: the slot is in the queue.
  void remove(std::uint32_t slot);

 private:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;
  struct Entry {
    std::int64_t step;
    std::uint32_t slot;
  };
  void sift_up(std::size_t hole, Entry entry);
  void sift_down(std::size_t hole, Entry entry);

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> place_;  // slot -> index in heap_
};

}  // namespace inferscale

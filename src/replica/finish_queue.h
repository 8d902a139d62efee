// The decoding sequences by the step at which each finishes: a sorted list from which a sequence in
// the middle can be removed too (a preempted one). Sequences are named by their slot, a small
// integer.
//
// An entry is one number, the step and below it the slot, and the list is plain memory. Taking the
// first only moves the list's begin. A newcomer moves those that finish after it: nobody where all
// answers are equally long, half of them where nothing is known, 8 bytes each. Up to some thousand
// sequences that is less than a heap costs, whose comparisons are mispredicted half of the time.

#pragma once

#include <cstdint>
#include <vector>

namespace inferscale {

class FinishQueue {
 public:
  bool empty() const { return first_ == keys_.size(); }
  std::size_t size() const { return keys_.size() - first_; }
  // The least step and a slot that finishes then. REQUIRES: not empty.
  std::int64_t first_step() const { return static_cast<std::int64_t>(keys_[first_] >> kSlotBits); }
  std::uint32_t first_slot() const { return static_cast<std::uint32_t>(keys_[first_] & kSlotMask); }

  // REQUIRES: the slot is not in the queue, and is below 2^24; the step is from 0 to 2^39 - 1.
  void push(std::int64_t step, std::uint32_t slot);
  bool holds(std::uint32_t slot) const { return slot < steps_.size() && steps_[slot] != kAbsent; }
  // REQUIRES: the slot is in the queue.
  void remove(std::uint32_t slot);
  // REQUIRES: not empty.
  void remove_first() {
    steps_[first_slot()] = kAbsent;
    ++first_;
  }

 private:
  using Key = std::uint64_t;
  static constexpr int kSlotBits = 24;
  static constexpr Key kSlotMask = (Key{1} << kSlotBits) - 1;
  static constexpr std::int64_t kAbsent = -1;

  static Key key_of(std::int64_t step, std::uint32_t slot) {
    return static_cast<Key>(step) << kSlotBits | slot;
  }
  // The index of the first entry that is not before `key`.
  std::size_t place_of(Key key) const;

  std::vector<Key> keys_;            // sorted from first_ on
  std::size_t first_ = 0;            // those before it have left
  std::vector<std::int64_t> steps_;  // by slot
};

}  // namespace inferscale

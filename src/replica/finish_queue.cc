#include "replica/finish_queue.h"

#include "base/check.h"

namespace inferscale {

void FinishQueue::sift_up(std::size_t hole, Entry entry) {
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / 2;
    if (heap_[parent].step <= entry.step) break;
    heap_[hole] = heap_[parent];
    place_[heap_[hole].slot] = static_cast<std::uint32_t>(hole);
    hole = parent;
  }
  heap_[hole] = entry;
  place_[entry.slot] = static_cast<std::uint32_t>(hole);
}

void FinishQueue::sift_down(std::size_t hole, Entry entry) {
  const std::size_t size = heap_.size();
  while (true) {
    std::size_t child = 2 * hole + 1;
    if (child >= size) break;
    // Which child is the lesser is a coin toss, so it is a sum: a branch would be mispredicted half
    // of the time, and that is most of what a removal costs.
    child +=
        child + 1 < size ? static_cast<std::size_t>(heap_[child + 1].step < heap_[child].step) : 0;
    if (entry.step <= heap_[child].step) break;
    heap_[hole] = heap_[child];
    place_[heap_[hole].slot] = static_cast<std::uint32_t>(hole);
    hole = child;
  }
  heap_[hole] = entry;
  place_[entry.slot] = static_cast<std::uint32_t>(hole);
}

void FinishQueue::push(std::int64_t step, std::uint32_t slot) {
  if (slot >= place_.size()) place_.resize(slot + 1, kAbsent);
  CHECK(place_[slot] == kAbsent) << "slot " << slot << " is queued already";
  heap_.push_back({step, slot});
  sift_up(heap_.size() - 1, {step, slot});
}

void FinishQueue::remove(std::uint32_t slot) {
  CHECK(holds(slot)) << "slot " << slot << " is not queued";
  const std::size_t hole = place_[slot];
  place_[slot] = kAbsent;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (hole == heap_.size()) return;
  if (hole > 0 && last.step < heap_[(hole - 1) / 2].step) {
    sift_up(hole, last);
  } else {
    sift_down(hole, last);
  }
}

}  // namespace inferscale

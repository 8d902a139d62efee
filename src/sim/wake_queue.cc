#include "sim/wake_queue.h"

#include "base/check.h"

namespace inferscale {

void WakeQueue::add() {
  const auto replica = static_cast<std::uint32_t>(heap_.size());
  positions_.push_back(replica);
  heap_.push_back({Instant::never(), replica});
}

void WakeQueue::place(std::size_t position, const Entry& entry) {
  heap_[position] = entry;
  positions_[entry.replica] = static_cast<std::uint32_t>(position);
}

void WakeQueue::move(std::uint32_t replica, Instant at) {
  DCHECK(replica < positions_.size());
  const Entry moved{at, replica};
  std::size_t position = positions_[replica];
  while (position > 0) {
    const std::size_t parent = (position - 1) / 2;
    if (!moved.before(heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  while (true) {
    std::size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
    if (!heap_[child].before(moved)) break;
    place(position, heap_[child]);
    position = child;
  }
  place(position, moved);
}

}  // namespace inferscale

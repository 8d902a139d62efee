#include "replica/finish_queue.h"

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kMostSteps = (std::uint64_t{1} << 39) - 1;
constexpr std::size_t kMostGone = 256;  // entries that have left, before the list moves up

}  // namespace

// Whether the place is in the upper half is a coin toss, so it is a product: a branch would be
// mispredicted half of the time.
std::size_t FinishQueue::place_of(Key key) const {
  std::size_t begin = first_;
  std::size_t size = this->size();
  while (size > 1) {
    const std::size_t half = size / 2;
    begin += half * static_cast<std::size_t>(keys_[begin + half - 1] < key);
    size -= half;
  }
  return begin + static_cast<std::size_t>(size == 1 && keys_[begin] < key);
}

void FinishQueue::push(std::int64_t step, std::uint32_t slot) {
  if (slot >= steps_.size()) steps_.resize(slot + 1, kAbsent);
  CHECK(steps_[slot] == kAbsent) << "slot " << slot << " is queued already";
  CHECK(slot <= kSlotMask && static_cast<Key>(step) <= kMostSteps)
      << "slot " << slot << ", step " << step;
  steps_[slot] = step;
  if (first_ > kMostGone) {
    keys_.erase(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  const Key key = key_of(step, slot);
  if (empty() || keys_.back() < key) {
    keys_.push_back(key);
  } else {
    keys_.insert(keys_.begin() + static_cast<std::ptrdiff_t>(place_of(key)), key);
  }
}

void FinishQueue::remove(std::uint32_t slot) {
  CHECK(holds(slot)) << "slot " << slot << " is not queued";
  if (first_slot() == slot) {
    remove_first();
    return;
  }
  const Key key = key_of(steps_[slot], slot);
  steps_[slot] = kAbsent;
  keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(place_of(key)));
}

}  // namespace inferscale

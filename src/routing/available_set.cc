#include "routing/available_set.h"

#include <bit>
#include <cstddef>

#include "base/check.h"

namespace inferscale {
namespace {

std::uint32_t ones(std::uint64_t bits) {
  return static_cast<std::uint32_t>(std::popcount(bits));
}

// The place of the one bit that has `position` others below it.
std::uint32_t place_of_one(std::uint64_t bits, std::uint32_t position) {
  std::uint32_t place = 0;
  for (std::uint32_t half = 32; half > 0; half /= 2) {
    const std::uint32_t below = ones(bits & ((std::uint64_t{1} << half) - 1));
    if (position < below) continue;
    position -= below;
    bits >>= half;
    place += half;
  }
  return place;
}

}  // namespace

void AvailableSet::grow(std::uint32_t size) {
  words_.resize((std::size_t{size} + 63) / 64, 0);
  if (counts_.size() > words_.size()) return;
  counts_.assign(words_.size() + 1, 0);
  for (std::uint32_t i = 0; i < words_.size(); ++i) add_to_counts(i, ones(words_[i]));
}

void AvailableSet::add_to_counts(std::uint32_t word, std::uint32_t change) {
  for (std::size_t i = std::size_t{word} + 1; i < counts_.size(); i += i & (~i + 1)) {
    counts_[i] += change;
  }
}

void AvailableSet::insert(std::uint32_t index) {
  DCHECK(index / 64 < words_.size()) << "index " << index << " is beyond the set";
  if (contains(index)) return;
  words_[index / 64] |= std::uint64_t{1} << (index % 64);
  add_to_counts(index / 64, 1);
  ++count_;
}

void AvailableSet::erase(std::uint32_t index) {
  DCHECK(index / 64 < words_.size()) << "index " << index << " is beyond the set";
  if (!contains(index)) return;
  words_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
  add_to_counts(index / 64, UINT32_MAX);  // minus one
  --count_;
}

std::uint32_t AvailableSet::at(std::uint32_t position) const {
  DCHECK(position < count_) << "position " << position << " of " << count_;
  std::size_t word = 0;
  for (std::size_t step = std::bit_floor(words_.size()); step > 0; step /= 2) {
    const std::size_t next = word + step;
    if (next >= counts_.size() || counts_[next] > position) continue;
    word = next;
    position -= counts_[next];
  }
  return static_cast<std::uint32_t>(word) * 64 + place_of_one(words_[word], position);
}

std::uint32_t AvailableSet::rank(std::uint32_t index) const {
  std::uint32_t below = 0;
  if (index % 64 != 0) below = ones(words_[index / 64] & ((std::uint64_t{1} << (index % 64)) - 1));
  for (std::size_t i = index / 64; i > 0; i &= i - 1) below += counts_[i];
  return below;
}

}  // namespace inferscale

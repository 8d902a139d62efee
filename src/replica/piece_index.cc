#include "replica/piece_index.h"

#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

// The finisher of SplitMix64 (base/random.h): every bit of the name reaches every bit of the hash.
std::uint32_t hash_of(const PieceName& name) {
  std::uint64_t mixed = name.key + name.start * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(mixed ^ (mixed >> 31));
}

}  // namespace

std::uint32_t PieceIndex::find(const PieceName& name) const {
  const std::uint32_t hash = hash_of(name);
  for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
    const Place& place = places_[at];
    if (place.number == kAbsent) return kAbsent;
    if (place.hash == hash && names_[place.number] == name) return place.number;
  }
}

std::uint32_t PieceIndex::add(const PieceName& name) {
  std::uint32_t number = 0;
  if (unused_.empty()) {
    number = static_cast<std::uint32_t>(names_.size());
    CHECK(number != kAbsent) << "as many pieces as there are numbers";
    names_.push_back(name);
  } else {
    number = unused_.back();
    unused_.pop_back();
    names_[number] = name;
  }
  if (4 * size() > places_.size()) {
    std::vector<Place> before(2 * places_.size());
    std::swap(before, places_);
    for (const Place& place : before) {
      if (place.number != kAbsent) put(place);
    }
  }
  put({hash_of(name), number});
  return number;
}

void PieceIndex::put(const Place& taken) {
  std::size_t at = taken.hash & mask();
  while (places_[at].number != kAbsent) at = (at + 1) & mask();
  places_[at] = taken;
}

void PieceIndex::remove(std::uint32_t number) {
  std::size_t hole = hash_of(names_[number]) & mask();
  while (places_[hole].number != number) {
    CHECK(places_[hole].number != kAbsent) << "no piece has the number " << number;
    hole = (hole + 1) & mask();
  }
  // Those behind the hole move up, unless that would put them before their home.
  for (std::size_t at = (hole + 1) & mask(); places_[at].number != kAbsent;
       at = (at + 1) & mask()) {
    const std::size_t from_home = (at - places_[at].hash) & mask();
    if (from_home < ((at - hole) & mask())) continue;
    places_[hole] = places_[at];
    hole = at;
  }
  places_[hole] = {};
  unused_.push_back(number);
}

}  // namespace inferscale

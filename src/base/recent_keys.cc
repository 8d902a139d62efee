#include "base/recent_keys.h"

namespace inferscale {

void RecentKeys::link_newest(Place place) {
  entries_[place].older = newest_;
  entries_[place].newer = kNone;
  (newest_ == kNone ? oldest_ : entries_[newest_].newer) = place;
  newest_ = place;
}

void RecentKeys::unlink(Place place) {
  const Entry& entry = entries_[place];
  (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
  (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
}

RecentKeys::Place RecentKeys::add(std::uint64_t key, std::uint64_t value) {
  Place place = static_cast<Place>(entries_.size());
  if (unused_.empty()) {
    entries_.emplace_back();
  } else {
    place = unused_.back();
    unused_.pop_back();
  }
  places_.insert(key, place);
  entries_[place].key = key;
  entries_[place].value = value;
  link_newest(place);
  return place;
}

void RecentKeys::touch(Place place) {
  if (place == newest_) return;
  unlink(place);
  link_newest(place);
}

void RecentKeys::erase(Place place) {
  unlink(place);
  places_.erase(entries_[place].key);
  unused_.push_back(place);
}

void RecentKeys::clear() {
  *this = RecentKeys();
}

}  // namespace inferscale

#include "sim/parked.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {

ParkedSequence& ParkedSequences::add(const ParkedSequence& sequence) {
  std::uint32_t place;
  if (unused_.empty()) {
    place = static_cast<std::uint32_t>(sequences_.size());
    sequences_.push_back(sequence);
  } else {
    place = unused_.back();
    unused_.pop_back();
    sequences_[place] = sequence;
  }
  places_.insert(sequence.handoff.request.id, place);
  return sequences_[place];
}

ParkedSequence* ParkedSequences::find(RequestId id) {
  const std::uint32_t place = places_.find(id);
  return place == KeyTable::kNone ? nullptr : &sequences_[place];
}

ParkedSequence ParkedSequences::take(RequestId id) {
  const std::uint32_t place = places_.find(id);
  CHECK(place != KeyTable::kNone) << "request " << id << " is not between the pools";
  places_.erase(id);
  unused_.push_back(place);
  const ParkedSequence taken = sequences_[place];
  sequences_[place].from = ParkedSequence::kNowhere;
  return taken;
}

std::vector<RequestId> ParkedSequences::touching(std::uint32_t replica) const {
  std::vector<RequestId> ids;
  for (const ParkedSequence& sequence : sequences_) {
    if (sequence.from == ParkedSequence::kNowhere) continue;
    if (sequence.from == replica || sequence.to == replica) {
      ids.push_back(sequence.handoff.request.id);
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<RequestId> ParkedSequences::all() const {
  std::vector<RequestId> ids;
  for (const ParkedSequence& sequence : sequences_) {
    if (sequence.from != ParkedSequence::kNowhere) ids.push_back(sequence.handoff.request.id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace inferscale

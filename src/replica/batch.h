// The places of a running batch: sequences by a small number, linked in the order of admission.
//
// Places are reused, so their number is bounded by the largest batch. Taking and releasing a place
// costs a few assignments; the last admitted is known at once, for preemption. A parked place has
// left the batch but keeps its sequence (a prefill replica waits for its KV cache to be moved).

#pragma once

#include <cstdint>
#include <vector>

#include "replica/sequence.h"

namespace inferscale {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

enum class PlaceState : std::uint8_t { kPartial, kTransferring, kDecoding, kParked };

// Of a size that an index is shifted by.
struct alignas(64) Place {
  Sequence sequence;
  PlaceState state = PlaceState::kPartial;
  std::uint64_t serial = 0;      // order of admission
  TokenCount covered = 0;        // while partial: tokens that it holds blocks for
  std::int64_t finish_step = 0;  // the decode step, counted from the start, that ends it
  bool shares_gaps = false;      // has taken a decode step since it (re)joined
  bool leaves = false;           // with the step under way: its caller has gone
  Slot previous = kNoSlot;       // admitted before it
  Slot next = kNoSlot;
};

class Batch {
 public:
  std::int64_t size() const { return size_; }
  // kNoSlot when the batch is empty; follow Place::previous for the others.
  Slot last_admitted() const { return last_; }
  Place& operator[](Slot slot) { return places_[slot]; }
  const Place& operator[](Slot slot) const { return places_[slot]; }

  // A place for a newcomer. References to places are void afterwards.
  Slot take() {
    Slot slot = kNoSlot;
    if (free_.empty()) {
      slot = static_cast<Slot>(places_.size());
      places_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    Place& place = places_[slot];
    place.previous = last_;
    place.next = kNoSlot;
    place.shares_gaps = false;
    place.leaves = false;
    place.state = PlaceState::kPartial;
    place.covered = 0;
    place.serial = ++serial_;
    if (last_ != kNoSlot) places_[last_].next = slot;
    last_ = slot;
    ++size_;
    return slot;
  }

  // REQUIRES: the slot is taken. Its place keeps its contents until it is taken again.
  void release(Slot slot) {
    unlink(slot);
    free_.push_back(slot);
  }
  // The sequence leaves the batch; its place stays until unpark().
  void park(Slot slot) {
    unlink(slot);
    places_[slot].state = PlaceState::kParked;
    ++parked_;
  }
  void unpark(Slot slot) {
    free_.push_back(slot);
    --parked_;
  }
  std::int64_t parked() const { return parked_; }
  // As new.
  void clear() { *this = Batch(); }

 private:
  void unlink(Slot slot) {
    const Place& place = places_[slot];
    if (place.next != kNoSlot) {
      places_[place.next].previous = place.previous;
    } else {
      last_ = place.previous;
    }
    if (place.previous != kNoSlot) places_[place.previous].next = place.next;
    --size_;
  }

  std::vector<Place> places_;
  std::vector<Slot> free_;
  Slot last_ = kNoSlot;
  std::int64_t size_ = 0;
  std::int64_t parked_ = 0;
  std::uint64_t serial_ = 0;
};

}  // namespace inferscale

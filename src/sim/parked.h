// Sequences between the pools of a split: prefilled, their KV cache still at the prefill replica.
//
//   at the door --a decode replica chosen--> queued --reserved--> moving --transfer done--> gone
//
// Constant time an operation but for those that a failure asks for, which take linear time.

#pragma once

#include <cstdint>
#include <vector>

#include "base/key_table.h"
#include "replica/replica.h"

namespace inferscale {

struct ParkedSequence {
  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  Handoff handoff;
  std::uint32_t from = kNowhere;  // fleet index of the prefill replica
  std::uint32_t to = kNowhere;    // of the decode replica, once one is chosen
  Instant parked_at;
  Instant moving_since = Instant::never();  // when the decode replica reserved
  TokenCount resident_tokens = 0;
  double bytes = 0;

  bool is_moving() const { return moving_since != Instant::never(); }
};

class ParkedSequences {
 public:
  // REQUIRES: the request is not there yet.
  ParkedSequence& add(const ParkedSequence& sequence);
  // Null when the request is not there.
  ParkedSequence* find(RequestId id);
  // REQUIRES: the request is there.
  ParkedSequence take(RequestId id);
  // The requests that came from `replica` or are bound for it, in order of id.
  std::vector<RequestId> touching(std::uint32_t replica) const;
  // All of them, in order of id.
  std::vector<RequestId> all() const;
  std::size_t size() const { return places_.size(); }

 private:
  KeyTable places_;
  std::vector<ParkedSequence> sequences_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace inferscale

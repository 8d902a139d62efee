// Which replicas have served which chain of calls: when a chain ends at one of them, or goes on
// with less than it had (its context was compacted), the others need no longer keep what it left
// there.
//
// Cost: constant for a call of a chain that stays where it is, the replicas that it has left for
// one that moves. Memory: 24 bytes for a chain, 32 for each six replicas that it has left.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/request.h"

namespace inferscale {

class ChainPlaces {
 public:
  // Gives the other replicas that keep what the chain has dropped from its history.
  // REQUIRES: request.program is set.
  std::vector<std::uint32_t> dispatched(const Request& request, std::uint32_t replica);
  // The request has finished at `replica`. Where it ended its chain: the other replicas that had
  // served the chain, in the order in which it left them; else none.
  std::vector<std::uint32_t> ended(RequestId id, std::uint32_t replica);
  // The request that ended() was asked about. REQUIRES: ended() gave some replica.
  const Request& ended_request() const { return ended_; }

 private:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  static constexpr std::uint32_t kNothing = UINT32_MAX;
  struct Last {
    const ProgramCall* call = nullptr;
    std::uint32_t replica = kNowhere;
    std::uint32_t tokens = 0;  // prompt and answer of its last call
    std::uint32_t left = kNothing;
  };
  // Some of the replicas that a chain has left, and where there are more of them.
  struct Left {
    std::array<std::uint32_t, 6> replicas;
    std::uint32_t count = 0;
    std::uint32_t next = kNothing;
  };
  void note_left(Last& chain, std::uint32_t replica);
  // Those but `replica`, in the order in which they were left.
  std::vector<std::uint32_t> left_by(const Last& chain, std::uint32_t replica) const;
  std::uint32_t new_left();

  std::vector<Last> last_;  // by chain
  std::vector<Left> left_;
  std::uint32_t unused_ = kNothing;      // of left_, the first of those that nobody has
  std::map<RequestId, Request> ending_;  // under way: last calls of chains that have moved
  Request ended_;
};

}  // namespace inferscale

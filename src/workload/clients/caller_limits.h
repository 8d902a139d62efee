// How many calls a caller has in flight at a time, by its own will.
//
// A caller begins without a limit. After a 429 it allows itself half of what it had in flight, but
// at least one; each answer that it gets then allows one more. A 429 of an attempt that was
// presented before the last halving is news of the same burst and changes nothing. A call over the
// limit waits, in order of when it was due and of its number. An attempt that its client has left
// counts until it has ended; what a router in between tries again is one call.
//
// Cost: logarithmic in the waiting calls of the caller. Memory: about 100 bytes for each caller.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/time.h"

namespace inferscale {

class CallerLimits {
 public:
  using Waiting = std::pair<Instant, std::uint32_t>;  // when it was due, its number

  bool is_full(std::size_t caller) const;
  void wait(std::size_t caller, const Waiting& call) { state(caller).waiting.insert(call); }
  void stop_waiting(std::size_t caller, const Waiting& call) { state(caller).waiting.erase(call); }
  void presented(std::size_t caller) { ++state(caller).in_flight; }
  // An attempt ended: there may be room for who waits.
  void ended(std::size_t caller) { --state(caller).in_flight; }
  void answered(std::size_t caller);
  // REQUIRES: called before ended() of the attempt.
  void refused_by_429(std::size_t caller, Instant presented, Instant now);
  // How many more may go.
  std::uint32_t room(std::size_t caller) const;
  // The first one that waits, which no longer does.
  std::optional<Waiting> take_waiting(std::size_t caller);
  // Nobody of the caller waits any more; those that did.
  std::vector<Waiting> clear(std::size_t caller);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct State {
    std::uint32_t in_flight = 0;
    std::uint32_t limit = kNone;
    Instant halved = Instant::nanos(-1);
    std::set<Waiting> waiting;
  };
  State& state(std::size_t caller) {
    if (caller >= states_.size()) states_.resize(caller + 1);
    return states_[caller];
  }

  std::vector<State> states_;
};

}  // namespace inferscale

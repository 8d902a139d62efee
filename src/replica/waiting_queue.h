// The waiting requests of a replica, in the order in which they will be admitted: first those that
// were preempted, oldest admission first, then the others in order of arrival.
//
// The last admitted is preempted first, so a preempted sequence always goes before those that were
// preempted earlier. New requests are kept small: under overload there are very many.

#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "replica/sequence.h"

namespace inferscale {

class WaitingQueue {
 public:
  bool empty() const { return preempted_.empty() && arrived_.empty(); }
  std::int64_t size() const {
    return static_cast<std::int64_t>(preempted_.size() + arrived_.size());
  }
  void arrive(const Request& request) { arrived_.push_back(request); }
  void preempt(const Sequence& sequence) { preempted_.push_back(sequence); }

  // The head's request, and how many tokens it would prefill. REQUIRES: not empty.
  const Request& head() const {
    return preempted_.empty() ? arrived_.front() : preempted_.back().request;
  }
  TokenCount head_prefill_tokens() const {
    return preempted_.empty() ? static_cast<TokenCount>(arrived_.front().prompt_tokens)
                              : preempted_.back().prefill_tokens();
  }
  // Takes the head out. REQUIRES: not empty.
  Sequence pop() {
    Sequence sequence;
    if (preempted_.empty()) {
      sequence.request = arrived_.front();
      arrived_.pop_front();
    } else {
      sequence = preempted_.back();
      preempted_.pop_back();
    }
    return sequence;
  }

 private:
  std::vector<Sequence> preempted_;  // the head at the back
  std::deque<Request> arrived_;
};

}  // namespace inferscale

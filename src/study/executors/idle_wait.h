// How long a rank sleeps between two looks at its mail: short after something came, longer while
// nothing does, so that it neither keeps others waiting nor burns the core that its threads need.

#pragma once

#include <algorithm>
#include <chrono>

namespace inferscale {

class IdleWait {
 public:
  // Alone, there is no mail: only the wish to stop has to be noticed.
  explicit IdleWait(bool alone)
      : shortest_(alone ? 20'000 : 50), longest_(alone ? 20'000 : 2'000), next_(shortest_) {}
  std::chrono::microseconds next() {
    const std::chrono::microseconds wait = next_;
    next_ = std::min(next_ * 2, longest_);
    return wait;
  }
  void something_came() { next_ = shortest_; }

 private:
  std::chrono::microseconds shortest_;
  std::chrono::microseconds longest_;
  std::chrono::microseconds next_;
};

}  // namespace inferscale

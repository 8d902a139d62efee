// How much of the KV cache running answers are expected to take: SGLang's admission rule.
//
// Nobody knows how long an answer will be, only how long it may be. Of what the running sequences
// may still generate (each at most kClip tokens) a fraction is set aside, the ratio: it begins at
// kInitial, falls by kDecay with each decode step to kLowest, and after a retraction becomes what
// the survivors have used of their limits so far, with kMargin tokens more for each:
//
//   ratio = min(1, (sum of generated + kMargin n) / (sum of requested + 1))
//
// It begins anew when the replica is empty. Figures: SGLang's defaults in 2026, schedule
// conservativeness 1 (docs/schedulers/sglang.md).

#pragma once

#include <algorithm>
#include <cstdint>

#include "core/request.h"

namespace inferscale {

class ExpectedRoom {
 public:
  static constexpr TokenCount kClip = 4096;
  static constexpr TokenCount kMargin = 20;
  static constexpr double kInitial = 0.7;
  static constexpr double kLowest = 0.14 * kInitial;
  static constexpr double kDecay = (kInitial - kLowest) / 600;

  // The ratio when `step` decode steps have been taken since the start.
  double ratio(std::int64_t step) const {
    return std::max(kLowest, ratio_ - kDecay * static_cast<double>(step - since_));
  }
  void begin_anew(std::int64_t step) {
    ratio_ = kInitial;
    since_ = step;
  }
  void retracted(TokenCount generated, TokenCount requested, std::int64_t survivors,
                 std::int64_t step) {
    const double used = static_cast<double>(generated + kMargin * survivors);
    ratio_ = std::min(1.0, used / static_cast<double>(requested + 1));
    since_ = step;
  }

 private:
  double ratio_ = kInitial;
  std::int64_t since_ = 0;
};

}  // namespace inferscale

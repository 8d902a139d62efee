// The figures of each request, and one of them as a stream of values, in order of arrival.
//
// A run's outcomes are far more than a processor's cache holds, and to fetch them takes longer than
// to reckon with them: who wants several figures asks for them block by block.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/outcome.h"
#include "metrics/quantiles.h"

namespace inferscale {

enum class OutcomeFigure : std::uint8_t { kTtft, kE2e, kQueueTime, kTpot, kItlMax };

// In milliseconds, of a finished request.
inline double millis_of(double nanos) {
  return nanos * 1e-6;
}
inline double millis_of(Duration time) {
  return millis_of(static_cast<double>(time.ns()));
}
// TPOT and the longest stall need two tokens.
inline bool has_gaps(const Outcome& outcome) {
  return outcome.output_tokens >= 2;
}

inline constexpr std::size_t kOutcomeBlock = 64;  // 4 KB

// All figures of a block of outcomes: those of its finished requests that have them, in order.
class OutcomeBlock {
 public:
  // REQUIRES: at most kOutcomeBlock outcomes.
  void read(std::span<const Outcome> block);
  std::span<const double> operator[](OutcomeFigure figure) const {
    const std::size_t count = figure >= OutcomeFigure::kTpot ? with_gaps_ : finished_;
    return {values_[static_cast<std::size_t>(figure)].data(), count};
  }

 private:
  std::array<std::array<double, kOutcomeBlock>, 5> values_;  // by figure
  std::size_t finished_ = 0;
  std::size_t with_gaps_ = 0;
};

// Calls take(block) for the blocks of all outcomes, in order.
template <typename Take>
void for_each_block(std::span<const Outcome> outcomes, Take take) {
  while (!outcomes.empty()) {
    const std::size_t size = std::min(outcomes.size(), kOutcomeBlock);
    take(outcomes.first(size));
    outcomes = outcomes.subspan(size);
  }
}

// One figure of all outcomes.
class OutcomeFigures final : public ValueStream {
 public:
  OutcomeFigures(std::span<const Outcome> outcomes, OutcomeFigure figure)
      : outcomes_(outcomes), figure_(figure) {}
  std::size_t size_at_most() const override { return outcomes_.size(); }
  void restart() override { next_ = 0; }
  std::span<const double> next() override;

 private:
  std::span<const Outcome> outcomes_;
  OutcomeFigure figure_;
  std::size_t next_ = 0;
  OutcomeBlock block_;
};

}  // namespace inferscale

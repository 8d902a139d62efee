// One figure of each request as a stream of values, in order of arrival.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/outcome.h"
#include "metrics/quantiles.h"

namespace inferscale {

// Times in milliseconds, of the finished requests that have the figure: TPOT and the longest stall
// need two tokens.
class OutcomeFigures final : public ValueStream {
 public:
  enum class Figure : std::uint8_t { kTtft, kTpot, kE2e, kQueueTime, kItlMax };

  OutcomeFigures(std::span<const Outcome> outcomes, Figure figure)
      : outcomes_(outcomes), figure_(figure) {}
  std::size_t size_at_most() const override { return outcomes_.size(); }
  void restart() override { next_ = 0; }
  std::span<const double> next() override;

 private:
  template <typename NanosOf>
  std::span<const double> fill(std::uint32_t least_tokens, NanosOf nanos_of);

  std::span<const Outcome> outcomes_;
  Figure figure_;
  std::size_t next_ = 0;
  std::array<double, 512> buffer_{};
};

}  // namespace inferscale

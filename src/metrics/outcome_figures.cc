#include "metrics/outcome_figures.h"

namespace inferscale {

// One loop for each figure, so that nothing is chosen for each value.
template <typename NanosOf>
std::span<const double> OutcomeFigures::fill(std::uint32_t least_tokens, NanosOf nanos_of) {
  constexpr double kMillisPerNano = 1e-6;
  std::size_t filled = 0;
  auto outcome = outcomes_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto end = outcomes_.end();
  for (; filled < buffer_.size() && outcome != end; ++outcome) {
    if (!outcome->finished() || outcome->output_tokens < least_tokens) continue;
    buffer_[filled++] = nanos_of(*outcome) * kMillisPerNano;
  }
  next_ = static_cast<std::size_t>(outcome - outcomes_.begin());
  return {buffer_.data(), filled};
}

std::span<const double> OutcomeFigures::next() {
  const auto nanos = [](Duration time) { return static_cast<double>(time.ns()); };
  switch (figure_) {
    case Figure::kTtft:
      return fill(1, [&](const Outcome& outcome) { return nanos(outcome.ttft()); });
    case Figure::kTpot:
      return fill(2, [&](const Outcome& outcome) { return outcome.tpot_ns(); });
    case Figure::kE2e:
      return fill(1, [&](const Outcome& outcome) { return nanos(outcome.e2e()); });
    case Figure::kQueueTime:
      return fill(1, [&](const Outcome& outcome) { return nanos(outcome.queue_time()); });
    case Figure::kItlMax:
      return fill(2, [&](const Outcome& outcome) { return nanos(outcome.itl_max); });
  }
  return {};
}

}  // namespace inferscale

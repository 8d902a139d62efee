#include "metrics/outcome_figures.h"

namespace inferscale {
namespace {

double nanos_of(const Outcome& outcome, OutcomeFigures::Figure figure) {
  switch (figure) {
    case OutcomeFigures::Figure::kTtft:
      return static_cast<double>(outcome.ttft().ns());
    case OutcomeFigures::Figure::kTpot:
      return outcome.tpot_ns();
    case OutcomeFigures::Figure::kE2e:
      return static_cast<double>(outcome.e2e().ns());
    case OutcomeFigures::Figure::kQueueTime:
      return static_cast<double>(outcome.queue_time().ns());
    case OutcomeFigures::Figure::kItlMax:
      return static_cast<double>(outcome.itl_max.ns());
  }
  return 0;
}

}  // namespace

std::span<const double> OutcomeFigures::next() {
  constexpr double kMillisPerNano = 1e-6;
  const bool of_gaps = figure_ == Figure::kTpot || figure_ == Figure::kItlMax;
  const std::uint32_t least_tokens = of_gaps ? 2 : 1;
  std::size_t filled = 0;
  while (filled < buffer_.size() && next_ < outcomes_.size()) {
    const Outcome& outcome = outcomes_[next_++];
    if (!outcome.finished() || outcome.output_tokens < least_tokens) continue;
    buffer_[filled++] = nanos_of(outcome, figure_) * kMillisPerNano;
  }
  return {buffer_.data(), filled};
}

}  // namespace inferscale

#include "metrics/outcome_figures.h"

namespace inferscale {

void OutcomeBlock::read(std::span<const Outcome> block) {
  auto& [ttft, e2e, queue_time, tpot, itl_max] = values_;
  std::size_t finished = 0;
  std::size_t with_gaps = 0;
  for (const Outcome& outcome : block) {
    if (!outcome.finished()) continue;
    ttft[finished] = millis_of(outcome.ttft());
    e2e[finished] = millis_of(outcome.e2e());
    queue_time[finished] = millis_of(outcome.queue_time());
    ++finished;
    if (!has_gaps(outcome)) continue;
    tpot[with_gaps] = millis_of(outcome.tpot_ns());
    itl_max[with_gaps] = millis_of(outcome.itl_max);
    ++with_gaps;
  }
  finished_ = finished;
  with_gaps_ = with_gaps;
}

std::span<const double> OutcomeFigures::next() {
  while (next_ < outcomes_.size()) {
    const std::size_t size = std::min(outcomes_.size() - next_, kOutcomeBlock);
    block_.read(outcomes_.subspan(next_, size));
    next_ += size;
    if (!block_[figure_].empty()) return block_[figure_];
  }
  return {};
}

}  // namespace inferscale

#include "metrics/class_summary.h"

#include <algorithm>

#include "base/check.h"
#include "metrics/quantiles.h"

namespace inferscale {
namespace {

void count(const Outcome& outcome, ClassFigures& own, std::vector<double>& ttft_ms) {
  ++own.counted;
  if (outcome.status == OutcomeStatus::kRefused) ++own.refused;
  if (outcome.status == OutcomeStatus::kDeferred) ++own.deferred;
  if (outcome.status == OutcomeStatus::kAbandoned) ++own.abandoned;
  if (!outcome.finished()) return;
  ++own.finished;
  if (own.judged && slo_met(own.slo, outcome)) ++own.met;
  ttft_ms.push_back(outcome.ttft().millis());
}

}  // namespace

std::vector<ClassFigures> summarize_classes(std::span<const Outcome> outcomes,
                                            const RequestClasses& classes,
                                            std::size_t first_counted) {
  if (!classes.exist()) return {};
  CHECK(classes.of.size() >= outcomes.size()) << "requests without a class";
  const bool judged = classes.any({});
  std::vector<ClassFigures> all;
  for (const SloClass& each : classes.classes) {
    all.push_back(
        {.name = each.name, .slo = each.slo, .priority = each.priority, .judged = judged});
  }
  std::vector<std::vector<double>> ttft_ms(all.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::uint8_t index = classes.of[i];
    ++all[index].arrived;
    if (i >= first_counted) count(outcomes[i], all[index], ttft_ms[index]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].finished == 0) continue;
    const auto rank = ttft_ms[i].begin() + (nearest_rank_of(0.95, all[i].finished) - 1);
    std::nth_element(ttft_ms[i].begin(), rank, ttft_ms[i].end());
    all[i].ttft_p95_ms = *rank;
  }
  return all;
}

}  // namespace inferscale

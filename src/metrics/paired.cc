#include "metrics/paired.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace inferscale {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2;
  const std::size_t lower = (values.size() - 1) / 2;
  return lower == upper ? values[upper] : 0.5 * (values[lower] + values[upper]);
}

}  // namespace

std::vector<double> paired_deltas(std::span<const double> baseline,
                                  std::span<const double> treatment) {
  CHECK(baseline.size() == treatment.size()) << baseline.size() << " and " << treatment.size();
  std::vector<double> deltas;
  deltas.reserve(baseline.size());
  for (std::size_t i = 0; i < baseline.size(); ++i) deltas.push_back(treatment[i] - baseline[i]);
  return deltas;
}

PairedComparison compare_pairs(std::span<const double> baseline,
                               std::span<const double> treatment) {
  const std::vector<double> deltas = paired_deltas(baseline, treatment);
  PairedComparison compared{.pairs = static_cast<std::int64_t>(deltas.size())};
  if (deltas.empty()) return compared;
  compared.baseline_mean = mean_of(baseline);
  compared.treatment_mean = mean_of(treatment);
  compared.delta_mean = mean_of(deltas);
  compared.delta_median = median_of(deltas);
  double relative = 0;
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    if (deltas[i] > 0) ++compared.higher;
    if (deltas[i] < 0) ++compared.lower;
    if (deltas[i] == 0) ++compared.equal;
    if (baseline[i] == 0) continue;
    relative += deltas[i] / std::fabs(baseline[i]);
    ++compared.relative_pairs;
  }
  if (compared.relative_pairs > 0) {
    compared.relative_change_mean = relative / static_cast<double>(compared.relative_pairs);
  }
  return compared;
}

}  // namespace inferscale

#include "metrics/quantiles.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace inferscale {

std::int64_t nearest_rank_of(double q, std::int64_t n) {
  CHECK(n >= 1 && q > 0 && q <= 1) << "quantile " << q << " of " << n << " values";
  // 0.95 x 100 is a little more than 95 in binary: a rank is not raised for the last bits.
  const double exact = q * static_cast<double>(n);
  const double down = std::floor(exact);
  const double rank = exact - down > 1e-9 * exact ? down + 1 : down;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(rank), 1, n);
}

double nearest_rank(std::span<const double> sorted, double q) {
  return sorted[static_cast<size_t>(nearest_rank_of(q, std::ssize(sorted)) - 1)];
}

PopulationSummary summarize(std::vector<double>& values) {
  PopulationSummary summary;
  summary.count = std::ssize(values);
  if (values.empty()) return summary;
  double sum = 0;
  double max = values.front();
  for (const double value : values) {
    sum += value;
    max = std::max(max, value);
  }
  summary.mean = sum / static_cast<double>(summary.count);
  summary.max = max;
  // Each selection leaves the larger values to its right, so the next one looks only there.
  auto begin = values.begin();
  const auto select = [&](double q) {
    const auto place = values.begin() + (nearest_rank_of(q, summary.count) - 1);
    if (place >= begin) {
      std::nth_element(begin, place, values.end());
      begin = place;
    }
    return *place;
  };
  summary.p50 = select(0.50);
  summary.p90 = select(0.90);
  summary.p95 = select(0.95);
  summary.p99 = select(0.99);
  return summary;
}

}  // namespace inferscale

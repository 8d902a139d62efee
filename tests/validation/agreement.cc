#include "validation/agreement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace inferscale {

double kendall_tau(std::span<const double> left, std::span<const double> right) {
  CHECK(left.size() == right.size()) << left.size() << " rows against " << right.size();
  std::int64_t same = 0;
  std::int64_t opposite = 0;
  for (std::size_t j = 1; j < left.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const double product = (left[j] - left[i]) * (right[j] - right[i]);
      if (product > 0) ++same;
      if (product < 0) ++opposite;
    }
  }
  CHECK(same + opposite > 0) << "every pair is a tie";
  return static_cast<double>(same - opposite) / static_cast<double>(same + opposite);
}

std::int64_t inversions(std::span<const double> times) {
  std::int64_t count = 0;
  for (std::size_t j = 1; j < times.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) count += times[i] > times[j] ? 1 : 0;
  }
  return count;
}

Errors errors_of(std::span<const double> ours, std::span<const double> theirs) {
  CHECK(ours.size() == theirs.size() && !ours.empty())
      << ours.size() << " values against " << theirs.size();
  std::vector<double> absolute(ours.size());
  Errors errors;
  const auto count = static_cast<double>(ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double difference = ours[i] - theirs[i];
    absolute[i] = std::abs(difference);
    errors.mean += difference / count;
    errors.mean_absolute += absolute[i] / count;
    errors.root_mean_square += difference * difference / count;
  }
  errors.root_mean_square = std::sqrt(errors.root_mean_square);
  std::ranges::sort(absolute);
  const auto rank = static_cast<std::size_t>(std::ceil(0.95 * count));
  errors.p95_absolute = absolute[rank - 1];
  return errors;
}

double mean_of(std::span<const double> values) {
  CHECK(!values.empty()) << "the mean of nothing";
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace inferscale

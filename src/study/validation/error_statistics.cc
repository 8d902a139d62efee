#include "study/validation/error_statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace inferscale {

constexpr double kQuarter = 0.25;

ErrorStatistics error_statistics(std::span<const double> relative_errors) {
  CHECK(!relative_errors.empty()) << "no error, no statistics";
  std::vector<double> absolute;
  ErrorStatistics result;
  double sum = 0;
  double signed_sum = 0;
  for (const double error : relative_errors) {
    absolute.push_back(std::fabs(error));
    sum += std::fabs(error);
    signed_sum += error;
    if (std::fabs(error) <= kQuarter) ++result.within_quarter;
  }
  std::sort(absolute.begin(), absolute.end());
  const std::size_t n = absolute.size();
  result.n = static_cast<std::int64_t>(n);
  result.mape = sum / static_cast<double>(n);
  result.bias = signed_sum / static_cast<double>(n);
  result.median_ape = (absolute[(n - 1) / 2] + absolute[n / 2]) / 2;
  result.max_ape = absolute.back();
  return result;
}

}  // namespace inferscale

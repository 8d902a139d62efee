#include "metrics/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "metrics/normal.h"
#include "metrics/quantiles.h"
#include "metrics/student.h"

namespace inferscale {

BootstrapMeans::BootstrapMeans(std::span<const double> values, std::int64_t resamples,
                               RandomStream stream)
    : values_(static_cast<std::int64_t>(values.size())) {
  CHECK(!values.empty() && resamples >= 1) << resamples << " resamples of " << values.size();
  means_.reserve(static_cast<std::size_t>(resamples));
  const auto count = static_cast<double>(values.size());
  for (std::int64_t i = 0; i < resamples; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < values.size(); ++k) sum += values[stream.below(values.size())];
    means_.push_back(sum / count);
  }
  std::sort(means_.begin(), means_.end());
}

MeanInterval BootstrapMeans::between(double tail) const {
  const auto resamples = static_cast<std::int64_t>(means_.size());
  const auto rank = static_cast<std::size_t>(nearest_rank_of(tail, resamples));
  // The same rank from either end, so that to swap what is compared mirrors the interval.
  return {.low = means_[rank - 1], .high = means_[means_.size() - rank]};
}

MeanInterval BootstrapMeans::percentile(double confidence) const {
  CHECK(confidence > 0 && confidence < 1) << "confidence " << confidence;
  return between(0.5 * (1 - confidence));
}

std::optional<MeanInterval> BootstrapMeans::expanded(double confidence) const {
  CHECK(confidence > 0 && confidence < 1) << "confidence " << confidence;
  if (values_ < 2) return std::nullopt;
  const auto n = static_cast<double>(values_);
  const double t = student_two_sided(confidence, static_cast<int>(values_ - 1));
  const double tail = normal_above(t * std::sqrt(n / (n - 1)));
  double least = 1;
  for (std::int64_t i = 0; i < values_ && least > tail; ++i) least /= n;
  if (least > tail) return std::nullopt;
  return between(tail);
}

}  // namespace inferscale

#include "metrics/warmup.h"

#include <vector>

namespace inferscale {
namespace {

constexpr std::size_t kBatch = 5;
constexpr std::size_t kLeastBatches = 10;

std::vector<double> batch_means(ValueStream& values) {
  std::vector<double> means;
  means.reserve(values.size_at_most() / kBatch);
  double sum = 0;
  std::size_t in_batch = 0;
  values.restart();
  for (auto chunk = values.next(); !chunk.empty(); chunk = values.next()) {
    for (const double value : chunk) {
      sum += value;
      if (++in_batch < kBatch) continue;
      means.push_back(sum / kBatch);
      sum = 0;
      in_batch = 0;
    }
  }
  return means;
}

}  // namespace

std::optional<std::size_t> mser5(ValueStream& values) {
  const std::vector<double> y = batch_means(values);
  if (y.size() < kLeastBatches) return std::nullopt;
  // From the end, so that each sum is the one before with one mean more (Welford's update).
  double mean = 0;
  double squares = 0;
  double kept = 0;
  double least = 0;
  std::size_t cut = y.size();
  for (std::size_t d = y.size(); d-- > 0;) {
    kept += 1;
    const double off = y[d] - mean;
    mean += off / kept;
    squares += off * (y[d] - mean);
    // A few means at the very end are alike by chance.
    if (kept < kBatch) continue;
    const double mser = squares / (kept * kept);
    if (cut < y.size() && mser > least) continue;
    least = mser;
    cut = d;
  }
  if (cut > y.size() / 2) return std::nullopt;
  return cut * kBatch;
}

}  // namespace inferscale

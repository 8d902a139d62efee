// Quantiles and means of a population: the one implementation of a percentile in the project.
//
// A percentile is the nearest-rank one: of n values the p-quantile is the value of rank ceil(p n)
// (Hyndman and Fan 1996, definition 1): a value that occurred, never an interpolation.
//
// Populations are large and derived from records that are kept already, so they are read as a
// stream, twice in most cases, and not copied: the first reading counts values by their leading
// bits, the second collects those that share the leading bits of a wanted quantile. Only if very
// many do (nearly equal values) are all their bits looked at, in further readings.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace inferscale {

// What is reported of a population; all zero when count is 0.
struct PopulationSummary {
  std::int64_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

// Values that can be read again and again, always the same in the same order.
class ValueStream {
 public:
  virtual ~ValueStream() = default;
  virtual std::size_t size_at_most() const = 0;
  virtual void restart() = 0;
  // The next few values, at least 0 and finite; empty at the end.
  virtual std::span<const double> next() = 0;
};

// The rank, from 1, of the q-quantile of n values. REQUIRES: n >= 1, 0 < q <= 1.
std::int64_t nearest_rank_of(double q, std::int64_t n);

// The q-quantile of values sorted in ascending order. REQUIRES: not empty, 0 < q <= 1.
double nearest_rank(std::span<const double> sorted, double q);

// Cost: linear in the number of values; memory for at most a sixteenth of them for each quantile.
PopulationSummary summarize(ValueStream& values);

}  // namespace inferscale

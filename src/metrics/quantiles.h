// Quantiles and means of a population: the one implementation of a percentile in the project.
//
// A percentile is the nearest-rank one: of n values the p-quantile is the value of rank ceil(p n)
// (Hyndman and Fan 1996, definition 1): a value that occurred, never an interpolation.
//
// Populations are large and derived from records that are kept already, so they are read as a
// stream, twice in most cases, and not copied: the first reading counts values by their leading
// bits, the second collects those that share the leading bits of a wanted quantile. Only if very
// many do (nearly equal values) are all their bits looked at, in further readings. Where several
// populations come from the same records, a Selection for each lets them share the two readings.

#pragma once

#include <array>
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

// The figures of one population from two readings of it, in pieces of any size.
//
//   count() all of it -> end_count() -> collect() all of it again, if it wants_more() -> summary()
class Selection {
 public:
  void count(std::span<const double> values);
  // `values` is the population again, for quantiles among too many nearly equal values.
  void end_count(ValueStream& values);
  bool wants_more() const { return wants_more_; }
  void collect(std::span<const double> values);
  PopulationSummary summary();

 private:
  static constexpr std::array kQuantiles = {0.50, 0.90, 0.95, 0.99};

  // The search for one quantile. Of the values with this leading part it is the one of rank `rank`,
  // from 1; when they are too many to collect, all bits of the value are found instead, in digits:
  // the bits of values at least 0 are in the order of the values.
  struct Search {
    std::int64_t rank = 0;
    std::size_t leading = 0;
    bool bits_known = false;
    std::uint64_t bits = 0;
    std::vector<double> collected;
  };

  void keep(std::span<const double> values);
  void select_from_copy(PopulationSummary& summary);
  static void find_bits(ValueStream& values, Search& search);
  static double answer(Search& search);

  std::vector<double> few_;              // all values, until they are too many to keep
  std::vector<std::uint32_t> counts_;    // by leading part, from then on
  std::vector<std::uint8_t> is_wanted_;  // by leading part: values are collected
  std::array<Search, kQuantiles.size()> searches_;
  bool wants_more_ = false;
  std::int64_t count_ = 0;
  double sum_ = 0;
  double max_ = 0;
};

// Cost: linear in the number of values; memory for at most a sixteenth of them for each quantile.
PopulationSummary summarize(ValueStream& values);

}  // namespace inferscale

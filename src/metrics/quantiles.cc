#include "metrics/quantiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::array kQuantiles = {0.50, 0.90, 0.95, 0.99};

constexpr std::int64_t kFewValues = 4096;  // are always collected
constexpr std::size_t kCopiedUpTo = 20'000;

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value + 0.0);
}

// The leading part of a value: its exponent and 8 bits of its fraction, after so little is added
// that small values share exponents. Never falls as the value grows, and is less than kLeading.
constexpr double kSmall = 0x1p-10;
constexpr std::size_t kLeading = 64 << 8;
std::size_t leading_of(double value) {
  constexpr std::uint64_t kLowest = std::bit_cast<std::uint64_t>(kSmall) >> 44;
  const std::uint64_t leading = (bits_of(value + kSmall) >> 44) - kLowest;
  return std::min<std::size_t>(leading, kLeading - 1);
}

// The search for one quantile. Of the values with this leading part it is the one of rank `rank`,
// from 1; when they are too many to collect, all bits of the value are found instead, in digits:
// the bits of values at least 0 are in the order of the values.
struct Search {
  std::int64_t rank = 0;
  std::size_t leading = 0;
  std::int64_t candidates = 0;
  bool bits_known = false;
  std::uint64_t bits = 0;
  std::vector<double> collected;
};

class Selection {
 public:
  explicit Selection(ValueStream& values) : values_(values) {}
  PopulationSummary run();

 private:
  static constexpr int kDigitBits = 16;

  void count_leading(PopulationSummary& summary);
  void find_bits(Search& search);
  void collect();
  static double answer(Search& search);

  ValueStream& values_;
  std::vector<std::uint32_t> counts_;
  std::array<Search, kQuantiles.size()> searches_;
};

// The index at which `rank`, reduced by the counts before it, lies.
std::size_t place_of(std::int64_t& rank, const std::vector<std::uint32_t>& counts) {
  std::size_t place = 0;
  while (rank > counts[place]) rank -= counts[place++];
  return place;
}

void Selection::count_leading(PopulationSummary& summary) {
  counts_.assign(kLeading, 0);
  double sum = 0;
  values_.restart();
  for (auto chunk = values_.next(); !chunk.empty(); chunk = values_.next()) {
    for (const double value : chunk) {
      sum += value;
      summary.max = std::max(summary.max, value);
      ++counts_[leading_of(value)];
    }
    summary.count += std::ssize(chunk);
  }
  if (summary.count > 0) summary.mean = sum / static_cast<double>(summary.count);
}

void Selection::find_bits(Search& search) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kDigitBits) - 1;
  for (int shift = 64 - kDigitBits; shift >= 0; shift -= kDigitBits) {
    counts_.assign(kMask + 1, 0);
    values_.restart();
    for (auto chunk = values_.next(); !chunk.empty(); chunk = values_.next()) {
      for (const double value : chunk) {
        const std::uint64_t digits = bits_of(value) >> shift;
        const bool same_before = digits >> kDigitBits == search.bits;
        if (same_before && leading_of(value) == search.leading) ++counts_[digits & kMask];
      }
    }
    search.bits = search.bits << kDigitBits | place_of(search.rank, counts_);
  }
  search.bits_known = true;
}

void Selection::collect() {
  // Few values share the leading bits of a quantile; the others are passed over at one look.
  std::vector<std::uint8_t> is_wanted(kLeading, 0);
  for (const Search& search : searches_) is_wanted[search.leading] |= search.bits_known ? 0 : 1;
  values_.restart();
  for (auto chunk = values_.next(); !chunk.empty(); chunk = values_.next()) {
    for (const double value : chunk) {
      const std::size_t leading = leading_of(value);
      if (is_wanted[leading] == 0) continue;
      for (Search& search : searches_) {
        if (search.leading == leading && !search.bits_known) search.collected.push_back(value);
      }
    }
  }
}

double Selection::answer(Search& search) {
  if (search.bits_known) return std::bit_cast<double>(search.bits);
  const auto place = search.collected.begin() + (search.rank - 1);
  std::nth_element(search.collected.begin(), place, search.collected.end());
  return *place;
}

PopulationSummary Selection::run() {
  PopulationSummary summary;
  count_leading(summary);
  if (summary.count == 0) return summary;
  const std::int64_t few = std::max(kFewValues, summary.count / 16);
  for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
    Search& search = searches_[i];
    search.rank = nearest_rank_of(kQuantiles[i], summary.count);
    search.leading = place_of(search.rank, counts_);
    search.candidates = counts_[search.leading];
  }
  bool any_to_collect = false;
  for (Search& search : searches_) {
    if (search.candidates > few) find_bits(search);
    any_to_collect |= !search.bits_known;
  }
  if (any_to_collect) collect();
  summary.p50 = answer(searches_[0]);
  summary.p90 = answer(searches_[1]);
  summary.p95 = answer(searches_[2]);
  summary.p99 = answer(searches_[3]);
  return summary;
}

PopulationSummary summary_of_copy(std::vector<double>& values) {
  PopulationSummary summary{.count = std::ssize(values)};
  if (values.empty()) return summary;
  double sum = 0;
  for (const double value : values) {
    sum += value;
    summary.max = std::max(summary.max, value);
  }
  summary.mean = sum / static_cast<double>(values.size());
  // Each selection leaves the larger values to its right, so the next one looks only there.
  auto begin = values.begin();
  const auto select = [&](double q) {
    const auto place = values.begin() + (nearest_rank_of(q, summary.count) - 1);
    if (place >= begin) std::nth_element(begin, place, values.end());
    begin = std::max(begin, place);
    return *place;
  };
  summary.p50 = select(kQuantiles[0]);
  summary.p90 = select(kQuantiles[1]);
  summary.p95 = select(kQuantiles[2]);
  summary.p99 = select(kQuantiles[3]);
  return summary;
}

}  // namespace

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

PopulationSummary summarize(ValueStream& values) {
  if (values.size_at_most() > kCopiedUpTo) return Selection(values).run();
  // Few values are cheaper to copy than to count.
  std::vector<double> few;
  few.reserve(values.size_at_most());
  values.restart();
  for (auto chunk = values.next(); !chunk.empty(); chunk = values.next()) {
    few.insert(few.end(), chunk.begin(), chunk.end());
  }
  return summary_of_copy(few);
}

}  // namespace inferscale

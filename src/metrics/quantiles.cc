#include "metrics/quantiles.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::int64_t kFewValues = 4096;  // cheaper to copy than to count

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value + 0.0);
}

// The leading part of a value: its exponent and 8 bits of its fraction, after so little is added
// that small values share exponents. Never falls as the value grows, and is less than kLeading.
constexpr double kSmall = 0x1p-10;
constexpr std::size_t kLeading = 64 << 8;
std::size_t leading_of(double value) {
  constexpr std::uint64_t kLowest = std::bit_cast<std::uint64_t>(kSmall) >> 44;
  const std::uint64_t leading = (std::bit_cast<std::uint64_t>(value + kSmall) >> 44) - kLowest;
  return std::min<std::size_t>(leading, kLeading - 1);
}

// The index at which `rank`, reduced by the counts before it, lies.
std::size_t place_of(std::int64_t& rank, const std::vector<std::uint32_t>& counts) {
  std::size_t place = 0;
  while (rank > counts[place]) rank -= counts[place++];
  return place;
}

}  // namespace

void Selection::count(std::span<const double> values) {
  count_ += std::ssize(values);
  double sum = sum_;
  double largest = max_;
  if (counts_.empty()) {
    for (const double value : values) {
      sum += value;
      largest = std::max(largest, value);
    }
    keep(values);
  } else {
    std::uint32_t* const counts = counts_.data();
    for (const double value : values) {
      sum += value;
      largest = std::max(largest, value);
      ++counts[leading_of(value)];
    }
  }
  sum_ = sum;
  max_ = largest;
}

// Keeps them beside the others; once they are too many all are counted.
void Selection::keep(std::span<const double> values) {
  few_.insert(few_.end(), values.begin(), values.end());
  if (count_ <= kFewValues) return;
  counts_.assign(kLeading, 0);
  for (const double value : few_) ++counts_[leading_of(value)];
  few_ = {};
}

void Selection::end_count(ValueStream& values) {
  if (counts_.empty()) return;
  const std::int64_t few = std::max(kFewValues, count_ / 16);
  is_wanted_.assign(kLeading, 0);
  for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
    Search& search = searches_[i];
    search.rank = nearest_rank_of(kQuantiles[i], count_);
    search.leading = place_of(search.rank, counts_);
    if (counts_[search.leading] > few) {
      find_bits(values, search);
    } else {
      is_wanted_[search.leading] = 1;
      wants_more_ = true;
    }
  }
}

void Selection::find_bits(ValueStream& values, Search& search) {
  constexpr int kDigitBits = 16;
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kDigitBits) - 1;
  std::vector<std::uint32_t> counts;
  for (int shift = 64 - kDigitBits; shift >= 0; shift -= kDigitBits) {
    counts.assign(kMask + 1, 0);
    values.restart();
    for (auto chunk = values.next(); !chunk.empty(); chunk = values.next()) {
      for (const double value : chunk) {
        const std::uint64_t digits = bits_of(value) >> shift;
        const bool same_before = digits >> kDigitBits == search.bits;
        if (same_before && leading_of(value) == search.leading) ++counts[digits & kMask];
      }
    }
    search.bits = search.bits << kDigitBits | place_of(search.rank, counts);
  }
  search.bits_known = true;
}

// Few values share the leading bits of a quantile; the others are passed over at one look.
void Selection::collect(std::span<const double> values) {
  const std::uint8_t* const is_wanted = is_wanted_.data();
  for (const double value : values) {
    const std::size_t leading = leading_of(value);
    if (is_wanted[leading] == 0) continue;
    for (Search& search : searches_) {
      if (search.leading == leading && !search.bits_known) search.collected.push_back(value);
    }
  }
}

double Selection::answer(Search& search) {
  if (search.bits_known) return std::bit_cast<double>(search.bits);
  const auto place = search.collected.begin() + (search.rank - 1);
  std::nth_element(search.collected.begin(), place, search.collected.end());
  return *place;
}

// Each selection leaves the larger values to its right, so the next one looks only there.
void Selection::select_from_copy(PopulationSummary& summary) {
  auto begin = few_.begin();
  const auto select = [&](double q) {
    const auto place = few_.begin() + (nearest_rank_of(q, count_) - 1);
    if (place >= begin) std::nth_element(begin, place, few_.end());
    begin = std::max(begin, place);
    return *place;
  };
  summary.p50 = select(kQuantiles[0]);
  summary.p90 = select(kQuantiles[1]);
  summary.p95 = select(kQuantiles[2]);
  summary.p99 = select(kQuantiles[3]);
}

PopulationSummary Selection::summary() {
  PopulationSummary summary{.count = count_, .max = max_};
  if (count_ == 0) return summary;
  summary.mean = sum_ / static_cast<double>(count_);
  if (counts_.empty()) {
    select_from_copy(summary);
    return summary;
  }
  summary.p50 = answer(searches_[0]);
  summary.p90 = answer(searches_[1]);
  summary.p95 = answer(searches_[2]);
  summary.p99 = answer(searches_[3]);
  return summary;
}

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
  Selection selection;
  values.restart();
  for (auto chunk = values.next(); !chunk.empty(); chunk = values.next()) selection.count(chunk);
  selection.end_count(values);
  if (selection.wants_more()) {
    values.restart();
    for (auto chunk = values.next(); !chunk.empty(); chunk = values.next()) {
      selection.collect(chunk);
    }
  }
  return selection.summary();
}

}  // namespace inferscale

#include "metrics/quantiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::array kQuantiles = {0.50, 0.90, 0.95, 0.99};

// A value's bits order values at least 0 as numbers do. They are looked at in four digits; the
// first one holds the exponent and 8 bits of the fraction.
struct Digit {
  int shift;
  int bits;
};
constexpr std::array kDigits = {Digit{44, 20}, Digit{29, 15}, Digit{14, 15}, Digit{0, 14}};
constexpr std::int64_t kFewValues = 4096;  // are always collected
constexpr std::size_t kCopiedUpTo = 20'000;

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value + 0.0);
}

// The search for one quantile: of the values that begin with `prefix` (down to the last digit that
// was counted) it is the one of rank `rank`, from 1.
struct Search {
  std::int64_t rank = 0;
  std::uint64_t prefix = 0;
  std::int64_t candidates = 0;
  std::vector<double> collected;
};

class Selection {
 public:
  explicit Selection(ValueStream& values) : values_(values) {}
  PopulationSummary run();

 private:
  void count_first_digit(PopulationSummary& summary);
  // Counts the next digit of the candidates of `search`, and narrows it down to one.
  void narrow(Search& search, std::size_t digit);
  void choose(Search& search, std::size_t digit, std::uint64_t above);
  void collect();
  double answer(const Search& search) const;

  ValueStream& values_;
  std::vector<std::uint32_t> counts_;
  std::array<Search, kQuantiles.size()> searches_;
};

void Selection::count_first_digit(PopulationSummary& summary) {
  counts_.assign(std::size_t{1} << kDigits[0].bits, 0);
  double sum = 0;
  values_.restart();
  for (auto chunk = values_.next(); !chunk.empty(); chunk = values_.next()) {
    for (const double value : chunk) {
      sum += value;
      summary.max = std::max(summary.max, value);
      ++counts_[bits_of(value) >> kDigits[0].shift];
    }
    summary.count += std::ssize(chunk);
  }
  if (summary.count > 0) summary.mean = sum / static_cast<double>(summary.count);
}

// Finds the digit below which `rank` candidates lie; `above` is the prefix before this digit.
void Selection::choose(Search& search, std::size_t digit, std::uint64_t above) {
  std::uint64_t chosen = 0;
  while (search.rank > counts_[chosen]) search.rank -= counts_[chosen++];
  search.candidates = counts_[chosen];
  search.prefix = above << kDigits[digit].bits | chosen;
}

void Selection::narrow(Search& search, std::size_t digit) {
  const int above_shift = kDigits[digit].shift + kDigits[digit].bits;
  const std::uint64_t mask = (std::uint64_t{1} << kDigits[digit].bits) - 1;
  counts_.assign(mask + 1, 0);
  values_.restart();
  for (auto chunk = values_.next(); !chunk.empty(); chunk = values_.next()) {
    for (const double value : chunk) {
      const std::uint64_t bits = bits_of(value);
      if (bits >> above_shift == search.prefix) ++counts_[bits >> kDigits[digit].shift & mask];
    }
  }
  choose(search, digit, search.prefix);
}

void Selection::collect() {
  values_.restart();
  for (auto chunk = values_.next(); !chunk.empty(); chunk = values_.next()) {
    for (const double value : chunk) {
      const std::uint64_t leading = bits_of(value) >> kDigits[0].shift;
      for (Search& search : searches_) {
        if (search.prefix == leading) search.collected.push_back(value);
      }
    }
  }
}

double Selection::answer(const Search& search) const {
  // Either the value itself is known by all its bits, or its candidates were collected.
  if (search.collected.empty()) return std::bit_cast<double>(search.prefix);
  std::vector<double> candidates = search.collected;
  const auto place = candidates.begin() + (search.rank - 1);
  std::nth_element(candidates.begin(), place, candidates.end());
  return *place;
}

PopulationSummary Selection::run() {
  PopulationSummary summary;
  count_first_digit(summary);
  if (summary.count == 0) return summary;
  const std::int64_t few = std::max(kFewValues, summary.count / 16);
  bool any_few = false;
  for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
    searches_[i].rank = nearest_rank_of(kQuantiles[i], summary.count);
    choose(searches_[i], 0, 0);
    any_few |= searches_[i].candidates <= few;
  }
  // Those with many candidates first: narrowing leaves prefixes that no collection can match.
  for (Search& search : searches_) {
    if (search.candidates <= few) continue;
    for (std::size_t digit = 1; digit < kDigits.size(); ++digit) narrow(search, digit);
  }
  if (any_few) collect();
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

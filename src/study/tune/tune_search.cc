#include "study/tune/tune_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::size_t kLeastGrid = 3;  // values of a dimension: both ends and one between
constexpr double kGolden = 0.6180339887498949;
constexpr int kSectionsInARow = 4;        // of one parameter, before the next one's turn
constexpr double kNarrowest = 1.0 / 256;  // of a bracket, as a part of the range

std::int64_t power(std::int64_t base, std::size_t exponent) {
  std::int64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

// Where in the ranges, each dimension from 0 to 1.
using Parts = std::vector<double>;

class Search {
 public:
  Search(std::span<const TuneDimension> dimensions, std::int64_t most, const TuneScorer& scorer)
      : dimensions_(dimensions), most_(most), scorer_(scorer) {}

  Result<TuneSearch> run();

 private:
  std::int64_t left() const { return most_ - std::ssize(found_.trials); }
  std::vector<double> values_of(const Parts& parts) const;
  std::optional<std::size_t> trial_of(const std::vector<double>& values) const;
  // Of values that were tried.
  double score_at(const Parts& parts) const;
  // Tries those that are new, as long as any may be.
  Result<void> attempt(const std::vector<Parts>& places);
  Result<void> grid();
  Result<void> sections(std::size_t dimension);
  // All whole numbers of a short bracket.
  Result<void> each_whole(std::size_t dimension, double low, double high);

  std::span<const TuneDimension> dimensions_;
  std::int64_t most_;
  const TuneScorer& scorer_;
  TuneSearch found_;
  std::vector<Parts> parts_;   // of the trials
  std::vector<double> reach_;  // half of each dimension's bracket
};

std::vector<double> Search::values_of(const Parts& parts) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    values.push_back(dimensions_[i].value_at(parts[i]));
  }
  return values;
}

std::optional<std::size_t> Search::trial_of(const std::vector<double>& values) const {
  for (std::size_t i = 0; i < found_.trials.size(); ++i) {
    if (found_.trials[i].values == values) return i;
  }
  return std::nullopt;
}

double Search::score_at(const Parts& parts) const {
  const std::optional<std::size_t> trial = trial_of(values_of(parts));
  constexpr double kWorst = -std::numeric_limits<double>::infinity();
  return trial ? found_.trials[*trial].score.value_or(kWorst) : kWorst;
}

Result<void> Search::attempt(const std::vector<Parts>& places) {
  std::vector<std::vector<double>> fresh;
  std::vector<Parts> parts;
  for (const Parts& place : places) {
    std::vector<double> values = values_of(place);
    const bool again = std::ranges::find(fresh, values) != fresh.end();
    if (again || trial_of(values) || std::ssize(fresh) == left()) continue;
    fresh.push_back(std::move(values));
    parts.push_back(place);
  }
  if (fresh.empty()) return {};
  const Result<std::vector<std::optional<double>>> scores = scorer_(fresh);
  if (!scores) return std::unexpected(scores.error());
  CHECK(scores->size() == fresh.size()) << "a score for each candidate";
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const std::optional<double>& score = (*scores)[i];
    found_.trials.push_back({fresh[i], score});
    parts_.push_back(parts[i]);
    const bool better = score && (!found_.best || *score > *found_.trials[*found_.best].score);
    if (better) found_.best = found_.trials.size() - 1;
  }
  return {};
}

Result<void> Search::grid() {
  const std::size_t count = dimensions_.size();
  std::int64_t each = kLeastGrid;
  while (power(each + 1, count) <= most_ / 2) ++each;
  std::vector<Parts> places;
  for (std::int64_t i = 0; i < power(each, count); ++i) {
    Parts parts;
    std::int64_t rest = i;
    for (std::size_t k = 0; k < count; ++k) {
      parts.push_back(static_cast<double>(rest % each) / static_cast<double>(each - 1));
      rest /= each;
    }
    places.push_back(std::move(parts));
  }
  reach_.assign(count, 1 / static_cast<double>(each - 1));
  return attempt(places);
}

Result<void> Search::each_whole(std::size_t dimension, double low, double high) {
  constexpr int kSteps = 16;
  std::vector<Parts> places;
  for (int i = 0; i <= kSteps; ++i) {
    Parts parts = parts_[*found_.best];
    parts[dimension] = low + (high - low) * i / kSteps;
    places.push_back(std::move(parts));
  }
  return attempt(places);
}

Result<void> Search::sections(std::size_t dimension) {
  const Parts center = parts_[*found_.best];
  const auto at = [&](double part) {
    Parts parts = center;
    parts[dimension] = part;
    return parts;
  };
  double low = std::max(0.0, center[dimension] - reach_[dimension]);
  double high = std::min(1.0, center[dimension] + reach_[dimension]);
  for (int i = 0; i < kSectionsInARow && left() > 0; ++i) {
    const TuneDimension& one = dimensions_[dimension];
    if (one.whole && one.value_at(high) - one.value_at(low) <= 3) {
      reach_[dimension] = 0;
      return each_whole(dimension, low, high);
    }
    const double first = high - kGolden * (high - low);
    const double second = low + kGolden * (high - low);
    if (const Result<void> tried = attempt({at(first), at(second)}); !tried) return tried;
    const double lower = score_at(at(first));
    const double upper = score_at(at(second));
    // Of equals, the side where the best one lies.
    const double best = parts_[*found_.best][dimension];
    const bool keeps_lower = lower != upper ? lower > upper : best <= (low + high) / 2;
    (keeps_lower ? high : low) = keeps_lower ? second : first;
  }
  reach_[dimension] = (high - low) / 2;
  if (high - low < kNarrowest) reach_[dimension] = 0;
  return {};
}

Result<TuneSearch> Search::run() {
  if (const Result<void> done = grid(); !done) return std::unexpected(done.error());
  const auto open = [](double reach) { return reach > 0; };
  while (found_.best && left() > 0 && std::ranges::any_of(reach_, open)) {
    for (std::size_t k = 0; k < dimensions_.size() && left() > 0; ++k) {
      if (!open(reach_[k])) continue;
      if (const Result<void> done = sections(k); !done) return std::unexpected(done.error());
    }
  }
  return std::move(found_);
}

}  // namespace

std::int64_t least_trials(std::size_t dimensions) {
  return power(kLeastGrid, dimensions);
}

Result<TuneSearch> search_parameters(std::span<const TuneDimension> dimensions,
                                     std::int64_t most_trials, const TuneScorer& scorer) {
  CHECK(!dimensions.empty()) << "nothing to search";
  CHECK(most_trials >= least_trials(dimensions.size())) << "too few tries for a grid";
  return Search(dimensions, most_trials, scorer).run();
}

}  // namespace inferscale

// `study.tune`: which parameters of an admission policy are searched, at which loads, and how much
// the search may try.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/config_reader.h"

namespace inferscale {

// Fresh seeds begin so far above those of the search.
constexpr std::uint64_t kFreshSeeds = 1'000'000;

// Where one parameter is searched.
struct TuneRange {
  std::string key;  // of admission.parameters
  double min = 0;
  double max = 1;
  bool logarithmic = false;
};

struct TuneOptions {
  std::vector<double> load_factors = {0.5, 1, 1.5, 2};
  std::optional<double> capacity_rps;  // the load that counts as 1; nothing: measured first
  std::int64_t candidates = 24;        // that a search tries
  std::int64_t fresh_repeats = 10;     // runs of each side at each load once the search is over
  std::int64_t resamples = 10'000;
  double as_good = 0.01;          // difference in goodput that makes none, of candidates
  std::vector<TuneRange> ranges;  // empty: those that the policy has by itself (tune_space.h)
};

TuneOptions read_tune_options(ConfigReader& study);

}  // namespace inferscale

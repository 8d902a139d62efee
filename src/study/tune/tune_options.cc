#include "study/tune/tune_options.h"

#include <algorithm>
#include <array>

#include "base/number_text.h"

namespace inferscale {
namespace {

constexpr std::size_t kMostParameters = 3;
constexpr std::string_view kRangeForm =
    "expected {min: ..., max: ..., scale: linear | log} with min below max, and above 0 where the "
    "scale is log";

std::optional<double> number_at(const ConfigNode& map, std::string_view key) {
  const ConfigNode* value = map.find(key);
  if (value == nullptr || value->kind() != ConfigNode::Kind::kScalar) return std::nullopt;
  return parse_finite(value->text());
}

// Nothing when `map` is not a range.
std::optional<TuneRange> read_range(const std::string& key, const ConfigNode& map) {
  static constexpr std::array<std::string_view, 3> kKeys = {"min", "max", "scale"};
  for (const ConfigNode::Entry& entry : map.entries()) {
    if (std::ranges::find(kKeys, entry.key) == kKeys.end()) return std::nullopt;
  }
  const auto min = number_at(map, "min");
  const auto max = number_at(map, "max");
  const ConfigNode* scale = map.find("scale");
  const std::string text = scale == nullptr ? "linear" : scale->text();
  const bool logarithmic = text == "log";
  if (!min || !max || *min >= *max || (!logarithmic && text != "linear")) return std::nullopt;
  if (logarithmic && *min <= 0) return std::nullopt;
  return TuneRange{key, *min, *max, logarithmic};
}

void read_ranges(ConfigReader& tune, TuneOptions& options) {
  ConfigReader parameters = tune.map(
      "parameters",
      "a parameter of the policy each, with its range {min: ..., max: ..., scale: linear | log}, "
      "at most 3. Without it: the ranges of docs/commands/tune.md");
  if (tune.is_describing()) return;
  const ConfigNode* written = tune.raw("parameters", "", "");
  if (written != nullptr && written->is_map()) {
    for (const ConfigNode::Entry& entry : written->entries()) {
      const ConfigNode* value = parameters.raw(entry.key, "", "");
      std::optional<TuneRange> range;
      if (value != nullptr && value->is_map()) range = read_range(entry.key, *value);
      if (!range) {
        parameters.fail(entry.key, std::string(kRangeForm));
      } else if (options.ranges.size() == kMostParameters) {
        parameters.fail(entry.key,
                        "expected at most 3 parameters: the runs that a search takes "
                        "grow with the power of their number");
      } else {
        options.ranges.push_back(std::move(*range));
      }
    }
  }
  parameters.finish();
}

void read_load_factors(ConfigReader& tune, TuneOptions& options) {
  const std::vector<double> factors = tune.numbers(
      "load_factors", {.min = 0,
                       .max = 1000,
                       .above_min = true,
                       .doc = "loads, as multiples of the capacity, at which a candidate is tried; "
                              "none: 0.5, 1, 1.5 and 2. It counts for the worst of them"});
  if (!factors.empty()) options.load_factors = factors;
  if (options.load_factors.size() > 16) {
    tune.fail("load_factors", "expected at most 16 numbers");
  }
  std::vector<double> sorted = options.load_factors;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    tune.fail("load_factors", "expected each number once");
  }
  options.load_factors = std::move(sorted);
}

}  // namespace

TuneOptions read_tune_options(ConfigReader& study) {
  ConfigReader tune = study.map("tune", "the search for a policy's parameters");
  TuneOptions options;
  read_load_factors(tune, options);
  options.capacity_rps = tune.optional_number(
      "capacity_rps", {.min = 0,
                       .above_min = true,
                       .unit = "requests/s",
                       .doc = "the load that counts as 1 (of agent sessions: sessions/s); null: "
                              "measured first, without a policy, as `inferscale capacity` does"});
  options.candidates = tune.integer(
      "candidates", {.fallback = options.candidates,
                     .min = 3,
                     .max = 10'000,
                     .doc = "values, or combinations, that a search may try; the search for the "
                            "best fixed_concurrency limit has as many again"});
  options.fresh_repeats = tune.integer(
      "fresh_repeats", {.fallback = options.fresh_repeats,
                        .min = 1,
                        .max = 100'000,
                        .unit = "runs",
                        .doc = "of what was found and of each control at each load, on seeds that "
                               "the search has not seen (1,000,000 higher)"});
  options.resamples = tune.integer(
      "resamples",
      {.fallback = options.resamples, .min = 100, .max = 10'000'000, .doc = "of the bootstrap"});
  options.as_good = tune.number(
      "as_good", {.fallback = options.as_good,
                  .min = 0,
                  .max = 1,
                  .doc = "candidates whose worst-case goodput in the search is so close to the "
                         "best one's are listed as being as good"});
  read_ranges(tune, options);
  tune.finish();
  return options;
}

}  // namespace inferscale

#include "workload/length_options.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace inferscale {
namespace {

constexpr std::size_t kMostValues = 1'000'000;

EmpiricalLength read_empirical(ConfigReader& length, const LengthWords& words) {
  EmpiricalLength empirical;
  const double most = words.most;
  const std::vector<double> values = length.numbers(
      "values", {.min = 1, .max = most, .unit = words.unit, .doc = "the values that occur"});
  empirical.weights = length.numbers(
      "weights",
      {.min = 0, .max = 1e12, .unit = "", .doc = "how often, in proportion; empty: all alike"});
  if (length.is_describing()) return empirical;
  if (values.empty() || values.size() > kMostValues) {
    length.fail("values", "expected a list of 1 to 1000000 whole numbers");
  }
  double sum = 0;
  for (double value : values) {
    if (value != std::floor(value)) length.fail("values", "expected whole numbers");
    empirical.values.push_back(static_cast<std::uint32_t>(value));
  }
  for (double weight : empirical.weights) sum += weight;
  if (!empirical.weights.empty() && empirical.weights.size() != values.size()) {
    length.fail("weights", "expected as many weights as values, " + std::to_string(values.size()) +
                               ", not " + std::to_string(empirical.weights.size()));
  } else if (!empirical.weights.empty() && !(sum > 0)) {
    length.fail("weights", "expected a weight above 0");
  }
  return empirical;
}

}  // namespace

LengthOptions read_length_options(ConfigReader length, const LengthWords& words) {
  LengthOptions options;
  const std::string_view unit = words.unit;
  const std::int64_t most = words.most;
  const std::string distribution = length.choice(
      "distribution", {"constant", "lognormal", "empirical"}, "lognormal", "how it is distributed");
  length.when("distribution", distribution, "constant", [&] {
    options.shape = ConstantLength{static_cast<std::uint32_t>(
        length.integer("value", {.min = 1, .max = most, .unit = unit, .doc = "the one value"}))};
  });
  length.when("distribution", distribution, "lognormal", [&] {
    LognormalLength lognormal;
    lognormal.mean = length.number(
        "mean",
        {.min = 1, .max = static_cast<double>(most), .unit = unit, .doc = "mean, before clamping"});
    lognormal.cv = length.number(
        "cv", {.min = 0, .max = 100, .unit = "ratio", .doc = "deviation over mean; 0: no spread"});
    options.shape = lognormal;
  });
  length.when("distribution", distribution, "empirical",
              [&] { options.shape = read_empirical(length, words); });
  options.min = static_cast<std::uint32_t>(length.integer(
      "min",
      {.fallback = 1, .min = 1, .max = most, .unit = unit, .doc = "smaller ones become this one"}));
  options.max =
      static_cast<std::uint32_t>(length.integer("max", {.fallback = most,
                                                        .min = 1,
                                                        .max = most,
                                                        .unit = unit,
                                                        .doc = "larger ones become this one"}));
  if (options.min > options.max) length.fail("max", "expected at least min");
  length.finish();
  return options;
}

DelayOptions read_delay_options(ConfigReader delay) {
  constexpr double kLongestS = static_cast<double>(DelayOptions::kLongest) / 1e9;
  DelayOptions options;
  const std::string distribution =
      delay.choice("distribution", {"constant", "exponential", "lognormal"}, "exponential",
                   "how the times are distributed");
  if (distribution == "exponential") options.shape = DelayShape::kExponential;
  const bool above_zero = distribution == "lognormal";
  options.mean_s = delay.number("mean_s", {.min = 0,
                                           .max = kLongestS,
                                           .above_min = above_zero,
                                           .unit = "s",
                                           .doc = "mean, before clamping; constant: every time"});
  delay.when("distribution", distribution, "lognormal", [&] {
    options.shape = DelayShape::kLognormal;
    options.cv = delay.number(
        "cv", {.min = 0, .max = 100, .unit = "ratio", .doc = "deviation over mean; 0: no spread"});
  });
  const double min_s = delay.number(
      "min_s",
      {.fallback = 0, .min = 0, .max = kLongestS, .unit = "s", .doc = "shorter become this one"});
  const double max_s = delay.number("max_s", {.fallback = kLongestS,
                                              .min = 0,
                                              .max = kLongestS,
                                              .unit = "s",
                                              .doc = "longer become this one"});
  options.min = Duration::from_seconds(min_s);
  options.max = Duration::from_seconds(max_s);
  if (min_s > max_s) delay.fail("max_s", "expected at least min_s");
  delay.finish();
  return options;
}

}  // namespace inferscale

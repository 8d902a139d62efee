#include "study/tune/tune_space.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "admission/registry.h"
#include "base/config_json.h"
#include "base/exact_math.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

constexpr std::string_view kSource = "study.tune";

// What a range's ends are multiples of.
enum class RangeUnit : std::uint8_t { kOne, kTtftSeconds, kTtftMillis, kBatchPlaces };

struct OwnRange {
  std::string_view policy;
  std::string_view key;
  double min;
  double max;
  bool logarithmic;
  RangeUnit unit;
};

// Wide enough that both ends are bad choices: the one refuses nearly all, the other nearly nobody.
constexpr std::array kOwnRanges = std::to_array<OwnRange>({
    {"adaptive_gradient", "tolerance", 1, 20, true, RangeUnit::kOne},
    {"aimd", "target_ms", 0.05, 2, true, RangeUnit::kTtftMillis},
    {"dual_gate", "threshold", 0.1, 1, false, RangeUnit::kOne},
    {"fixed_concurrency", "limit", 1, 4, true, RangeUnit::kBatchPlaces},
    {"kv_threshold", "threshold", 0.05, 1, false, RangeUnit::kOne},
    {"probabilistic_shed", "probability", 0, 0.9, false, RangeUnit::kOne},
    {"queue_age", "max_age_s", 0.02, 5, true, RangeUnit::kTtftSeconds},
    {"queue_depth", "max_waiting", 1, 256, true, RangeUnit::kOne},
    {"rate_limit", "requests", 1, 10'000, true, RangeUnit::kOne},
    {"session_window", "most_sessions", 8, 1024, true, RangeUnit::kOne},
    {"token_bucket", "refill_per_s", 100, 1e6, true, RangeUnit::kOne},
    {"token_budget", "share", 0.05, 4, true, RangeUnit::kOne},
    {"wcrt", "safety_factor", 0.1, 10, true, RangeUnit::kOne},
});

// Sequences that all batches of the fleet hold together, as it begins.
double batch_places(const PreparedRun& run) {
  std::int64_t places = 0;
  for (std::size_t i = 0; i < run.deployment.kinds.size(); ++i) {
    const Deployment& kind = run.deployment.kinds[i];
    places += kind.replica.max_num_seqs * kind.ranks * run.config.fleet.groups[i].replicas;
  }
  return static_cast<double>(places);
}

TuneRange range_of(const OwnRange& own, const PreparedRun& run) {
  // Without a target for the first token: 1 s.
  const double ttft_s = run.config.slo.ttft ? run.config.slo.ttft->seconds() : 1;
  double low = 1;
  double high = 1;
  if (own.unit == RangeUnit::kTtftSeconds) low = high = ttft_s;
  if (own.unit == RangeUnit::kTtftMillis) low = high = 1000 * ttft_s;
  if (own.unit == RangeUnit::kBatchPlaces) high = batch_places(run);
  return {std::string(own.key), own.min * low, own.max * high, own.logarithmic};
}

std::vector<TuneRange> own_ranges(const std::string& policy, const PreparedRun& run) {
  std::vector<TuneRange> ranges;
  for (const OwnRange& own : kOwnRanges) {
    if (own.policy == policy) ranges.push_back(range_of(own, run));
  }
  return ranges;
}

std::string policies_with_ranges() {
  std::string names;
  for (const OwnRange& own : kOwnRanges) {
    names += (names.empty() ? "" : ", ") + std::string(own.policy);
  }
  return names;
}

// To three significant digits, the same on every machine.
double readable(double value) {
  std::array<char, 64> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value,
                                     std::chars_format::scientific, 2);
  double result = value;
  std::from_chars(text.data(), written.ptr, result);
  return result;
}

Result<void> check_values(const Scenario& scenario, const TuneSpace& space,
                          std::span<const double> values) {
  return scenario.check({.scenario = 0,
                         .settings = space.at(values).settings(),
                         .seed = scenario.base().config.seed,
                         .scales = {}});
}

std::unexpected<Error> refuse(const Scenario& scenario, const std::string& message) {
  return fail(ErrorCode::kInvalidConfig, message, scenario.label());
}

// Finds out what is whole, and whether the policy takes what lies in the ranges.
Result<void> settle(const Scenario& scenario, TuneSpace& space) {
  std::vector<double> low;
  for (const TuneDimension& one : space.dimensions) low.push_back(one.range.min);
  if (const Result<void> right = check_values(scenario, space, low); !right) return right;
  for (std::size_t i = 0; i < space.dimensions.size(); ++i) {
    TuneDimension& one = space.dimensions[i];
    std::vector<double> values = low;
    values[i] = one.range.max;
    if (const Result<void> right = check_values(scenario, space, values); !right) return right;
    const double middle = one.range.min + 0.5 * (one.range.max - one.range.min);
    values[i] = std::floor(middle) + 0.5;
    if (values[i] > one.range.max) values[i] = middle;
    one.whole = values[i] != std::floor(values[i]) && !check_values(scenario, space, values);
  }
  return {};
}

}  // namespace

double TuneDimension::value_at(double part) const {
  if (part <= 0) return range.min;
  if (part >= 1) return range.max;
  const double value = range.logarithmic
                           ? range.min * exact_exp(part * exact_log(range.max / range.min))
                           : range.min + part * (range.max - range.min);
  return std::clamp(whole ? std::round(value) : readable(value), range.min, range.max);
}

std::vector<Setting> TuneSetting::settings() const {
  std::vector<Setting> settings;
  const std::string source(kSource);
  settings.push_back({"admission.policy", text_node(policy, source)});
  if (!keeps_parameters) {
    ConfigNode map = ConfigNode::map({.source = source});
    for (const auto& [key, value] : parameters) map.put(key, value, {.source = source});
    settings.push_back({"admission.parameters", std::move(map)});
    return settings;
  }
  for (const auto& [key, value] : parameters) {
    settings.push_back({"admission.parameters." + key, value});
  }
  return settings;
}

TuneSetting TuneSpace::at(std::span<const double> values) const {
  TuneSetting setting{policy, keeps_parameters, fixed};
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    setting.parameters.emplace_back(dimensions[i].range.key,
                                    number_node(values[i], std::string(kSource)));
  }
  return setting;
}

Result<TuneSpace> tune_space(const Scenario& scenario, const std::string& policy) {
  const PreparedRun& run = scenario.base();
  if (find_policy(policy) == nullptr) {
    return refuse(scenario, "policy '" + policy + "': expected one of `inferscale policies`");
  }
  const bool configured = run.config.admission.policy == policy;
  TuneSpace space{.policy = policy, .keeps_parameters = configured, .fixed = {}, .dimensions = {}};
  std::vector<TuneRange> ranges = run.study.tune.ranges;
  if (ranges.empty()) ranges = own_ranges(policy, run);
  if (ranges.empty()) {
    return refuse(scenario, "study.tune.parameters: missing: expected the parameters of " + policy +
                                " and their ranges (they are known of " + policies_with_ranges() +
                                ")");
  }
  for (TuneRange& range : ranges) space.dimensions.push_back({.range = std::move(range)});
  if (const Result<void> settled = settle(scenario, space); !settled) {
    return std::unexpected(settled.error());
  }
  return space;
}

Result<TuneSpace> fixed_concurrency_space(const Scenario& scenario, const TuneSpace& tuned) {
  const PreparedRun& run = scenario.base();
  TuneSpace space{
      .policy = "fixed_concurrency", .keeps_parameters = false, .fixed = {}, .dimensions = {}};
  const ConfigNode* parameters = run.effective.find("admission");
  if (parameters != nullptr) parameters = parameters->find("parameters");
  const ConfigNode* then = parameters == nullptr ? nullptr : parameters->find("then");
  if (tuned.keeps_parameters && then != nullptr) space.fixed.emplace_back("then", *then);
  for (TuneRange& range : own_ranges(space.policy, run)) {
    space.dimensions.push_back({.range = std::move(range)});
  }
  if (const Result<void> settled = settle(scenario, space); !settled) {
    return std::unexpected(settled.error());
  }
  return space;
}

}  // namespace inferscale

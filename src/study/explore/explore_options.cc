#include "study/explore/explore_options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/config_json.h"
#include "base/exact_math.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

constexpr std::int64_t kMostPoints = 20'000;
constexpr std::string_view kRangeForm =
    "expected a list of values, or {min: ..., max: ..., scale: linear | log, whole: true | false, "
    "points: ...} with min below max, above 0 where scale is log and whole where whole is true";

// It is printed as it is, and a terminal would obey what is not text.
bool is_printable(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

// What a study decides itself, or what no figure follows from.
constexpr std::array<std::string_view, 5> kNotForCandidates = {"name", "seed", "repeats", "study",
                                                               "output"};

// Nothing when candidates may set `key`; else what was expected.
std::optional<std::string> why_not(const std::string& key) {
  const std::string first = key.substr(0, key.find('.'));
  const bool kept = std::find(kNotForCandidates.begin(), kNotForCandidates.end(), first) !=
                    kNotForCandidates.end();
  const bool is_path = !key.empty() && key.front() != '.' && key.back() != '.' &&
                       key.find("..") == std::string::npos &&
                       std::count(key.begin(), key.end(), '.') < 64;
  if (is_path && !kept) return std::nullopt;
  return kept ? "candidates can't set '" + first +
                    "': expected a key of the deployment, the workload or the SLO"
              : "expected keys like deployment.engine.max_num_seqs";
}

std::optional<double> number_in(const ConfigNode& map, std::string_view key) {
  const ConfigNode* value = map.find(key);
  if (value == nullptr || value->kind() != ConfigNode::Kind::kScalar) return std::nullopt;
  return parse_finite(value->text());
}

// "a" or "b" as written, else nothing; `a` when the key is not there.
std::optional<bool> is_second(const ConfigNode& map, std::string_view key, std::string_view a,
                              std::string_view b) {
  const ConfigNode* value = map.find(key);
  if (value == nullptr) return false;
  if (value->kind() != ConfigNode::Kind::kScalar) return std::nullopt;
  if (value->text() == b) return true;
  return value->text() == a ? std::optional(false) : std::nullopt;
}

std::vector<ConfigNode> spaced(const DesignRange& range, std::int64_t points) {
  std::vector<ConfigNode> values;
  double last = 0;
  for (std::int64_t i = 0; i < points; ++i) {
    const double part = points == 1 ? 0 : static_cast<double>(i) / static_cast<double>(points - 1);
    const double value = value_in(range, part);
    if (i > 0 && value == last) continue;  // whole numbers may meet
    values.push_back(ConfigNode::scalar(number_text(value), false, range.position));
    last = value;
  }
  return values;
}

// Nothing when `map` is not a range.
std::optional<DesignAxis> read_range(const std::string& key, const ConfigNode& map) {
  static constexpr std::array<std::string_view, 5> kKeys = {"min", "max", "scale", "whole",
                                                            "points"};
  for (const ConfigNode::Entry& entry : map.entries()) {
    if (std::find(kKeys.begin(), kKeys.end(), entry.key) == kKeys.end()) return std::nullopt;
  }
  const auto min = number_in(map, "min");
  const auto max = number_in(map, "max");
  const auto logarithmic = is_second(map, "scale", "linear", "log");
  const auto whole = is_second(map, "whole", "false", "true");
  if (!min || !max || !logarithmic || !whole || *min >= *max) return std::nullopt;
  if (*logarithmic && *min <= 0) return std::nullopt;
  if (*whole && (*min != std::floor(*min) || *max != std::floor(*max))) return std::nullopt;
  DesignAxis axis{.key = key,
                  .values = {},
                  .range = DesignRange{*min, *max, *logarithmic, *whole, map.position()}};
  if (map.find("points") == nullptr) return axis;
  const auto points = number_in(map, "points");
  if (!points || *points < 1 || *points > kMostPoints || *points != std::floor(*points)) {
    return std::nullopt;
  }
  axis.values = spaced(*axis.range, static_cast<std::int64_t>(*points));
  return axis;
}

void read_axis(ConfigReader& grid, const ConfigNode::Entry& entry, ExploreOptions& options) {
  const std::string& key = entry.key;
  const ConfigNode* value = grid.raw(key, "", "");
  if (const auto reason = why_not(key)) {
    grid.fail(key, *reason);
    return;
  }
  if (value != nullptr && value->kind() == ConfigNode::Kind::kList && !value->items().empty()) {
    options.grid.push_back({.key = key, .values = value->items(), .range = {}});
    return;
  }
  if (value != nullptr && value->kind() == ConfigNode::Kind::kList) {
    grid.fail(key, "expected at least one value");
    return;
  }
  std::optional<DesignAxis> axis;
  if (value != nullptr && value->is_map()) axis = read_range(key, *value);
  if (!axis) {
    grid.fail(key, kRangeForm);
  } else if (axis->values.empty() && options.samples == 0) {
    grid.fail(key, "expected 'points' in a range, or study.explore.samples: how many are drawn");
  } else {
    options.grid.push_back(std::move(*axis));
  }
}

void read_grid(ConfigReader& explore, ExploreOptions& options) {
  ConfigReader grid = explore.map(
      "grid",
      "a key of the configuration each, with the list of its values or a range {min: ..., max: "
      "..., scale: linear | log, whole: true | false, points: N}; candidates are all combinations. "
      "Without it and candidates: the grid of docs/commands/explore.md");
  if (grid.is_describing()) return;
  const ConfigNode* written = explore.raw("grid", "", "");
  if (written != nullptr && written->is_map()) {
    for (const ConfigNode::Entry& entry : written->entries()) read_axis(grid, entry, options);
  }
  grid.finish();
}

void read_candidates(ConfigReader& explore, ExploreOptions& options) {
  for (ConfigReader& item :
       explore.list("candidates", "candidates by name, before those of a grid")) {
    NamedDesign design;
    design.name = item.text("name", std::nullopt, "how tables call it");
    if (!is_printable(design.name)) item.fail("name", "expected text without control characters");
    for (const NamedDesign& other : options.candidates) {
      if (other.name == design.name) item.fail("name", "expected a name that no other one has");
    }
    const ConfigNode* set =
        item.raw("set", "map", "keys of the configuration and their values, as --set takes them",
                 "required");
    if (set == nullptr || !set->is_map()) {
      if (!item.is_describing()) item.fail("set", "expected a map of keys to values");
    } else {
      for (const ConfigNode::Entry& entry : set->entries()) {
        if (const auto reason = why_not(entry.key)) {
          item.fail("set", "'" + entry.key + "': " + *reason);
        }
        design.settings.push_back({entry.key, entry.value});
      }
    }
    item.finish();
    if (!item.is_describing()) options.candidates.push_back(std::move(design));
  }
}

}  // namespace

namespace {

// To six significant digits, which people can read and give to --set.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double digits = 5 - std::floor(exact_log(std::fabs(value)) / std::numbers::ln10);
  if (std::fabs(digits) > 22) return value;  // powers of ten are exact up to here
  const double scale = exact_pow(10, std::fabs(digits));
  return digits >= 0 ? std::floor(value * scale + 0.5) / scale
                     : std::floor(value / scale + 0.5) * scale;
}

}  // namespace

double value_in(const DesignRange& range, double part) {
  double value = range.min + part * (range.max - range.min);
  if (range.logarithmic) value = range.min * exact_pow(range.max / range.min, part);
  value = range.whole ? std::floor(value + 0.5) : rounded(value);
  return std::clamp(value, range.min, range.max);
}

ExploreOptions read_explore_options(ConfigReader& study) {
  ConfigReader explore = study.map("explore", "the candidates of a design study");
  ExploreOptions options;
  options.samples = explore.integer(
      "samples", {.fallback = 0,
                  .min = 0,
                  .max = 20'000,
                  .doc = "so many candidates are drawn at random from the grid, none of them "
                         "twice; 0: all of it"});
  options.splits = explore.boolean("splits", options.splits,
                                   "the grid that is taken without grid and candidates has splits "
                                   "into prefill and decode pools too");
  read_grid(explore, options);
  read_candidates(explore, options);
  options.as_configured = explore.boolean(
      "as_configured", options.grid.empty() && options.candidates.empty(),
      "the configuration as it is becomes a candidate too; by default only without grid and "
      "candidates");
  explore.finish();
  return options;
}

}  // namespace inferscale

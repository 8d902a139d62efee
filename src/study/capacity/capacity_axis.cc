#include "study/capacity/capacity_axis.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/config_json.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

constexpr double kLeastRps = 0.001;
constexpr double kMostRps = 1e6;
constexpr double kLeastScale = 1e-6;  // of a trace and of a schedule
constexpr double kMostScale = 1e6;
constexpr double kLongestWindowS = 1e9;
constexpr double kFarBelow = 1024;        // a search down from the start ends at this part of it
constexpr double kMostWhenGrowing = 1e7;  // where they grow with the rate; or as many as configured

std::unexpected<Error> refuse(const std::string& message, const Scenario& scenario) {
  return fail(ErrorCode::kInvalidConfig, message, scenario.label());
}

// `value` to so many significant digits, the same on every machine.
double rounded(double value, int digits) {
  std::array<char, 64> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value,
                                     std::chars_format::scientific, digits - 1);
  double result = value;
  std::from_chars(text.data(), written.ptr, result);
  return result;
}

double rounded_within(double value, double relative_error) {
  for (int digits = 2; digits < 17; ++digits) {
    const double candidate = rounded(value, digits);
    if (std::fabs(candidate - value) <= relative_error * value) return candidate;
  }
  return value;
}

double far_below(double start) {
  return rounded_within(start / kFarBelow, 0.01);
}

Setting number_setting(const std::string& key, double value) {
  return {key, number_node(value, "study.capacity")};
}

// Whether something happens at times that do not move with the arrivals.
bool has_own_clock(const RunConfig& config) {
  const GeneratedOptions& generated = config.workload.generated;
  const bool changing = std::holds_alternative<PiecewiseArrivals>(generated.arrivals) ||
                        std::holds_alternative<BurstyArrivals>(generated.arrivals);
  const bool scaling = std::any_of(config.fleet.groups.begin(), config.fleet.groups.end(),
                                   [](const GroupConfig& group) { return group.scaling; });
  return changing || generated.conversations || config.measurement.warmup > Duration() || scaling ||
         config.fleet.failures.any();
}

// How far all rates of a schedule may be scaled.
std::pair<double, double> scale_range(const PiecewiseArrivals& arrivals) {
  double least = 0;
  double most = kMostScale;
  for (const RatePiece& piece : arrivals.schedule) {
    if (piece.rate_rps == 0) continue;
    least = std::max(least, kLeastRps / piece.rate_rps);
    most = std::min(most, kMostRps / piece.rate_rps);
  }
  return {least, most};
}

double written_rate_scale(const PreparedRun& run) {
  const ConfigNode* node = &run.effective;
  for (const std::string_view key : {"workload", "arrivals", "rate_scale"}) {
    node = node->find(key);
    CHECK(node != nullptr) << "a schedule has a rate_scale";
  }
  return parse_finite(node->text()).value_or(1);
}

bool has_groups(const PreparedRun& run) {
  const ConfigNode* groups = run.effective.find("deployment")->find("groups");
  return groups != nullptr && !groups->items().empty();
}

}  // namespace

Result<CapacityAxis> CapacityAxis::make(const Scenario& scenario) {
  const PreparedRun& run = scenario.base();
  CapacityAxis axis;
  axis.options_ = run.study.capacity;
  if (!run.config.has_targets()) {
    return refuse(
        "slo: expected at least one target (ttft_ms, itl_ms or e2e_ms): a load is carried when "
        "requests meet their targets, and without one any load is",
        scenario);
  }
  if (run.programs) {
    return refuse(
        "workload.sessions: expected requests: a session slows down with the system that serves "
        "it, and how many of them a deployment carries is not searched in this version "
        "(`inferscale ab` compares two loads, `inferscale agents` shows one)",
        scenario);
  }
  Result<void> set;
  switch (axis.options_.search) {
    case CapacitySearch::kRate:
      set = axis.set_rate(run);
      break;
    case CapacitySearch::kTraceRateScale:
      set = axis.set_trace(run);
      break;
    case CapacitySearch::kReplicas:
      set = axis.set_replicas(run);
      break;
  }
  if (!set) return refuse(set.error().message, scenario);
  const CapacityOptions& options = axis.options_;
  if (options.high) axis.most_ = std::min(axis.most_, *options.high);
  axis.start_ = options.low.value_or(std::clamp(axis.start_, axis.least_, axis.most_));
  if (options.low) axis.least_ = std::max(axis.least_, *options.low);
  if (axis.least_ > axis.most_ || axis.start_ < axis.least_ || axis.start_ > axis.most_) {
    return refuse("study.capacity: expected low and high within " + number_text(axis.least_) +
                      " and " + number_text(axis.most_) + " " + axis.unit_,
                  scenario);
  }
  return axis;
}

Result<void> CapacityAxis::set_rate(const PreparedRun& run) {
  if (run.trace) {
    return fail(ErrorCode::kInvalidConfig,
                "workload.trace: the arrivals are what the file says, and another rate would not "
                "change them: expected study.capacity.search: trace_rate_scale (a derived workload "
                "with scaled arrival times), search: replicas (the smallest fleet for the trace as "
                "it is), or generated arrivals");
  }
  const GeneratedOptions& generated = run.config.workload.generated;
  unit_ = generated.conversations ? "conversations/s" : "requests/s";
  requests_ = static_cast<double>(generated.requests);
  // Turns are counted, conversations arrive: the span is that of the first turns, an estimate.
  rate_ = requests_ / expected_span_s(generated.arrivals, requests_);
  double least = kLeastRps;
  double most = kMostRps;
  if (const auto* piecewise = std::get_if<PiecewiseArrivals>(&generated.arrivals)) {
    rate_scale_ = written_rate_scale(run);
    const auto [low, high] = scale_range(*piecewise);
    least = low * rate_;
    most = high * rate_;
  } else {
    rate_ = long_run_rate_rps(generated.arrivals);
  }
  keeps_window_ = options_.keep == CapacityKeep::kAuto ? has_own_clock(run.config)
                                                       : options_.keep == CapacityKeep::kWindow;
  start_ = rate_;
  least_ = std::max(least, far_below(rate_));
  most_ = most;
  if (keeps_window_) {
    most_ = std::min(most_, rate_ * std::max(kMostWhenGrowing / requests_, 1.0));
  } else {
    least_ = std::max(least_, requests_ / kLongestWindowS);
  }
  return {};
}

Result<void> CapacityAxis::set_trace(const PreparedRun& run) {
  if (!run.trace) {
    return fail(ErrorCode::kInvalidConfig,
                "study.capacity.search: 'trace_rate_scale': expected a workload.trace, or search: "
                "rate for generated arrivals");
  }
  const TraceOptions& trace = *run.config.workload.trace;
  if (has_session_times(run.trace->format) && !trace.session_arrivals) {
    return fail(ErrorCode::kInvalidConfig,
                "study.capacity.search: 'trace_rate_scale': expected workload.trace."
                "session_arrivals: all sessions of this trace begin at 0, and only their "
                "beginnings are scaled");
  }
  unit_ = "times the trace's rate";
  start_ = trace.rate_scale;
  least_ = std::max(kLeastScale, far_below(start_));
  most_ = kMostScale;
  return {};
}

Result<void> CapacityAxis::set_replicas(const PreparedRun& run) {
  const FleetConfig& fleet = run.config.fleet;
  const auto refuse_fleet = [](const std::string& what) {
    return fail(ErrorCode::kInvalidConfig, "study.capacity.search: 'replicas': " + what);
  };
  if (fleet.split) {
    return refuse_fleet(
        "deployment.disaggregation has two pools, and which one grows is a question of its own: "
        "expected a deployment without it (`inferscale explore` tries numbers of both)");
  }
  const GroupConfig& group = fleet.groups.front();
  if (has_groups(run)) {
    return refuse_fleet(
        "deployment.groups has replicas of several kinds: expected deployment.replicas alone");
  }
  if (group.scaling) {
    return refuse_fleet("deployment.scaling changes their number: expected a fixed fleet");
  }
  if (options_.for_load && run.trace) {
    return refuse_fleet(
        "for_load: a trace has its own load: expected workload.trace.rate_scale for another one, "
        "or generated arrivals");
  }
  if (!run.trace) {
    const Result<void> set = set_rate(run);
    if (!set) return set;
    fixed_load_ = options_.for_load.value_or(rate_);
    fixed_load_unit_ = unit_;
    if (*fixed_load_ < least_ || *fixed_load_ > most_) {
      return refuse_fleet("for_load: '" + number_text(*fixed_load_) + "': expected a number from " +
                          number_text(least_) + " to " + number_text(most_));
    }
  }
  unit_ = "replicas";
  whole_ = true;
  falls_ = true;
  least_ = 1;
  most_ = static_cast<double>(options_.max_replicas);
  start_ = static_cast<double>(group.replicas);
  return {};
}

double CapacityAxis::harder(double value) const {
  if (falls_) return std::max(least_, std::floor(value / 2));
  return std::min(most_, readable(value * 2));
}

double CapacityAxis::easier(double value) const {
  return falls_ ? std::min(most_, value * 2) : std::max(least_, readable(value / 2));
}

bool CapacityAxis::adjacent(double easy, double hard) const {
  if (whole_) return std::fabs(hard - easy) <= 1;
  return hard <= easy * (1 + options_.tolerance);
}

double CapacityAxis::between(double easy, double hard) const {
  if (whole_) return std::floor((easy + hard) / 2);
  // Halves the ratio, which is what the tolerance is about.
  const double middle = easy * std::sqrt(hard / easy);
  const double room = std::min(options_.tolerance, hard / easy - 1) / 8;
  return rounded_within(middle, room);
}

double CapacityAxis::with_headroom(double capacity) const {
  // 1 / (1 - 0.9) is a little above 10 in binary fractions.
  if (falls_) return std::ceil(capacity / (1 - options_.headroom) - 1e-9);
  return readable(capacity * (1 - options_.headroom));
}

double CapacityAxis::readable(double value) const {
  return whole_ ? std::round(value) : rounded_within(value, options_.tolerance / 8);
}

std::vector<Setting> CapacityAxis::rate_settings(double rate) const {
  std::vector<Setting> settings;
  if (rate_scale_) {
    settings.push_back(
        number_setting("workload.arrivals.rate_scale", *rate_scale_ * (rate / rate_)));
  } else {
    settings.push_back(number_setting("workload.arrivals.rate_rps", rate));
  }
  if (keeps_window_) {
    settings.push_back(
        number_setting("workload.requests", std::max(1.0, std::round(requests_ * (rate / rate_)))));
  }
  return settings;
}

std::vector<Setting> CapacityAxis::settings(double value) const {
  if (options_.search == CapacitySearch::kRate) return rate_settings(value);
  if (options_.search == CapacitySearch::kTraceRateScale) {
    return {number_setting("workload.trace.rate_scale", value)};
  }
  std::vector<Setting> settings;
  if (fixed_load_) settings = rate_settings(*fixed_load_);
  settings.push_back(number_setting("deployment.replicas", value));
  return settings;
}

}  // namespace inferscale

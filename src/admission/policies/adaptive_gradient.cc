#include "admission/policies/adaptive_gradient.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "admission/policies/limit_scope.h"

namespace inferscale {
namespace {

class AdaptiveGradient final : public AdmissionPolicy {
 public:
  explicit AdaptiveGradient(const AdaptiveGradientOptions& options)
      : options_(options),
        remeasure_(Duration::from_seconds(options.remeasure_s)),
        limit_(options.initial),
        best_(options.measure == LatencyMeasure::kSlowdown ? 1 : 0) {
    needs_.service_model = options_.measure != LatencyMeasure::kTtft;
  }

  const PolicyNeeds& needs() const override { return needs_; }
  std::optional<double> limit() const override { return limit_in_force(); }

  Decision decide(const RequestView& /*request*/, const PoolView& pool) override {
    if (needs_.service_model) model_ = pool.service();
    const Reading in_flight = pool.read(Signal::kInFlight);
    if (!in_flight.is_known() || in_flight.value + 1 <= limit_in_force()) return Decision::admit();
    return refuse(options_.defers, Reason::kConcurrency);
  }

  void on_outcome(const RequestView& request, const AttemptEnd& end) override {
    if (end.end == PermitEnd::kIgnored) return;
    if (needs_.service_model && !model_.is_known()) return;
    const std::optional<double> latency = measure_latency(options_.measure, request, end, model_);
    if (!latency) return;
    if (measuring_) {
      const bool is_unloaded = static_cast<double>(end.in_flight_at_admission) <= options_.least;
      if (!is_unloaded || end.admitted_at < measuring_since_) return;
    }
    ++batch_.outcomes;
    batch_.latency += *latency;
    batch_.most_in_flight = std::max(batch_.most_in_flight, end.in_flight_at_admission);
    if (batch_.outcomes == options_.batch) end_batch(end.now);
  }

 private:
  struct Batch {
    std::int64_t outcomes = 0;
    double latency = 0;
    std::int64_t most_in_flight = 0;
  };

  double limit_in_force() const { return measuring_ ? options_.least : limit_; }

  void end_batch(Instant now) {
    const double mean = batch_.latency / static_cast<double>(batch_.outcomes);
    const double in_use = static_cast<double>(batch_.most_in_flight);
    batch_ = {};
    if (measuring_) {
      best_ = mean;
      measuring_ = false;
      measured_at_ = now;
      return;
    }
    const bool is_measured = options_.measure == LatencyMeasure::kTtft;
    if (is_measured) best_ = best_ > 0 ? std::min(best_, mean) : mean;
    update(mean, in_use);
    if (!is_measured) return;
    if (now - measured_at_ >= remeasure_) {
      measuring_ = true;
      measuring_since_ = now;
    }
  }

  void update(double mean, double in_use) {
    const double gradient =
        mean > 0 ? std::clamp(options_.tolerance * best_ / mean, 0.5, 1.0) : 1.0;
    const double aim = gradient * limit_ + std::sqrt(limit_);
    if (aim > limit_ && 2 * in_use < limit_) return;
    limit_ = std::clamp((1 - options_.smoothing) * limit_ + options_.smoothing * aim,
                        options_.least, options_.most);
  }

  AdaptiveGradientOptions options_;
  Duration remeasure_;
  PolicyNeeds needs_{.signals = {Signal::kInFlight}, .outcomes = true};
  double limit_;
  double best_;  // T0; 0: not measured yet
  Batch batch_;
  bool measuring_ = false;
  Instant measuring_since_;
  Instant measured_at_;
  ServiceModel model_;
};

double read_requests(ConfigReader& parameters, std::string_view key, double fallback,
                     std::string_view doc) {
  return parameters.number(
      key, {.fallback = fallback, .min = 1, .max = 1e9, .unit = "requests", .doc = doc});
}

}  // namespace

const PolicyCard& adaptive_gradient_card() {
  static constexpr std::array<ParameterNote, 9> kParameters = {{
      {"measure", "derived", "prompts of agents differ a thousandfold"},
      {"batch", "default", "a mean to within 20 % of its deviation"},
      {"tolerance", "field", "1.5 in Netflix's Gradient2"},
      {"smoothing", "field", "0.2 in Netflix's Gradient2"},
      {"initial", "field", "20 in Netflix's Gradient2"},
      {"least", "field", "3, Envoy's min_concurrency"},
      {"most", "default", "out of the way"},
      {"remeasure_s", "field",
       "Envoy's minRTT calculation; more rarely, since answers take longer"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "adaptive_gradient",
      .summary = "a limit on requests in flight that follows the best latency over the recent one",
      .slo_awareness = "throughput",
      .signal_structure = "scalar",
      .inspired_by = "Netflix concurrency-limits (Gradient2), Envoy adaptive concurrency",
      .preserved =
          "the gradient with its bounds, headroom and smoothing; measuring anew at a low "
          "limit",
      .dropped = "percentiles in windows of time: batches of outcomes have their mean",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_adaptive_gradient(ConfigReader& parameters) {
  AdaptiveGradientOptions options;
  options.measure =
      parameters.choice("measure", {"ttft", "slowdown"}, "slowdown",
                        "latency: the time to the first token, or how many times as long as the "
                        "prompt takes alone") == "ttft"
          ? LatencyMeasure::kTtft
          : LatencyMeasure::kSlowdown;
  options.batch = parameters.integer("batch", {.fallback = options.batch,
                                               .min = 1,
                                               .max = 1'000'000,
                                               .unit = "outcomes",
                                               .doc = "that give one mean latency"});
  options.tolerance = parameters.number(
      "tolerance", {.fallback = options.tolerance,
                    .min = 1,
                    .max = 1e6,
                    .doc = "how many times the best latency the recent one may be"});
  options.smoothing = parameters.number("smoothing", {.fallback = options.smoothing,
                                                      .min = 0,
                                                      .max = 1,
                                                      .above_min = true,
                                                      .doc = "part of the way taken at a batch"});
  options.initial = read_requests(parameters, "initial", options.initial, "the limit at the start");
  options.least = read_requests(parameters, "least", options.least,
                                "the least limit, at which the best latency is measured");
  options.most = read_requests(parameters, "most", options.most, "the greatest limit");
  options.remeasure_s = parameters.number(
      "remeasure_s", {.fallback = options.remeasure_s,
                      .min = 1e-3,
                      .max = 1e6,
                      .unit = "s",
                      .doc = "after which the best latency is measured anew (ttft)"});
  options.defers = read_defers(parameters);
  if (options.initial < options.least || options.initial > options.most) {
    parameters.fail("initial", "expected between least and most");
  }
  return [options](const PolicySetting&) { return std::make_unique<AdaptiveGradient>(options); };
}

}  // namespace inferscale

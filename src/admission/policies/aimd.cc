#include "admission/policies/aimd.h"

#include <algorithm>
#include <array>

#include "admission/policies/limit_scope.h"

namespace inferscale {
namespace {

class Aimd final : public AdmissionPolicy {
 public:
  explicit Aimd(const AimdOptions& options) : options_(options), limit_(options.initial) {
    needs_.service_model = options_.measure != LatencyMeasure::kTtft;
  }

  const PolicyNeeds& needs() const override { return needs_; }
  std::optional<double> limit() const override { return limit_; }

  Decision decide(const RequestView& /*request*/, const PoolView& pool) override {
    if (needs_.service_model) model_ = pool.service();
    const Reading in_flight = pool.read(Signal::kInFlight);
    if (!in_flight.is_known() || in_flight.value + 1 <= limit_) return Decision::admit();
    return refuse(options_.defers, Reason::kConcurrency);
  }

  void on_outcome(const RequestView& request, const AttemptEnd& end) override {
    if (end.end == PermitEnd::kIgnored) return;
    if (end.end == PermitEnd::kDropped) {
      decrease(end);
      return;
    }
    if (needs_.service_model && !model_.is_known()) return;
    const std::optional<double> latency = measure_latency(options_.measure, request, end, model_);
    if (!latency) return;
    if (*latency > options_.target_s) {
      decrease(end);
    } else if (2 * static_cast<double>(end.in_flight_at_admission) >= limit_) {
      limit_ = std::min(options_.most, limit_ + options_.increase / limit_);
    }
  }

 private:
  void decrease(const AttemptEnd& end) {
    if (end.admitted_at < decreased_at_) return;
    decreased_at_ = end.now;
    limit_ = std::max(options_.least, limit_ * options_.backoff);
  }

  AimdOptions options_;
  PolicyNeeds needs_{.signals = {Signal::kInFlight}, .outcomes = true};
  double limit_;
  Instant decreased_at_;
  ServiceModel model_;
};

double read_requests(ConfigReader& parameters, std::string_view key, double fallback, double min,
                     std::string_view doc) {
  return parameters.number(
      key, {.fallback = fallback, .min = min, .max = 1e9, .unit = "requests", .doc = doc});
}

}  // namespace

const PolicyCard& aimd_card() {
  static constexpr std::array<ParameterNote, 8> kParameters = {{
      {"measure", "default", "as long as nobody has a service estimate"},
      {"target_ms", "default", "to be set below the SLO's TTFT"},
      {"increase", "paper", "one for each time around, as TCP"},
      {"backoff", "field", "0.9 in Netflix's concurrency-limits; TCP halves"},
      {"initial", "field", "20 in Netflix's concurrency-limits"},
      {"least", "default", "the door never closes"},
      {"most", "default", "out of the way"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "aimd",
      .summary = "a limit on requests in flight that grows slowly and shrinks on late outcomes",
      .slo_awareness = "deadline",
      .signal_structure = "scalar",
      .inspired_by = "Chiu and Jain 1989; Netflix concurrency-limits",
      .preserved = "additive increase, multiplicative decrease; no growth while half is unused",
      .dropped = "Netflix's one for each outcome: that doubles the limit each time around",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_aimd(ConfigReader& parameters) {
  AimdOptions options;
  options.measure =
      parameters.choice("measure", {"ttft", "queueing"}, "ttft",
                        "what is held against the target: the time to the first "
                        "token, or what of it is more than the prompt takes alone") == "ttft"
          ? LatencyMeasure::kTtft
          : LatencyMeasure::kQueueing;
  options.target_s =
      1e-3 * parameters.number("target_ms", {.fallback = options.target_s * 1e3,
                                             .min = 0,
                                             .max = 1e9,
                                             .above_min = true,
                                             .unit = "ms",
                                             .doc = "an outcome that took longer is late"});
  options.increase = read_requests(parameters, "increase", options.increase, 0,
                                   "by which the limit grows when all of it went well");
  options.backoff = parameters.number("backoff", {.fallback = options.backoff,
                                                  .min = 0,
                                                  .max = 1,
                                                  .above_min = true,
                                                  .doc = "factor of the limit at a late outcome"});
  options.initial =
      read_requests(parameters, "initial", options.initial, 1, "the limit at the start");
  options.least = read_requests(parameters, "least", options.least, 1, "the least limit");
  options.most = read_requests(parameters, "most", options.most, 1, "the greatest limit");
  options.defers = read_defers(parameters);
  if (options.initial < options.least || options.initial > options.most) {
    parameters.fail("initial", "expected between least and most");
  }
  return [options](const PolicySetting&) { return std::make_unique<Aimd>(options); };
}

}  // namespace inferscale

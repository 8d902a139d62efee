#include "admission/policies/probabilistic_shed.h"

#include <algorithm>
#include <array>

namespace inferscale {
namespace {

class ProbabilisticShed final : public AdmissionPolicy {
 public:
  ProbabilisticShed(const ProbabilisticShedOptions& options, std::uint64_t seed)
      : options_(options), seed_(seed) {
    if (options.signal) needs_.signals.add(*options.signal);
  }

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    if (policy_draw(seed_, "probabilistic_shed", request) >= probability(pool)) {
      return Decision::admit();
    }
    return Decision::reject(Reason::kShed);
  }

 private:
  double probability(const PoolView& pool) const {
    if (!options_.signal) return options_.probability;
    const Reading reading = pool.read(*options_.signal);
    if (!reading.is_known()) return 0;
    const double part = (reading.value - options_.low) / (options_.high - options_.low);
    return options_.probability * std::clamp(part, 0.0, 1.0);
  }

  ProbabilisticShedOptions options_;
  std::uint64_t seed_;
  PolicyNeeds needs_;
};

void read_slope(ConfigReader& parameters, ProbabilisticShedOptions& options) {
  const std::optional<std::string> name = parameters.optional_text(
      "signal", "that the probability grows with; null: the probability is fixed");
  const std::optional<double> low =
      parameters.optional_number("low", {.doc = "value of the signal up to which nobody is shed"});
  const std::optional<double> high = parameters.optional_number(
      "high", {.doc = "value of the signal from which on `probability` are shed"});
  if (!name) {
    constexpr std::string_view kFixed =
        "expected no slope without `signal`: without one the "
        "probability is fixed";
    if (low) parameters.fail("low", kFixed);
    if (high) parameters.fail("high", kFixed);
    return;
  }
  options.signal = signal_of(*name);
  if (!options.signal) {
    parameters.fail("signal", "expected the name of a signal (`inferscale signals`)");
  }
  if (!low) parameters.fail("low", "expected a number: where shedding begins");
  if (!high) parameters.fail("high", "expected a number: from where on `probability` are shed");
  if (low && high && *low >= *high) parameters.fail("high", "expected a number above `low`");
  options.low = low.value_or(options.low);
  options.high = high.value_or(options.high);
}

}  // namespace

const PolicyCard& probabilistic_shed_card() {
  static constexpr std::array<ParameterNote, 4> kParameters = {{
      {"probability", "default", "to be found by measurement"},
      {"signal", "default", "none: the probability is fixed"},
      {"low", "default", "to be given with a signal"},
      {"high", "default", "to be given with a signal"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "probabilistic_shed",
      .summary = "rejects at random, with a probability that is fixed or grows with a signal",
      .slo_awareness = "none",
      .signal_structure = "scalar",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_probabilistic_shed(ConfigReader& parameters) {
  ProbabilisticShedOptions options;
  options.probability =
      parameters.number("probability", {.fallback = options.probability,
                                        .min = 0,
                                        .max = 1,
                                        .unit = "fraction",
                                        .doc = "of attempts that are rejected; with a signal, at "
                                               "`high` and above"});
  read_slope(parameters, options);
  return [options](const PolicySetting& setting) {
    return std::make_unique<ProbabilisticShed>(options, setting.seed);
  };
}

}  // namespace inferscale

#include "admission/policies/dual_gate.h"

#include <array>

#include "admission/policies/limit_scope.h"

namespace inferscale {
namespace {

class DualGate final : public AdmissionPolicy {
 public:
  explicit DualGate(const DualGateOptions& options) : options_(options) {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView&, const PoolView& pool) override {
    const Reading used = pool.read(Signal::kKvUsedFraction);
    if (!used.is_known() || used.value < options_.threshold) return Decision::admit();
    const Reading hits = pool.read(Signal::kPrefixHitRate);
    if (!hits.is_known() || hits.value >= options_.min_hit_rate) return Decision::admit();
    return refuse(options_.defers, Reason::kKvPressure);
  }

 private:
  DualGateOptions options_;
  PolicyNeeds needs_{.signals = {Signal::kKvUsedFraction, Signal::kPrefixHitRate}};
};

}  // namespace

const PolicyCard& dual_gate_card() {
  static constexpr std::array<ParameterNote, 3> kParameters = {{
      {"threshold", "field", "AdmitPerf's dual_gate"},
      {"min_hit_rate", "paper", "the hit rate below which CONCUR shrinks its window"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "dual_gate",
      .summary = "refuses while the KV cache is nearly full and few prefixes are found in it",
      .slo_awareness = "none",
      .signal_structure = "conjunction",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_dual_gate(ConfigReader& parameters) {
  DualGateOptions options;
  options.threshold = parameters.number(
      "threshold", {.fallback = options.threshold,
                    .min = 0,
                    .max = 1,
                    .above_min = true,
                    .unit = "fraction",
                    .doc = "part of the KV cache in use from which on it may refuse"});
  options.min_hit_rate = parameters.number(
      "min_hit_rate", {.fallback = options.min_hit_rate,
                       .min = 0,
                       .max = 1,
                       .above_min = true,
                       .unit = "fraction",
                       .doc = "part of prompt tokens found in the prefix cache; refuses below it"});
  options.defers = read_defers(parameters);
  return [options](const PolicySetting&) { return std::make_unique<DualGate>(options); };
}

}  // namespace inferscale

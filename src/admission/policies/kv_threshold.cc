#include "admission/policies/kv_threshold.h"

#include <array>

#include "admission/policies/limit_scope.h"

namespace inferscale {
namespace {

class KvThreshold final : public AdmissionPolicy {
 public:
  explicit KvThreshold(const KvThresholdOptions& options) : options_(options) {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView&, const PoolView& pool) override {
    const Reading used = pool.read(Signal::kKvUsedFraction);
    if (!used.is_known() || used.value < options_.threshold) return Decision::admit();
    return refuse(options_.defers, Reason::kKvPressure);
  }

  std::optional<SignalThreshold> threshold() const override {
    return SignalThreshold{.signal = Signal::kKvUsedFraction, .value = options_.threshold};
  }

 private:
  KvThresholdOptions options_;
  PolicyNeeds needs_{.signals = {Signal::kKvUsedFraction}};
};

}  // namespace

const PolicyCard& kv_threshold_card() {
  static constexpr std::array<ParameterNote, 2> kParameters = {{
      {"threshold", "field", "AdmitPerf's kv_threshold"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "kv_threshold",
      .summary = "refuses while a part of `threshold` or more of the KV cache is in use",
      .slo_awareness = "none",
      .signal_structure = "scalar",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_kv_threshold(ConfigReader& parameters) {
  KvThresholdOptions options;
  options.threshold = parameters.number(
      "threshold", {.fallback = options.threshold,
                    .min = 0,
                    .max = 1,
                    .above_min = true,
                    .unit = "fraction",
                    .doc = "part of the KV cache in use from which on it refuses"});
  options.defers = read_defers(parameters);
  return [options](const PolicySetting&) { return std::make_unique<KvThreshold>(options); };
}

}  // namespace inferscale

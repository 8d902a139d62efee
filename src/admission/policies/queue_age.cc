#include "admission/policies/queue_age.h"

#include <array>

#include "admission/policies/limit_scope.h"

namespace inferscale {
namespace {

class QueueAge final : public AdmissionPolicy {
 public:
  explicit QueueAge(const QueueAgeOptions& options) : options_(options) {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView&, const PoolView& pool) override {
    const Reading age = pool.read(Signal::kQueueAgeS);
    if (!age.is_known() || age.value <= options_.max_age_s) return Decision::admit();
    return refuse(options_.defers, Reason::kQueueAge);
  }

  std::optional<SignalThreshold> threshold() const override {
    return SignalThreshold{.signal = Signal::kQueueAgeS, .value = options_.max_age_s};
  }

 private:
  QueueAgeOptions options_;
  PolicyNeeds needs_{.signals = {Signal::kQueueAgeS}};
};

}  // namespace

const PolicyCard& queue_age_card() {
  static constexpr std::array<ParameterNote, 2> kParameters = {{
      {"max_age_s", "default", "to be set to the TTFT target less an unloaded prefill"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "queue_age",
      .summary = "refuses while the oldest request without a first token is older than max_age_s",
      .slo_awareness = "none",
      .signal_structure = "scalar",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_queue_age(ConfigReader& parameters) {
  QueueAgeOptions options;
  options.max_age_s = parameters.number(
      "max_age_s", {.fallback = options.max_age_s,
                    .min = 0,
                    .unit = "s",
                    .doc = "age of the oldest request without a first token; refuses above it"});
  options.defers = read_defers(parameters);
  return [options](const PolicySetting&) { return std::make_unique<QueueAge>(options); };
}

}  // namespace inferscale

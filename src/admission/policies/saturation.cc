#include "admission/policies/saturation.h"

#include <algorithm>
#include <array>

namespace inferscale {
namespace {

class Saturation final : public AdmissionPolicy {
 public:
  explicit Saturation(const SaturationOptions& options) : options_(options) {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    if (request.priority >= options_.shed_below_priority || saturation(pool) < 1) {
      return Decision::admit();
    }
    return Decision::reject(Reason::kSaturated);
  }

 private:
  double saturation(const PoolView& pool) const {
    const std::uint32_t replicas = pool.replicas();
    if (replicas == 0) return 1;
    double sum = 0;
    for (std::uint32_t replica = 0; replica < replicas; ++replica) {
      sum += of_replica(pool, replica);
    }
    return sum / replicas;
  }

  double of_replica(const PoolView& pool, std::uint32_t replica) const {
    const Reading queue = pool.read_replica(Signal::kQueueDepth, replica);
    const Reading used = pool.read_replica(Signal::kKvUsedFraction, replica);
    if (!queue.is_known() || !used.is_known()) return 1;
    return std::max(queue.value / options_.queue_threshold, used.value / options_.kv_threshold);
  }

  SaturationOptions options_;
  PolicyNeeds needs_{.signals = {Signal::kQueueDepth, Signal::kKvUsedFraction}};
};

}  // namespace

const PolicyCard& saturation_card() {
  static constexpr std::array<ParameterNote, 3> kParameters = {{
      {"queue_threshold", "field", "llm-d and the Gateway API Inference Extension"},
      {"kv_threshold", "field", "llm-d and the Gateway API Inference Extension"},
      {"shed_below_priority", "field", "negative priorities are sheddable there"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "saturation",
      .summary = "rejects low priorities while queues and KV caches are saturated on average",
      .slo_awareness = "none",
      .signal_structure = "composite",
      .inspired_by = "the saturation gate of llm-d (Gateway API Inference Extension)",
      .preserved = "the formula, its thresholds, whom it sheds, and unknown as saturated",
      .dropped = "its age limit of 200 ms: the age from which a reading is unknown is the door's",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_saturation(ConfigReader& parameters) {
  SaturationOptions options;
  options.queue_threshold =
      parameters.number("queue_threshold", {.fallback = options.queue_threshold,
                                            .min = 0,
                                            .above_min = true,
                                            .unit = "requests",
                                            .doc = "waiting in a replica that is saturated"});
  options.kv_threshold =
      parameters.number("kv_threshold", {.fallback = options.kv_threshold,
                                         .min = 0,
                                         .max = 1,
                                         .above_min = true,
                                         .unit = "fraction",
                                         .doc = "KV cache in use in a replica that is saturated"});
  options.shed_below_priority = parameters.integer(
      "shed_below_priority", {.fallback = options.shed_below_priority,
                              .doc = "requests of a lower priority are rejected at saturation"});
  return [options](const PolicySetting&) { return std::make_unique<Saturation>(options); };
}

}  // namespace inferscale

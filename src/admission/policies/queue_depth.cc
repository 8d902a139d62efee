#include "admission/policies/queue_depth.h"

#include <algorithm>
#include <array>

#include "admission/policies/limit_scope.h"

namespace inferscale {
namespace {

class QueueDepth final : public AdmissionPolicy {
 public:
  explicit QueueDepth(const QueueDepthOptions& options) : options_(options) {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView&, const PoolView& pool) override {
    const Reading waiting = pool.read(Signal::kQueueDepth);
    if (!waiting.is_known()) return Decision::admit();
    const double queues = options_.of_each_replica ? std::max(pool.replicas(), 1U) : 1;
    if (waiting.value <= static_cast<double>(options_.max_waiting) * queues) {
      return Decision::admit();
    }
    return refuse(options_.defers, Reason::kQueueDepth);
  }

  std::optional<SignalThreshold> threshold() const override {
    if (options_.of_each_replica) return std::nullopt;
    return SignalThreshold{.signal = Signal::kQueueDepth,
                           .value = static_cast<double>(options_.max_waiting)};
  }

 private:
  QueueDepthOptions options_;
  PolicyNeeds needs_{.signals = {Signal::kQueueDepth}};
};

}  // namespace

const PolicyCard& queue_depth_card() {
  static constexpr std::array<ParameterNote, 3> kParameters = {{
      {"max_waiting", "field", "AdmitPerf's queue_depth; to be derived from the SLO"},
      {"each", "default", "one limit for the pool"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "queue_depth",
      .summary = "refuses while more than max_waiting requests wait in the engines",
      .slo_awareness = "none",
      .signal_structure = "scalar",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_queue_depth(ConfigReader& parameters) {
  QueueDepthOptions options;
  options.max_waiting = parameters.integer(
      "max_waiting", {.fallback = options.max_waiting,
                      .min = 0,
                      .max = 1'000'000'000,
                      .unit = "requests",
                      .doc = "that may wait in the engines; refuses while there are more"});
  options.of_each_replica =
      parameters.choice("each", {"pool", "replica"}, "pool",
                        "max_waiting is for the whole pool, or for each replica on average") ==
      "replica";
  options.defers = read_defers(parameters);
  return [options](const PolicySetting&) { return std::make_unique<QueueDepth>(options); };
}

}  // namespace inferscale

#include "admission/policies/fixed_concurrency.h"

#include <array>

namespace inferscale {
namespace {

struct Count {
  Signal signal;
  Reason reason;
};

Count count_of(LimitScope scope) {
  switch (scope) {
    case LimitScope::kTenant:
      return {Signal::kTenantInFlight, Reason::kTenantShare};
    case LimitScope::kSession:
      return {Signal::kSessionInFlight, Reason::kSessionInFlight};
    case LimitScope::kPool:
      break;
  }
  return {Signal::kInFlight, Reason::kConcurrency};
}

class FixedConcurrency final : public AdmissionPolicy {
 public:
  explicit FixedConcurrency(const FixedConcurrencyOptions& options)
      : options_(options),
        count_(count_of(options.per)),
        needs_{.signals = {count_.signal}, .request = needs_of(options.per)} {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView&, const PoolView& pool) override {
    const Reading in_flight = pool.read(count_.signal);
    if (!in_flight.is_known() || in_flight.value < static_cast<double>(options_.limit)) {
      return Decision::admit();
    }
    return refuse(options_.defers, count_.reason);
  }

  std::optional<double> limit() const override {
    if (options_.per != LimitScope::kPool) return std::nullopt;
    return static_cast<double>(options_.limit);
  }

  std::optional<SignalThreshold> threshold() const override {
    if (options_.per != LimitScope::kPool) return std::nullopt;
    return SignalThreshold{.signal = Signal::kInFlight,
                           .value = static_cast<double>(options_.limit)};
  }

 private:
  FixedConcurrencyOptions options_;
  Count count_;
  PolicyNeeds needs_;
};

}  // namespace

const PolicyCard& fixed_concurrency_card() {
  static constexpr std::array<ParameterNote, 3> kParameters = {{
      {"limit", "default", "max_num_seqs of one engine; to be found by measurement"},
      {"per", "default", "one limit for the pool"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "fixed_concurrency",
      .summary = "admits while fewer than `limit` requests are in flight",
      .slo_awareness = "none",
      .signal_structure = "scalar",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_fixed_concurrency(ConfigReader& parameters) {
  FixedConcurrencyOptions options;
  options.limit = parameters.integer("limit", {.fallback = options.limit,
                                               .min = 1,
                                               .max = 1'000'000'000,
                                               .unit = "requests",
                                               .doc = "in flight at once"});
  options.per = read_limit_scope(parameters, options.per, "requests in flight");
  options.defers = read_defers(parameters);
  return [options](const PolicySetting&) { return std::make_unique<FixedConcurrency>(options); };
}

}  // namespace inferscale

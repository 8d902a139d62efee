#include "admission/policies/token_budget.h"

#include <array>

#include "admission/policies/limit_scope.h"

namespace inferscale {
namespace {

class TokenBudget final : public AdmissionPolicy {
 public:
  explicit TokenBudget(const TokenBudgetOptions& options) : options_(options) {
    needs_.service_model = !options.budget.has_value();
  }

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    const std::optional<double> budget = budget_of(pool);
    const Reading in_flight = pool.read(Signal::kTokensInFlight);
    if (!budget || !in_flight.is_known()) return Decision::admit();
    const auto own = static_cast<double>(request.tokens());
    if (in_flight.value + own <= *budget) return Decision::admit();
    const bool fits_alone = own <= *budget;
    return refuse(options_.defers && fits_alone, Reason::kTokenBudget);
  }

 private:
  std::optional<double> budget_of(const PoolView& pool) const {
    if (options_.budget) return options_.budget;
    const ServiceModel& service = pool.service();
    if (service.kv_capacity_tokens == 0) return std::nullopt;
    return options_.share * static_cast<double>(service.kv_capacity_tokens) *
           static_cast<double>(service.replicas);
  }

  TokenBudgetOptions options_;
  PolicyNeeds needs_{.signals = {Signal::kTokensInFlight}, .request = {.predicted_output = true}};
};

}  // namespace

const PolicyCard& token_budget_card() {
  static constexpr std::array<ParameterNote, 3> kParameters = {{
      {"budget", "derived", "of the KV capacity in the service model"},
      {"share", "default", "all of the KV cache"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "token_budget",
      .summary = "admits while prompt and predicted output tokens in flight fit a budget",
      .slo_awareness = "none",
      .signal_structure = "bound",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_token_budget(ConfigReader& parameters) {
  TokenBudgetOptions options;
  options.budget = parameters.optional_number(
      "budget", {.min = 0,
                 .above_min = true,
                 .unit = "tokens",
                 .doc = "of all requests in flight; null: share of the pool's KV capacity"});
  const std::optional<double> share = parameters.optional_number(
      "share", {.min = 0,
                .above_min = true,
                .unit = "fraction",
                .doc = "of the pool's KV capacity, where budget is null; null: all of it"});
  if (options.budget && share) {
    parameters.fail("share", "expected no share beside `budget`, which counts alone");
  }
  options.share = share.value_or(options.share);
  options.defers = read_defers(parameters);
  return [options](const PolicySetting&) { return std::make_unique<TokenBudget>(options); };
}

}  // namespace inferscale

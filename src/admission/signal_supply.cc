#include "admission/signal_supply.h"

#include <array>

namespace inferscale {
namespace {

Result<void> lacks(std::string_view policy, std::string_view what, std::string_view source) {
  return fail(ErrorCode::kInvalidConfig, "policy " + std::string(policy) + " needs " +
                                             std::string(what) + ", which " + std::string(source) +
                                             " does not supply");
}

}  // namespace

Result<void> check_supply(std::string_view policy, const PolicyNeeds& needs,
                          const SignalSupply& supply) {
  const SignalSet there = supply.signals | ledger_signals();
  for (const SignalSpec& spec : all_signals()) {
    if (!needs.signals.has(spec.signal) || there.has(spec.signal)) continue;
    return lacks(policy, "the signal " + std::string(spec.name), supply.source);
  }
  if (needs.service_model && !supply.service_model) {
    return lacks(policy, "a service model (calibrated, or of the catalogue)", supply.source);
  }
  if (needs.outcomes && !supply.outcomes) {
    return lacks(policy, "the outcomes of what it admitted", supply.source);
  }
  struct Field {
    bool RequestNeeds::* field;
    std::string_view what;
  };
  constexpr std::array<Field, 6> kFields = {{
      {&RequestNeeds::tenant, "the tenant of a request"},
      {&RequestNeeds::session, "the session of a request"},
      {&RequestNeeds::deadline, "a deadline for the first token (slo.ttft_ms)"},
      {&RequestNeeds::itl_target, "a limit for token gaps (slo.itl_ms)"},
      {&RequestNeeds::predicted_output, "a predicted output length (predictor.output_tokens)"},
      {&RequestNeeds::true_output, "the true output length"},
  }};
  for (const Field& field : kFields) {
    if (needs.request.*field.field && !(supply.request.*field.field)) {
      return lacks(policy, field.what, supply.workload);
    }
  }
  return {};
}

}  // namespace inferscale

#include "core/decision_record.h"

namespace inferscale {

std::string_view decision_cause_name(DecisionCause cause) {
  switch (cause) {
    case DecisionCause::kArrival:
      return "arrival";
    case DecisionCause::kHeld:
      return "held";
    case DecisionCause::kRerouted:
      return "rerouted";
  }
  return "unknown";
}

std::optional<DecisionCause> decision_cause_of(std::string_view name) {
  for (const DecisionCause cause :
       {DecisionCause::kArrival, DecisionCause::kHeld, DecisionCause::kRerouted}) {
    if (decision_cause_name(cause) == name) return cause;
  }
  return std::nullopt;
}

std::string_view stale_rule_name(StaleRule rule) {
  switch (rule) {
    case StaleRule::kNone:
      return "none";
    case StaleRule::kLedgerFallback:
      return "ledger_fallback";
    case StaleRule::kOpen:
      return "open";
    case StaleRule::kClosed:
      return "closed";
    case StaleRule::kLastGood:
      return "last_good";
  }
  return "unknown";
}

std::optional<StaleRule> stale_rule_of(std::string_view name) {
  for (const StaleRule rule :
       {StaleRule::kLedgerFallback, StaleRule::kOpen, StaleRule::kClosed, StaleRule::kLastGood}) {
    if (stale_rule_name(rule) == name) return rule;
  }
  return std::nullopt;
}

}  // namespace inferscale

// What a rule may compare: a number, a signal of the pool, or a field of the request.
//
// A quantity is known or not. Unknown are: a signal without a reading; a signal of a tenant or a
// session where the request names none; a deadline or a prediction that the request does not carry;
// a limit or a reusable prefix that is not known (the view says 0 for these).

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "admission/policy.h"

namespace inferscale {

enum class RequestField : std::uint8_t {
  kPromptTokens,
  kTokens,
  kTokensToCompute,
  kMaxTokens,
  kPredictedOutputTokens,
  kReusableTokens,
  kReusableFraction,
  kSequences,
  kAttempt,
  kPriority,
  kSloClass,
  kHeldS,
  kDeadlineLeftS,
  kPredictedFirstTokenS,
};

inline constexpr std::size_t kRequestFieldCount =
    static_cast<std::size_t>(RequestField::kPredictedFirstTokenS) + 1;

std::string_view field_name(RequestField field);
std::string_view field_unit(RequestField field);
std::string_view field_meaning(RequestField field);
std::optional<RequestField> field_of(std::string_view name);

using Quantity = std::variant<double, Signal, RequestField>;

// A signal or a field of this name. Nothing when there is neither.
std::optional<Quantity> quantity_of(std::string_view name);
// Of a signal or a field; "" for a number, which takes any unit.
std::string_view unit_of(const Quantity& quantity);
// "kv_used_fraction", "0.9".
std::string text_of(const Quantity& quantity);
// Adds what reading the quantity needs.
void add_needs(const Quantity& quantity, PolicyNeeds& needs);
// Nothing when it is unknown. REQUIRES: the pool's policy declared what add_needs() says.
std::optional<double> value_of(const Quantity& quantity, const RequestView& request,
                               const PoolView& pool);

}  // namespace inferscale

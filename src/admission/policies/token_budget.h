// Admits while the tokens of all requests in flight fit a budget.
//
//   refuse  <=>  tokens_in_flight + prompt + predicted output > budget
//   budget  =    as written, or share x KV capacity of a replica x replicas
//
// Requests weigh what they will take of the KV cache, so a few long ones count as much as many
// short ones; and the door knows it before the engines do. A request that is more than the budget
// by itself is rejected, also where others are deferred. With a capacity that nobody knows, nobody
// is refused.

#pragma once

#include <optional>

#include "admission/registry.h"

namespace inferscale {

struct TokenBudgetOptions {
  std::optional<double> budget;
  double share = 1;
  bool defers = false;  // else it rejects
};

const PolicyCard& token_budget_card();
PolicyFactory read_token_budget(ConfigReader& parameters);

}  // namespace inferscale

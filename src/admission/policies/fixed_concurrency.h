// At most `limit` requests in flight.
//
//   refuse  <=>  in flight >= limit                  (of the pool, the tenant or the session)
//
// The oldest control there is, and exact: the door counts what it admitted, so no reading is old.
// What it can't know is how much a request weighs; token_budget does.

#pragma once

#include <cstdint>

#include "admission/policies/limit_scope.h"
#include "admission/registry.h"

namespace inferscale {

struct FixedConcurrencyOptions {
  std::int64_t limit = 256;
  LimitScope per = LimitScope::kPool;
  bool defers = false;  // else it rejects
};

const PolicyCard& fixed_concurrency_card();
PolicyFactory read_fixed_concurrency(ConfigReader& parameters);

}  // namespace inferscale

// How evenly the tenants of a run were served.
//
// Jain's index (jain.h) of three things, since a policy can be fair by one and not by another:
//
//   goodput   of each tenant, its requests that met the SLO / its requests
//   tokens    prompt and output tokens of its finished requests, over its weight
//   latency   the p95 of E2E of its finished requests; tenants without any are left out, so this
//             one alone is silent on whoever was never served
//
// Requests of nobody are left out.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/outcome.h"
#include "core/request.h"
#include "core/slo.h"
#include "core/slo_class.h"

namespace inferscale {

struct TenantFigures {
  std::uint32_t tenant = 0;  // index of its name
  std::int64_t requests = 0;
  std::int64_t finished = 0;
  std::int64_t met = 0;  // 0 without targets
  TokenCount served_tokens = 0;
  std::optional<double> e2e_p95_ms;  // of finished requests

  double goodput() const { return static_cast<double>(met) / static_cast<double>(requests); }
};

struct TenantFairness {
  std::vector<TenantFigures> tenants;  // that had a request, in order of index
  std::optional<double> goodput_jain;  // none without targets
  std::optional<double> tokens_jain;
  std::optional<double> latency_jain;
  std::int64_t without_latency = 0;  // tenants of whom nothing finished
};

// Of `requests` and the tenant of each (Request::kNobody: nobody's); an empty `tenant_of` gives
// nothing. `weights` by tenant; empty: all the same. `classes` are of the requests. REQUIRES:
// weights are above 0.
TenantFairness tenant_fairness(std::span<const Outcome> requests,
                               std::span<const std::uint32_t> tenant_of,
                               std::span<const double> weights, const Slo& slo,
                               const RequestClasses& classes = {});

}  // namespace inferscale

#include "metrics/admission_tenants.h"

#include <algorithm>

#include "base/check.h"
#include "metrics/jain.h"
#include "metrics/quantiles.h"

namespace inferscale {
namespace {

// Finished requests' latencies, by tenant; within one ascending.
struct TenantLatency {
  std::uint32_t tenant = 0;
  double e2e_ms = 0;
};

void fill_latencies(std::vector<TenantLatency>& latencies, TenantFairness& fairness) {
  std::sort(latencies.begin(), latencies.end(), [](const TenantLatency& a, const TenantLatency& b) {
    return a.tenant != b.tenant ? a.tenant < b.tenant : a.e2e_ms < b.e2e_ms;
  });
  auto first = latencies.begin();
  for (TenantFigures& tenant : fairness.tenants) {
    if (tenant.finished == 0) {
      ++fairness.without_latency;
      continue;
    }
    tenant.e2e_p95_ms = (first + (nearest_rank_of(0.95, tenant.finished) - 1))->e2e_ms;
    first += tenant.finished;
  }
}

// The tenants that had a request, by index.
std::vector<TenantFigures> counted(std::span<const Outcome> requests,
                                   std::span<const std::uint32_t> tenant_of, const Slo& common,
                                   const RequestClasses& classes,
                                   std::vector<TenantLatency>& latencies) {
  const bool judged = classes.any(common);
  std::vector<TenantFigures> all;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::uint32_t index = tenant_of[i];
    if (index == Request::kNobody) continue;
    if (index >= all.size()) all.resize(index + 1);
    TenantFigures& tenant = all[index];
    tenant.tenant = index;
    ++tenant.requests;
    if (judged && slo_met(classes.slo(i, common), requests[i])) ++tenant.met;
    if (!requests[i].finished()) continue;
    ++tenant.finished;
    tenant.served_tokens +=
        TokenCount{requests[i].prompt_tokens} + TokenCount{requests[i].output_tokens};
    latencies.push_back({index, requests[i].e2e().millis()});
  }
  std::erase_if(all, [](const TenantFigures& tenant) { return tenant.requests == 0; });
  return all;
}

}  // namespace

TenantFairness tenant_fairness(std::span<const Outcome> requests,
                               std::span<const std::uint32_t> tenant_of,
                               std::span<const double> weights, const Slo& slo,
                               const RequestClasses& classes) {
  if (tenant_of.empty()) return {};
  CHECK(tenant_of.size() >= requests.size()) << "requests without a tenant";
  std::vector<TenantLatency> latencies;
  TenantFairness fairness{.tenants = counted(requests, tenant_of, slo, classes, latencies)};
  fill_latencies(latencies, fairness);
  std::vector<double> goodput;
  std::vector<double> tokens;
  std::vector<double> latency;
  for (const TenantFigures& tenant : fairness.tenants) {
    goodput.push_back(tenant.goodput());
    const double weight = weights.empty() ? 1 : weights[tenant.tenant];
    tokens.push_back(static_cast<double>(tenant.served_tokens) / weight);
    if (tenant.e2e_p95_ms) latency.push_back(*tenant.e2e_p95_ms);
  }
  if (classes.any(slo)) fairness.goodput_jain = jain_index(goodput);
  fairness.tokens_jain = jain_index(tokens);
  fairness.latency_jain = jain_index(latency);
  return fairness;
}

}  // namespace inferscale

#include "core/slo.h"

namespace inferscale {

bool itl_met(const Slo& slo, const Outcome& outcome) {
  if (!slo.itl || outcome.output_tokens < 2) return true;
  if (slo.itl_rule == ItlRule::kMax) return outcome.itl_max <= *slo.itl;
  // The nearest-rank p95 of n gaps is the gap of rank ceil(0.95 n): it is within the limit exactly
  // when at most n - ceil(0.95 n) = floor(n / 20) gaps are longer.
  const std::uint32_t gaps = outcome.output_tokens - 1;
  return outcome.gaps_over_limit <= gaps / 20;
}

bool slo_met(const Slo& slo, const Outcome& outcome) {
  if (!outcome.finished()) return false;
  if (slo.ttft && outcome.ttft() > *slo.ttft) return false;
  if (slo.e2e && outcome.e2e() > *slo.e2e) return false;
  return itl_met(slo, outcome);
}

}  // namespace inferscale

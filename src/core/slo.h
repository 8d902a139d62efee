// The latency targets of a request (service-level objective).

#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "core/outcome.h"

namespace inferscale {

// How a request's own token gaps are held against the ITL limit.
enum class ItlRule : std::uint8_t {
  kP95,  // the nearest-rank p95 of its gaps is within the limit
  kMax,  // every gap is
};

// Targets that are not set are not judged.
struct Slo {
  std::optional<Duration> ttft;
  std::optional<Duration> itl;
  std::optional<Duration> e2e;
  ItlRule itl_rule = ItlRule::kP95;

  bool any() const { return ttft || itl || e2e; }
};

// Whether the token gaps alone met the limit. A single-token answer has no gap and meets it.
inline bool itl_met(const Slo& slo, const Outcome& outcome) {
  if (!slo.itl || outcome.output_tokens < 2) return true;
  if (slo.itl_rule == ItlRule::kMax) return outcome.itl_max <= *slo.itl;
  // The nearest-rank p95 of n gaps is the gap of rank ceil(0.95 n): it is within the limit exactly
  // when at most n - ceil(0.95 n) = floor(n / 20) gaps are longer.
  const std::uint32_t gaps = outcome.output_tokens - 1;
  return outcome.gaps_over_limit <= gaps / 20;
}

// Whether the request finished and met every target that is set. Refused and unfinished requests
// never do.
inline bool slo_met(const Slo& slo, const Outcome& outcome) {
  if (!outcome.finished()) return false;
  if (slo.ttft && outcome.ttft() > *slo.ttft) return false;
  if (slo.e2e && outcome.e2e() > *slo.e2e) return false;
  return itl_met(slo, outcome);
}

}  // namespace inferscale

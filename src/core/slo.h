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
bool itl_met(const Slo& slo, const Outcome& outcome);

// Whether the request finished and met every target that is set. Refused and unfinished requests
// never do.
bool slo_met(const Slo& slo, const Outcome& outcome);

}  // namespace inferscale

#include "workload/readers/session_clock.h"

namespace inferscale {

SessionClock::SessionClock(const TraceOptions& options, std::uint64_t run_seed) {
  if (!options.session_arrivals) return;
  process_ = make_arrivals(*options.session_arrivals, RandomStream(run_seed, "session_arrivals"));
}

std::optional<std::int64_t> SessionClock::later(std::int64_t ns, std::int64_t by_ns) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(ns, by_ns, &sum) || sum > kLatestArrival.ns()) return std::nullopt;
  return sum;
}

}  // namespace inferscale

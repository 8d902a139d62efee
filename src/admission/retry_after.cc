#include "admission/retry_after.h"

#include <algorithm>

#include "admission/policy.h"

namespace inferscale {

std::optional<Duration> predicted_wait(const Ledger& ledger, std::int64_t ahead,
                                       const ServiceModel& service) {
  const std::int64_t in_flight = ledger.in_flight();
  if (!service.is_known() || in_flight == 0) return std::nullopt;
  const auto all = static_cast<double>(in_flight);
  const auto replicas = static_cast<double>(std::max<std::int64_t>(service.replicas, 1));
  double running = std::max(all - static_cast<double>(ledger.waiting()), 1.0) / replicas;
  if (service.max_num_seqs > 0) {
    running = std::min(running, static_cast<double>(service.max_num_seqs));
  }
  const double output = static_cast<double>(ledger.output_tokens_in_flight()) / all;
  const double prompt =
      static_cast<double>(ledger.tokens_in_flight() - ledger.output_tokens_in_flight()) / all;
  const double served_ns =
      output * service.itl_ns(running) + service.prefill_ns(static_cast<TokenCount>(prompt));
  const double wait_ns = static_cast<double>(ahead + 1) * served_ns / (replicas * running);
  constexpr double kLongest = 1e18;  // 30 years: stays an instant of a run
  return Duration::nanos(static_cast<std::int64_t>(std::min(wait_ns, kLongest)));
}

Duration spread_wait(Duration wait, const RetryAfterLimits& options, std::uint64_t seed,
                     const RequestView& request) {
  const double draw = policy_draw(seed, "retry_after", request);
  const double factor = 1 + options.jitter * (2 * draw - 1);
  const double base = static_cast<double>(std::max(wait, options.least).ns());
  const auto told = Duration::nanos(static_cast<std::int64_t>(base * factor));
  return std::clamp(told, options.least, options.most);
}

}  // namespace inferscale

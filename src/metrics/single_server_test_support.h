// For tests: the single server with exponential arrivals and services (M/M/1), by Lindley's
// recursion, whose steady state is known: the time in the system is exponential with mean
// 1 / (1 - load) mean services.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/distributions.h"
#include "base/random.h"
#include "core/outcome.h"
#include "metrics/quantiles.h"

namespace inferscale {

class VectorStream final : public ValueStream {
 public:
  explicit VectorStream(std::vector<double> values) : values_(std::move(values)) {}
  std::size_t size_at_most() const override { return values_.size(); }
  void restart() override { next_ = 0; }
  std::span<const double> next() override {
    const std::size_t size = std::min<std::size_t>(7, values_.size() - next_);
    const std::span<const double> chunk(values_.data() + next_, size);
    next_ += size;
    return chunk;
  }
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  std::size_t next_ = 0;
};

// Finished requests, one token each, with a mean service of one second. The server is empty at
// first, or, with `from_steady_state`, as full as it is at any time.
inline std::vector<Outcome> single_server(double load, int requests, std::uint64_t seed,
                                          bool from_steady_state) {
  RandomStream random(seed, "single_server");
  double free_s = 0;
  if (from_steady_state && random.uniform() < load) free_s = draw_exponential(random) / (1 - load);
  double arrival_s = 0;
  std::vector<Outcome> outcomes(static_cast<std::size_t>(requests));
  for (Outcome& outcome : outcomes) {
    outcome.arrival = Instant() + Duration::from_seconds(arrival_s);
    const double start_s = std::max(arrival_s, free_s);
    free_s = start_s + draw_exponential(random);
    outcome.start = Instant() + Duration::from_seconds(start_s);
    outcome.finish = Instant() + Duration::from_seconds(free_s);
    outcome.first_token = outcome.finish;
    outcome.prompt_tokens = 1;
    outcome.output_tokens = 1;
    outcome.status = OutcomeStatus::kFinished;
    arrival_s += draw_exponential(random) / load;
  }
  return outcomes;
}

// Seconds in the system, in order of arrival.
inline std::vector<double> times_in_system(const std::vector<Outcome>& outcomes) {
  std::vector<double> seconds;
  for (const Outcome& outcome : outcomes) seconds.push_back(outcome.e2e().seconds());
  return seconds;
}

}  // namespace inferscale

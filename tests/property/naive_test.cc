// The replica against an independent sum of single-step costs (naive_engine.h).
//
// Bound. A replica keeps whole nanoseconds: each prefill step and each segment of decode steps ends
// on a rounded instant, which is off by at most 1 ns, and everything later inherits it until the
// replica is idle. So every timestamp is within R = prefill steps + segments nanoseconds of the
// naive one, plus what doubles lose (costs are products of a few doubles: relative 1e-12). A gap is
// a difference of two timestamps: 2 R. In the family `whole` nothing is rounded, and R is 0.
//
// A rounding may put an arrival on the other side of a step boundary, after which the two are
// different histories. Such scenarios are found by the naive engine (an arrival within R of a
// boundary at which it matters), left out and counted.

#include <gtest/gtest.h>

#include <cmath>

#include "property/naive_engine.h"
#include "property/replica_runs.h"
#include "property/scenario.h"

namespace inferscale {
namespace {

long double ns(Instant instant) {
  return static_cast<long double>(instant.ns());
}

class Comparison {
 public:
  Comparison(const Scenario& scenario, const ReplicaRun& real, const NaiveRun& naive,
             long double bound_ns)
      : scenario_(scenario), real_(real), naive_(naive), bound_ns_(bound_ns) {}

  void check() {
    for (size_t id = 0; id < real_.outcomes.size(); ++id) {
      SCOPED_TRACE("request " + std::to_string(id));
      check_request(scenario_.requests[id], real_.outcomes[id], naive_.outcomes[id]);
      if (testing::Test::HasFailure()) return;
    }
    check_usage();
  }

 private:
  void check_request(const Request& request, const Outcome& real, const NaiveOutcome& naive) {
    ASSERT_EQ(real.arrival, request.arrival);
    ASSERT_EQ(real.prompt_tokens, request.prompt_tokens);
    ASSERT_EQ(real.output_tokens, request.output_tokens);
    ASSERT_EQ(real.reason, naive.reason);
    if (real.reason != Reason::kNone) return;
    ASSERT_EQ(real.status, OutcomeStatus::kFinished);
    ASSERT_EQ(real.preemptions, naive.preemptions);
    ASSERT_EQ(real.output_tokens, naive.token_ns.size());
    near(real.start, naive.start_ns, "start");
    near(real.first_token, naive.token_ns.front(), "first token");
    near(real.finish, naive.token_ns.back(), "finish");
    check_gaps(itl_limit_of(scenario_.options, request), real, naive);
  }

  void near(Instant real, long double naive, const char* what) {
    ASSERT_LE(std::fabs(ns(real) - naive), bound_ns_)
        << what << ": " << real.ns() << " against " << static_cast<double>(naive);
  }

  void check_gaps(const std::optional<Duration>& itl_limit, const Outcome& real,
                  const NaiveOutcome& naive) {
    long double longest = 0;
    std::int64_t surely_over = 0;
    std::int64_t perhaps_over = 0;
    const bool limited = itl_limit.has_value();
    const long double limit = limited ? static_cast<long double>(itl_limit->ns()) : 0;
    for (size_t i = 1; i < naive.token_ns.size(); ++i) {
      const long double gap = naive.token_ns[i] - naive.token_ns[i - 1];
      longest = std::max(longest, gap);
      if (!limited) continue;
      if (gap > limit + 2 * bound_ns_) ++surely_over;
      if (gap > limit - 2 * bound_ns_) ++perhaps_over;
    }
    ASSERT_LE(std::fabs(static_cast<long double>(real.itl_max.ns()) - longest), 2 * bound_ns_);
    ASSERT_GE(real.gaps_over_limit, surely_over);
    ASSERT_LE(real.gaps_over_limit, perhaps_over);
  }

  void check_usage() {
    const ReplicaUsage& usage = real_.usage[0];
    EXPECT_EQ(usage.preemptions, naive_.preemptions);
    EXPECT_EQ(usage.recomputed_tokens, naive_.recomputed_tokens);
    EXPECT_EQ(usage.prefill_steps, naive_.prefill_steps);
    EXPECT_EQ(usage.decode_steps, naive_.decode_steps);
    EXPECT_EQ(usage.kv_blocks_peak, naive_.kv_blocks_peak);
    EXPECT_EQ(usage.running_peak, naive_.running_peak);
    // On which side of a boundary an arrival falls may count for the peak and for nothing else.
    if (naive_.near_arrivals == 0) {
      EXPECT_EQ(usage.queue_peak, naive_.queue_peak);
    }
    integral(usage.busy_ns, naive_.busy_ns, 1, "busy");
    integral(usage.sequence_ns, naive_.sequence_ns, naive_.running_peak, "sequences");
    integral(usage.kv_block_ns, naive_.kv_block_ns, naive_.kv_blocks_peak, "KV blocks");
  }

  // Each of the R roundings moves a boundary by at most 1 ns, and so an integral by `height`.
  void integral(double real, long double naive, std::int64_t height, const char* what) {
    const long double bound = bound_ns_ * static_cast<long double>(height) + 1e-9L * naive;
    EXPECT_LE(std::fabs(static_cast<long double>(real) - naive), bound) << what;
  }

  const Scenario& scenario_;
  const ReplicaRun& real_;
  const NaiveRun& naive_;
  long double bound_ns_;
};

struct Coverage {
  std::int64_t compared = 0;
  std::int64_t left_out = 0;
  std::int64_t preemptions = 0;
  std::int64_t refused = 0;
};

void compare(const Scenario& scenario, Coverage& coverage) {
  const ReplicaRun real = run_replica(ReplicaKind::kSegments, scenario);
  const bool exact = scenario.family == ScenarioFamily::kWhole;
  const long double roundings =
      static_cast<long double>(real.usage[0].prefill_steps + real.usage[0].segments);
  const long double bound = exact ? 0 : roundings + 1e-12L * ns(real.end);
  const NaiveRun naive =
      run_naive_engine(scenario.options, *scenario.latency, scenario.requests, bound);
  if (naive.close_calls > 0) {
    ++coverage.left_out;
    return;
  }
  Comparison(scenario, real, naive, bound).check();
  ++coverage.compared;
  coverage.preemptions += real.usage[0].preemptions;
  for (const Outcome& outcome : real.outcomes) {
    coverage.refused += outcome.status == OutcomeStatus::kRefused ? 1 : 0;
  }
}

TEST(NaiveEngine, AgreesWithTheReplicaToRounding) {
  const std::uint64_t count = trials(3000);
  Coverage coverage;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const Scenario scenario = make_scenario(seed);
    SCOPED_TRACE(scenario.describe());
    compare(scenario, coverage);
    if (HasFailure()) return;
  }
  RecordProperty("compared", std::to_string(coverage.compared));
  RecordProperty("left_out", std::to_string(coverage.left_out));
  RecordProperty("preemptions", std::to_string(coverage.preemptions));
  if (count < 3000) return;
  EXPECT_LE(coverage.left_out * 10, coverage.compared) << coverage.left_out << " left out";
  EXPECT_GE(coverage.preemptions, 5000);
  EXPECT_GE(coverage.refused, 5000);
}

}  // namespace
}  // namespace inferscale

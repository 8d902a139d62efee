// The replica that jumps from change to change against the one that takes every step: the same
// nanoseconds, field by field.
//
// Reports (outcomes, hand-overs, reservations) in their order, step counts, peaks, and the load at
// any instant are equal, to the last bit. Integrals
// of whole numbers (busy, sequences) are equal as well. The integral of held KV blocks is taken
// over the unrounded times of a segment, so it may differ by 1 ns for each block and segment. Gap
// quantiles agree to twice the histogram's stated error, since a jump counts unrounded gaps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/random.h"
#include "property/coverage.h"
#include "property/replica_runs.h"
#include "property/scenario.h"

namespace inferscale {
namespace {

void expect_same_reports(const ReplicaRun& jumps, const ReplicaRun& steps) {
  const std::size_t common = std::min(jumps.reports.size(), steps.reports.size());
  for (std::size_t i = 0; i < common; ++i) {
    ASSERT_TRUE(jumps.reports[i] == steps.reports[i])
        << "segments: " << jumps.reports[i].describe()
        << "\nstepwise: " << steps.reports[i].describe();
  }
  ASSERT_EQ(jumps.reports.size(), steps.reports.size());
}

void expect_same_usage(const ReplicaUsage& jumps, const ReplicaUsage& steps) {
  EXPECT_EQ(jumps.busy_ns, steps.busy_ns);
  EXPECT_EQ(jumps.sequence_ns, steps.sequence_ns);
  const double bound = static_cast<double>(jumps.segments * jumps.kv_blocks_peak);
  EXPECT_NEAR(jumps.kv_block_ns, steps.kv_block_ns, bound + 1e-9 * steps.kv_block_ns);
  EXPECT_EQ(jumps.kv_blocks_peak, steps.kv_blocks_peak);
  EXPECT_EQ(jumps.running_peak, steps.running_peak);
  EXPECT_EQ(jumps.queue_peak, steps.queue_peak);
  EXPECT_EQ(jumps.preemptions, steps.preemptions);
  EXPECT_EQ(jumps.recomputed_tokens, steps.recomputed_tokens);
  EXPECT_EQ(jumps.prompt_tokens_looked_up, steps.prompt_tokens_looked_up);
  EXPECT_EQ(jumps.prompt_tokens_cached, steps.prompt_tokens_cached);
  EXPECT_EQ(jumps.prefill_steps, steps.prefill_steps);
  EXPECT_EQ(jumps.decode_steps, steps.decode_steps);
  EXPECT_EQ(jumps.segments, steps.segments);
}

void expect_same_gaps(const DurationHistogram& jumps, const DurationHistogram& steps) {
  ASSERT_EQ(jumps.total(), steps.total());
  if (steps.total() == 0) return;
  EXPECT_NEAR(jumps.mean_ns(), steps.mean_ns(), 1 + 1e-9 * steps.mean_ns());
  EXPECT_NEAR(static_cast<double>(jumps.max().ns()), static_cast<double>(steps.max().ns()), 1);
  for (const double q : {0.01, 0.5, 0.9, 0.95, 0.99, 1.0}) {
    const auto exact = static_cast<double>(steps.quantile(q).ns());
    EXPECT_NEAR(static_cast<double>(jumps.quantile(q).ns()), exact,
                1 + 2 * DurationHistogram::kRelativeError * exact)
        << "quantile " << q;
  }
}

void expect_same_loads(const ReplicaRun& jumps, const ReplicaRun& steps,
                       const std::vector<Instant>& instants) {
  ASSERT_EQ(jumps.loads.size(), steps.loads.size());
  const std::size_t replicas = jumps.usage.size();
  for (size_t i = 0; i < jumps.loads.size(); ++i) {
    const ReplicaLoad& a = jumps.loads[i];
    const ReplicaLoad& b = steps.loads[i];
    const std::string where = "replica " + std::to_string(i % replicas) + " at " +
                              std::to_string(instants[i / replicas].ns()) + " ns";
    ASSERT_EQ(a.queue_depth, b.queue_depth) << where;
    ASSERT_EQ(a.running, b.running) << where;
    ASSERT_EQ(a.kv_blocks_held, b.kv_blocks_held) << where;
    ASSERT_EQ(a.tokens_in_flight, b.tokens_in_flight) << where;
  }
}

// Instants at which a mistake would show: at boundaries, just before, and anywhere.
std::vector<Instant> interesting_instants(const ReplicaRun& steps, RandomStream& random) {
  std::vector<Instant> instants;
  for (int i = 0; i < 40 && !steps.wakes.empty(); ++i) {
    const Instant wake = steps.wakes[random.below(steps.wakes.size())];
    instants.push_back(wake);
    if (wake > Instant()) instants.push_back(wake - Duration::nanos(1));
    const auto end = static_cast<std::uint64_t>(steps.end.ns()) + 1;
    instants.push_back(Instant::nanos(static_cast<std::int64_t>(random.below(end))));
  }
  std::sort(instants.begin(), instants.end());
  return instants;
}

// Adds requests that arrive at the very instant of a step boundary, or a nanosecond beside it. Each
// one comes later than the last, so the boundaries that the earlier ones hit stay where they are.
void pin_arrivals_to_boundaries(Scenario& scenario, RandomStream& random) {
  Instant last;
  for (int round = 0; round < 4; ++round) {
    const ReplicaRun run = run_replica(ReplicaKind::kStepwise, scenario);
    const auto after = std::upper_bound(run.wakes.begin(), run.wakes.end(), last);
    const auto choices = static_cast<std::uint64_t>(run.wakes.end() - after);
    if (choices == 0) return;
    // Among the next half, so that later rounds have boundaries left.
    last = after[static_cast<std::ptrdiff_t>(random.below(choices / 2 + 1))];
    Request added = scenario.requests[random.below(scenario.requests.size())];
    const Duration beside = Duration::nanos(static_cast<std::int64_t>(random.below(4)) - 1);
    added.arrival = beside.ns() == 2 ? last : std::max(Instant(), last + beside);
    const auto place =
        std::upper_bound(scenario.requests.begin(), scenario.requests.end(), added,
                         [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
    scenario.requests.insert(place, added);
    for (size_t id = 0; id < scenario.requests.size(); ++id) {
      scenario.requests[id].id = static_cast<RequestId>(id);
    }
  }
}

// Breakdowns at boundaries, just beside them, and anywhere; two at one instant too.
void add_failures(Scenario& scenario, RandomStream& random) {
  const ReplicaRun run = run_replica(ReplicaKind::kStepwise, scenario);
  for (std::uint64_t i = random.below(4); i > 0 && !run.wakes.empty(); --i) {
    const Duration beside = Duration::nanos(static_cast<std::int64_t>(random.below(4)) - 1);
    Instant at = run.wakes[random.below(run.wakes.size())];
    if (beside.ns() < 2) at = std::max(Instant(), at + beside);
    scenario.failures.push_back(
        {.at = at, .replica = random.below(2), .retries = random.below(2) == 0});
  }
  std::sort(scenario.failures.begin(), scenario.failures.end(),
            [](const Failure& a, const Failure& b) { return a.at < b.at; });
}

void compare(Scenario& scenario, Coverage& coverage) {
  RandomStream random(scenario.seed, "segments test");
  if (random.below(2) == 0) pin_arrivals_to_boundaries(scenario, random);
  if (random.below(4) == 0) add_failures(scenario, random);
  if (RandomStream(scenario.seed, "callers who go").below(3) == 0) {
    const ReplicaRun run = run_replica(ReplicaKind::kStepwise, scenario);
    add_cancellations(scenario, {run.outcomes, run.wakes, run.end});
  }
  const std::vector<Instant> instants =
      interesting_instants(run_replica(ReplicaKind::kStepwise, scenario), random);
  const ReplicaRun steps = run_replica(ReplicaKind::kStepwise, scenario, instants);
  const ReplicaRun jumps = run_replica(ReplicaKind::kSegments, scenario, instants);
  EXPECT_EQ(jumps.broken, "");
  EXPECT_EQ(steps.broken, "");
  expect_same_reports(jumps, steps);
  EXPECT_EQ(jumps.end.ns(), steps.end.ns());
  for (std::size_t i = 0; i < jumps.usage.size(); ++i) {
    SCOPED_TRACE("replica " + std::to_string(i));
    expect_same_usage(jumps.usage[i], steps.usage[i]);
  }
  expect_same_gaps(*jumps.gaps, *steps.gaps);
  expect_same_loads(jumps, steps, instants);
  coverage.count(scenario, jumps, steps);
}

TEST(Segments, JumpsAndSingleStepsGiveTheSameNanosecond) {
  constexpr std::uint64_t kDefaultTrials = 1200;
  const std::uint64_t count = trials(kDefaultTrials);
  Coverage coverage;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    Scenario scenario = seed % 4 == 0 ? make_scenario(seed) : make_full_scenario(seed);
    SCOPED_TRACE(scenario.describe());
    compare(scenario, coverage);
    if (HasFailure()) return;
  }
  for (const auto& [name, value] : coverage.all()) RecordProperty(name, std::to_string(value));
  if (count >= kDefaultTrials) coverage.expect_enough(static_cast<std::int64_t>(count));
}

}  // namespace
}  // namespace inferscale

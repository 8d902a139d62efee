// The replica that jumps from change to change against the one that takes every step: the same
// nanoseconds, field by field.
//
// Outcomes, step counts, peaks, and the load at any instant are equal, to the last bit. Integrals
// of whole numbers (busy, sequences) are equal as well. The integral of held KV blocks is taken
// over the unrounded times of a segment, so it may differ by 1 ns for each block and segment. Gap
// quantiles agree to twice the histogram's stated error, since a jump counts unrounded gaps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/random.h"
#include "property/replica_runs.h"
#include "property/scenario.h"

namespace inferscale {
namespace {

struct Coverage {
  std::int64_t preemptions = 0;
  std::int64_t refused[4] = {};
  std::int64_t gaps_over = 0;
  std::int64_t kinks = 0;
  std::int64_t on_boundary = 0;   // arrivals at the very instant of a step boundary
  std::int64_t simultaneous = 0;  // arrivals at the instant of the one before
  std::int64_t steps = 0;
  std::int64_t segments = 0;
};

// Counts the decode steps costed whose line ends soon: these are near a kink.
class KinkCounter final : public LatencyModel {
 public:
  explicit KinkCounter(const LatencyModel& model) : model_(model) {}
  std::string_view name() const override { return model_.name(); }
  StepCost cost(const StepShape& shape) const override {
    const StepCost cost = model_.cost(shape);
    if (shape.decode_sequences > 0 && cost.valid_steps < 100) ++kinks_;
    return cost;
  }
  std::int64_t kinks() const { return kinks_; }

 private:
  const LatencyModel& model_;
  mutable std::int64_t kinks_ = 0;
};

void expect_same_outcomes(const ReplicaRun& jumps, const ReplicaRun& steps) {
  ASSERT_EQ(jumps.outcomes.size(), steps.outcomes.size());
  for (size_t id = 0; id < jumps.outcomes.size(); ++id) {
    const Outcome& a = jumps.outcomes[id];
    const Outcome& b = steps.outcomes[id];
    if (std::memcmp(&a, &b, sizeof(Outcome)) == 0) continue;
    // Said field by field only where they differ.
    EXPECT_EQ(a.status, b.status) << "request " << id;
    EXPECT_EQ(a.reason, b.reason) << "request " << id;
    EXPECT_EQ(a.start.ns(), b.start.ns()) << "start of request " << id;
    EXPECT_EQ(a.first_token.ns(), b.first_token.ns()) << "first token of request " << id;
    EXPECT_EQ(a.finish.ns(), b.finish.ns()) << "finish of request " << id;
    EXPECT_EQ(a.itl_max.ns(), b.itl_max.ns()) << "longest gap of request " << id;
    EXPECT_EQ(a.gaps_over_limit, b.gaps_over_limit) << "request " << id;
    EXPECT_EQ(a.preemptions, b.preemptions) << "request " << id;
    FAIL() << "request " << id << " differs";
  }
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
  for (size_t i = 0; i < instants.size(); ++i) {
    const ReplicaLoad& a = jumps.loads[i];
    const ReplicaLoad& b = steps.loads[i];
    ASSERT_EQ(a.queue_depth, b.queue_depth) << "at " << instants[i].ns() << " ns";
    ASSERT_EQ(a.running, b.running) << "at " << instants[i].ns() << " ns";
    ASSERT_EQ(a.kv_blocks_held, b.kv_blocks_held) << "at " << instants[i].ns() << " ns";
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

void count(const Scenario& scenario, const ReplicaRun& steps, Coverage& coverage) {
  coverage.preemptions += steps.usage.preemptions;
  coverage.steps += steps.usage.decode_steps;
  coverage.segments += steps.usage.segments;
  for (size_t id = 0; id < steps.outcomes.size(); ++id) {
    const Instant arrival = scenario.requests[id].arrival;
    ++coverage.refused[static_cast<size_t>(steps.outcomes[id].reason)];
    coverage.gaps_over += steps.outcomes[id].gaps_over_limit > 0 ? 1 : 0;
    coverage.simultaneous += id > 0 && scenario.requests[id - 1].arrival == arrival ? 1 : 0;
    // A wake-up at an arrival that starts there may be the start of an idle replica instead.
    const bool boundary = std::binary_search(steps.wakes.begin(), steps.wakes.end(), arrival);
    coverage.on_boundary += boundary && steps.outcomes[id].start > arrival ? 1 : 0;
  }
}

void compare(Scenario& scenario, Coverage& coverage) {
  RandomStream random(scenario.seed, "segments test");
  if (random.below(2) == 0) pin_arrivals_to_boundaries(scenario, random);
  const std::vector<Instant> instants =
      interesting_instants(run_replica(ReplicaKind::kStepwise, scenario), random);
  const ReplicaRun steps = run_replica(ReplicaKind::kStepwise, scenario, instants);
  auto counter = std::make_unique<KinkCounter>(*scenario.latency);
  std::unique_ptr<LatencyModel> plain = std::move(scenario.latency);
  const KinkCounter& kinks = *counter;
  scenario.latency = std::move(counter);
  const ReplicaRun jumps = run_replica(ReplicaKind::kSegments, scenario, instants);
  coverage.kinks += kinks.kinks();
  scenario.latency = std::move(plain);
  EXPECT_EQ(jumps.broken, "");
  EXPECT_EQ(steps.broken, "");
  EXPECT_EQ(jumps.end.ns(), steps.end.ns());
  expect_same_outcomes(jumps, steps);
  expect_same_usage(jumps.usage, steps.usage);
  expect_same_gaps(*jumps.gaps, *steps.gaps);
  expect_same_loads(jumps, steps, instants);
  count(scenario, steps, coverage);
}

// Random scenarios are worth something only if they get to the hard places.
void expect_coverage(const Coverage& coverage, std::uint64_t count) {
  const auto trials_run = static_cast<std::int64_t>(count);
  EXPECT_GE(coverage.preemptions, 2 * trials_run);
  EXPECT_GE(coverage.refused[static_cast<size_t>(RefusalReason::kExceedsKvCache)], trials_run / 2);
  EXPECT_GE(coverage.refused[static_cast<size_t>(RefusalReason::kExceedsModelLen)], trials_run / 2);
  EXPECT_GE(coverage.refused[static_cast<size_t>(RefusalReason::kQueueFull)], trials_run);
  EXPECT_GE(coverage.gaps_over, trials_run);
  EXPECT_GE(coverage.kinks, trials_run / 5);
  EXPECT_GE(coverage.on_boundary, trials_run / 2);
  EXPECT_GE(coverage.simultaneous, trials_run);
  EXPECT_GE(coverage.steps, 3 * coverage.segments);
}

TEST(Segments, JumpsAndSingleStepsGiveTheSameNanosecond) {
  constexpr std::uint64_t kDefaultTrials = 1500;
  const std::uint64_t count = trials(kDefaultTrials);
  Coverage coverage;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    Scenario scenario = make_scenario(seed);
    SCOPED_TRACE(scenario.describe());
    compare(scenario, coverage);
    if (HasFailure()) return;
  }
  RecordProperty("preemptions", std::to_string(coverage.preemptions));
  RecordProperty("kinks", std::to_string(coverage.kinks));
  RecordProperty("on_boundary", std::to_string(coverage.on_boundary));
  RecordProperty("simultaneous", std::to_string(coverage.simultaneous));
  RecordProperty("steps", std::to_string(coverage.steps));
  RecordProperty("segments", std::to_string(coverage.segments));
  if (count >= kDefaultTrials) expect_coverage(coverage, count);
}

}  // namespace
}  // namespace inferscale

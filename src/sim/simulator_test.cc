// The event loop: the rule for ties, samples that only look, the same bytes for the same seed, and
// what an interruption leaves behind.

#include "sim/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "replica/latency/linear.h"
#include "workload/generated_source.h"

namespace inferscale {
namespace {

class ListSource final : public RequestSource {
 public:
  explicit ListSource(std::vector<Request> requests) : requests_(std::move(requests)) {}
  bool next(Request& request) override {
    if (at_ == requests_.size()) return false;
    request = requests_[at_++];
    return true;
  }
  std::uint64_t size() const override { return requests_.size(); }

 private:
  std::vector<Request> requests_;
  size_t at_ = 0;
};

Request request_at(RequestId id, std::int64_t arrival_ns, std::uint32_t prompt,
                   std::uint32_t output) {
  return {.id = id,
          .prompt_tokens = prompt,
          .output_tokens = output,
          .max_tokens = output,
          .arrival = Instant::nanos(arrival_ns)};
}

// Overloaded at times and short of KV blocks, so that requests wait, are preempted and refused.
GeneratedSource busy_source(std::uint64_t seed, std::uint64_t requests = 3000) {
  return GeneratedSource(
      {.requests = requests,
       .arrivals =
           BurstyArrivals{.rate_rps = 60, .burst_factor = 8, .period = Duration::from_seconds(5)},
       .prompt_tokens = {.shape = LognormalLength{.mean = 60, .cv = 1}},
       .output_tokens = {.shape = LognormalLength{.mean = 40, .cv = 1}}},
      seed);
}

SimulatorOptions busy_options() {
  SimulatorOptions options;
  options.replica = {.max_num_seqs = 16,
                     .max_num_batched_tokens = 512,
                     .layout = {.block_tokens = 8},
                     .kv_blocks = 120,
                     .max_model_len = 700,
                     .max_queued = 100,
                     .itl_limit = Duration::from_millis(8)};
  options.verify = true;
  return options;
}

std::unique_ptr<LatencyModel> busy_latency() {
  return make_linear({.step_us = 4000.5,
                      .prefill_us_per_token = 20.3,
                      .decode_us_per_sequence = 33.3,
                      .decode_ns_per_context_token = 101.7},
                     {});
}

SimulationResult run_busy(const SimulatorOptions& options, std::uint64_t seed,
                          const RunControl& control = {}) {
  GeneratedSource source = busy_source(seed);
  return simulate(options, *busy_latency(), source, control);
}

void expect_same_bytes(const std::vector<Outcome>& a, const std::vector<Outcome>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(Outcome)), 0);
}

void expect_no_violations(const SimulationResult& result) {
  for (const std::string& violation : result.violations) ADD_FAILURE() << violation;
}

TEST(Simulator, NoRequestsIsARunOfNoLength) {
  ListSource source({});
  SimulatorOptions options = busy_options();
  options.signals_interval = Duration::from_seconds(1);
  const SimulationResult result = simulate(options, *busy_latency(), source, {});
  EXPECT_TRUE(result.outcomes.empty());
  EXPECT_EQ(result.end, Instant());
  EXPECT_EQ(result.gaps->total(), 0);
  ASSERT_EQ(result.signals.size(), 1U);
  EXPECT_EQ(result.signals[0].arrived, 0);
  expect_no_violations(result);
}

TEST(Simulator, ArrivalAtTheInstantOfABoundaryComesBeforeIt) {
  // The first prefill ends at 1000 us; a request that comes then is in the next prefill step.
  const auto latency = make_linear({.step_us = 1000}, {});
  ListSource source(
      {request_at(0, 0, 10, 5), request_at(1, 1'000'000, 10, 5), request_at(2, 1'000'001, 10, 5)});
  const SimulationResult result = simulate(busy_options(), *latency, source, {});
  EXPECT_EQ(result.outcomes[0].first_token.ns(), 1'000'000);
  EXPECT_EQ(result.outcomes[1].start.ns(), 1'000'000);
  EXPECT_EQ(result.outcomes[2].start.ns(), 2'000'000);
  expect_no_violations(result);
}

TEST(Simulator, SampleAtTheInstantOfAnEventSeesIt) {
  const auto latency = make_linear({.step_us = 1000}, {});
  ListSource source({request_at(0, 1'000'000, 8, 3)});
  SimulatorOptions options = busy_options();
  options.signals_interval = Duration::nanos(1'000'000);
  const SimulationResult result = simulate(options, *latency, source, {});
  // Arrival and start at 1 ms, tokens at 2, 3 and 4 ms.
  ASSERT_EQ(result.signals.size(), 5U);
  const std::int64_t running[] = {0, 1, 1, 1, 0};
  const std::int64_t blocks[] = {0, 1, 2, 2, 0};  // of 8 tokens: the prompt fills the first
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(result.signals[i].at.ns(), static_cast<std::int64_t>(i) * 1'000'000);
    EXPECT_EQ(result.signals[i].arrived, i == 0 ? 0 : 1) << i;
    EXPECT_EQ(result.signals[i].running, running[i]) << i;
    EXPECT_EQ(result.signals[i].kv_blocks_used, blocks[i]) << i;
    EXPECT_EQ(result.signals[i].finished, i < 4 ? 0 : 1) << i;
  }
}

TEST(Simulator, SameSeedSameBytes) {
  const SimulationResult a = run_busy(busy_options(), 7);
  const SimulationResult b = run_busy(busy_options(), 7);
  expect_same_bytes(a.outcomes, b.outcomes);
  EXPECT_EQ(std::memcmp(&a.usage, &b.usage, sizeof(ReplicaUsage)), 0);
  const SimulationResult other = run_busy(busy_options(), 8);
  EXPECT_NE(
      std::memcmp(a.outcomes.data(), other.outcomes.data(), a.outcomes.size() * sizeof(Outcome)),
      0);
}

TEST(Simulator, TheBusyRunHoldsItsInvariantsAndIsBusy) {
  for (const bool stepwise : {false, true}) {
    SimulatorOptions options = busy_options();
    options.stepwise = stepwise;
    const SimulationResult result = run_busy(options, 7);
    expect_no_violations(result);
    EXPECT_GT(result.usage.preemptions, 100);
    const auto with = [&](OutcomeStatus status) {
      return std::count_if(result.outcomes.begin(), result.outcomes.end(),
                           [&](const Outcome& o) { return o.status == status; });
    };
    EXPECT_GT(with(OutcomeStatus::kFinished), 1000);
    EXPECT_GT(with(OutcomeStatus::kRefused), 100);
    EXPECT_EQ(with(OutcomeStatus::kUnfinished), 0);
  }
}

TEST(Simulator, OutcomesDoNotDependOnTheSamplingInterval) {
  for (const SchedulerKind scheduler :
       {SchedulerKind::kContinuousFcfs, SchedulerKind::kStaticFcfs}) {
    SimulatorOptions options = busy_options();
    options.replica.scheduler = scheduler;
    const SimulationResult unwatched = run_busy(options, 7);
    EXPECT_TRUE(unwatched.signals.empty());
    for (const std::int64_t interval_ns : {777'777, 50'000'000, 1'000'000'000}) {
      options.signals_interval = Duration::nanos(interval_ns);
      const SimulationResult watched = run_busy(options, 7);
      expect_same_bytes(watched.outcomes, unwatched.outcomes);
      EXPECT_EQ(std::memcmp(&watched.usage, &unwatched.usage, sizeof(ReplicaUsage)), 0);
      EXPECT_EQ(watched.end, unwatched.end);
      EXPECT_EQ(watched.events, unwatched.events);
    }
  }
}

TEST(Simulator, SamplesOfJumpsAndOfSingleStepsAgree) {
  for (const SchedulerKind scheduler :
       {SchedulerKind::kContinuousFcfs, SchedulerKind::kStaticFcfs}) {
    SimulatorOptions options = busy_options();
    options.replica.scheduler = scheduler;
    options.signals_interval = Duration::nanos(3'333'333);
    const SimulationResult jumps = run_busy(options, 7);
    options.stepwise = true;
    const SimulationResult steps = run_busy(options, 7);
    ASSERT_EQ(jumps.signals.size(), steps.signals.size());
    for (size_t i = 0; i < jumps.signals.size(); ++i) {
      const SignalSample& a = jumps.signals[i];
      const SignalSample& b = steps.signals[i];
      ASSERT_EQ(a.at, b.at);
      ASSERT_EQ(a.queue_depth, b.queue_depth) << "at " << a.at.ns();
      ASSERT_EQ(a.running, b.running) << "at " << a.at.ns();
      ASSERT_EQ(a.kv_blocks_used, b.kv_blocks_used) << "at " << a.at.ns();
      ASSERT_EQ(a.kv_used_fraction, b.kv_used_fraction);
      ASSERT_EQ(a.arrived, b.arrived);
      ASSERT_EQ(a.finished, b.finished);
      ASSERT_EQ(a.refused, b.refused);
      ASSERT_EQ(a.preemptions, b.preemptions);
    }
  }
}

TEST(Simulator, SamplesAddUpAndCoverTheRun) {
  SimulatorOptions options = busy_options();
  options.signals_interval = Duration::nanos(3'333'333);
  const SimulationResult result = run_busy(options, 7);
  for (size_t i = 0; i < result.signals.size(); ++i) {
    const SignalSample& s = result.signals[i];
    ASSERT_EQ(s.at.ns(), static_cast<std::int64_t>(i) * 3'333'333);
    ASSERT_EQ(s.arrived, s.finished + s.refused + s.queue_depth + s.running);
  }
  const SignalSample& last = result.signals.back();
  EXPECT_GE(last.at, result.end);
  EXPECT_LT(last.at - result.end, *options.signals_interval);
  EXPECT_EQ(last.finished + last.refused, 3000);
}

TEST(Simulator, WhatAnInterruptedRunHasFinishedIsWhatTheWholeRunHas) {
  const SimulationResult whole = run_busy(busy_options(), 7);
  std::atomic<bool> stop = false;
  std::uint64_t arrived_at_stop = 0;
  RunControl control;
  control.stop = &stop;
  control.progress = [&](std::uint64_t arrived) {
    arrived_at_stop = arrived;
    stop = true;
  };
  SimulatorOptions options = busy_options();
  options.signals_interval = Duration::from_millis(100);
  const SimulationResult part = run_busy(options, 7, control);
  ASSERT_TRUE(part.interrupted);
  expect_no_violations(part);
  ASSERT_EQ(part.outcomes.size(), arrived_at_stop);
  ASSERT_LT(part.outcomes.size(), whole.outcomes.size());
  std::int64_t unfinished = 0;
  for (size_t id = 0; id < part.outcomes.size(); ++id) {
    const Outcome& outcome = part.outcomes[id];
    EXPECT_EQ(outcome.arrival, whole.outcomes[id].arrival);
    EXPECT_EQ(outcome.prompt_tokens, whole.outcomes[id].prompt_tokens);
    if (outcome.status != OutcomeStatus::kUnfinished) {
      EXPECT_EQ(std::memcmp(&outcome, &whole.outcomes[id], sizeof(Outcome)), 0) << id;
      EXPECT_TRUE(!outcome.finished() || outcome.finish <= part.end);
      continue;
    }
    ++unfinished;
    // What it had seen by then cannot exceed what it saw in the end.
    EXPECT_LE(outcome.itl_max, whole.outcomes[id].itl_max) << id;
    EXPECT_LE(outcome.gaps_over_limit, whole.outcomes[id].gaps_over_limit) << id;
    EXPECT_LE(outcome.preemptions, whole.outcomes[id].preemptions) << id;
  }
  EXPECT_GT(unfinished, 0);
}

TEST(Simulator, ProgressIsReportedWithoutStopping) {
  std::vector<std::uint64_t> seen;
  RunControl control;
  control.progress = [&](std::uint64_t arrived) { seen.push_back(arrived); };
  const SimulationResult result = run_busy(busy_options(), 7, control);
  EXPECT_FALSE(result.interrupted);
  EXPECT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

}  // namespace
}  // namespace inferscale

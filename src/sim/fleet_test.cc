// Whole replicas behind a router: who gets what, ranks, kinds, readings, samples, and the fleet of
// one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/fleet_test_support.h"
#include "workload/generated_source.h"

namespace inferscale {
namespace {

TEST(Fleet, TwoReplicasInTurn) {
  const SimulationResult result =
      run_fleet(fleet_of(2, RouterPolicy::kRoundRobin),
                {request_at(0, 0, 10, 3), request_at(1, 0, 10, 4), request_at(2, 0, 10, 5)});
  // 0 and 2 share replica 0: one prefill step, then decode steps together.
  const std::uint32_t replica[] = {0, 1, 0};
  const std::int64_t finish_us[] = {3000, 4000, 5000};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result.outcomes[i].replica, replica[i]);
    EXPECT_EQ(result.outcomes[i].first_token, at_us(1000));
    EXPECT_EQ(result.outcomes[i].finish, at_us(finish_us[i]));
  }
  ASSERT_EQ(result.replicas.size(), 2U);
  EXPECT_EQ(result.replicas[0].finished, 2);
  EXPECT_EQ(result.replicas[1].finished, 1);
  EXPECT_EQ(result.replicas[0].busy_ns, 5e6);
  EXPECT_EQ(result.replicas[1].busy_ns, 4e6);
  EXPECT_EQ(result.replicas[0].up, micros(5000));
  EXPECT_EQ(result.usage.busy_ns, 9e6);
}

TEST(Fleet, LeastLoadSeesWhatHasFinished) {
  // 1 is done at 2 ms, so 3 goes to replica 1, where 2 would have been last in turn.
  const SimulationResult result =
      run_fleet(fleet_of(2, RouterPolicy::kLeastLoad),
                {request_at(0, 0, 10, 9), request_at(1, 0, 10, 2), request_at(2, 2500, 10, 2),
                 request_at(3, 2600, 10, 2)});
  EXPECT_EQ(result.outcomes[0].replica, 0U);
  EXPECT_EQ(result.outcomes[1].replica, 1U);
  EXPECT_EQ(result.outcomes[2].replica, 1U);
  // Both have one now: the one that was dispatched to longest ago.
  EXPECT_EQ(result.outcomes[3].replica, 0U);
}

TEST(Fleet, AnEndAtTheInstantOfAnArrivalComesAfterIt) {
  // At 2 ms request 1 is about to finish on replica 1; the arrival comes first and still sees it.
  FleetOptions fleet = fleet_of(2, RouterPolicy::kLeastLoad);
  const SimulationResult result = run_fleet(
      fleet, {request_at(0, 0, 10, 9), request_at(1, 0, 10, 2), request_at(2, 2000, 10, 2)});
  EXPECT_EQ(result.outcomes[2].replica, 0U);
}

TEST(Fleet, RanksAreChosenLikeReplicas) {
  FleetOptions fleet = fleet_of(2, RouterPolicy::kRoundRobin);
  fleet.groups[0].ranks = 2;
  fleet.groups[0].accelerators = 3;
  std::vector<Request> requests;
  for (RequestId id = 0; id < 8; ++id) requests.push_back(request_at(id, 0, 10, 2));
  const SimulationResult result = run_fleet(fleet, requests);
  for (RequestId id = 0; id < 8; ++id) EXPECT_EQ(result.outcomes[id].replica, id % 4);
  ASSERT_EQ(result.replicas.size(), 4U);
  EXPECT_EQ(result.fleet.accelerator_time, micros(4 * 3 * 2000));
}

TEST(Fleet, ReplicasOfDifferentKindsTakeAsTheirWeightsSay) {
  FleetOptions fleet = fleet_of(1, RouterPolicy::kLeastLoad);
  const auto slow = make_linear({.step_us = 3000}, {});
  fleet.groups.push_back(group_of(1, "slow"));
  fleet.groups[1].latency = slow.get();
  fleet.groups[0].traits.weight = 3;
  std::vector<Request> requests;
  for (RequestId id = 0; id < 8; ++id) requests.push_back(request_at(id, 0, 10, 3));
  const SimulationResult result = run_fleet(fleet, requests);
  EXPECT_EQ(result.replicas[0].finished, 6);
  EXPECT_EQ(result.replicas[1].finished, 2);
  EXPECT_EQ(result.replicas[1].pool, "slow");
  EXPECT_EQ(result.outcomes[0].finish, at_us(3000));
  EXPECT_TRUE(std::any_of(result.outcomes.begin(), result.outcomes.end(),
                          [](const Outcome& o) { return o.finish == at_us(9000); }));
}

// 3 requests on each of 2 replicas, then many at once with readings that are 10 ms old.
TEST(Fleet, StaleReadingsAreTakenAtTheInstantsOfTheGrid) {
  FleetOptions fleet = fleet_of(2, RouterPolicy::kLeastLoad);
  fleet.router.staleness = micros(10'000);
  fleet.router.corrections = false;
  // Until 10 ms the reading says that both are empty: ties go to the one not served for longest.
  // 0 and 2 stay, 1 and 3 are gone at 2 ms. The reading of 10 ms says 2 and 0, so that everyone
  // after it goes to replica 1, even when more are there.
  std::vector<Request> requests = {request_at(0, 0, 10, 100), request_at(1, 0, 10, 2),
                                   request_at(2, 10, 10, 100), request_at(3, 10, 10, 2)};
  for (RequestId id = 4; id < 10; ++id) requests.push_back(request_at(id, 10'001, 10, 50));
  const SimulationResult result = run_fleet(fleet, requests);
  for (RequestId id = 4; id < 10; ++id) EXPECT_EQ(result.outcomes[id].replica, 1U) << id;
  // With its own corrections the router sends two to replica 1 and then to both in turn.
  fleet.router.corrections = true;
  const SimulationResult corrected = run_fleet(fleet, requests);
  EXPECT_EQ(corrected.replicas[0].finished, 4);
  EXPECT_EQ(corrected.replicas[1].finished, 6);
}

GeneratedSource busy_source(std::uint64_t requests = 3000) {
  return GeneratedSource(
      {.requests = requests,
       .arrivals =
           BurstyArrivals{.rate_rps = 400, .burst_factor = 8, .period = Duration::from_seconds(1)},
       .prompt_tokens = {.shape = LognormalLength{.mean = 60, .cv = 1}},
       .output_tokens = {.shape = LognormalLength{.mean = 40, .cv = 1}}},
      7);
}

SimulationResult run_busy(const FleetOptions& fleet, RunOptions options = {}) {
  options.verify = true;
  GeneratedSource source = busy_source();
  SimulationResult result = simulate_fleet(fleet, options, source, {});
  for (const std::string& violation : result.violations) ADD_FAILURE() << violation;
  return result;
}

bool same_bytes(const SimulationResult& a, const SimulationResult& b) {
  return a.outcomes.size() == b.outcomes.size() &&
         std::memcmp(a.outcomes.data(), b.outcomes.data(), a.outcomes.size() * sizeof(Outcome)) ==
             0;
}

TEST(Fleet, ARetryKeepsTheDeadlineOfItsFirstArrival) {
  FleetOptions fleet = fleet_of(2, RouterPolicy::kRoundRobin);
  fleet.groups[0].replica.scheduler = SchedulerKind::kContinuousSlo;
  fleet.groups[0].replica.e2e_limit = Duration::from_seconds(1);
  fleet.groups[0].replica.max_num_seqs = 1;
  fleet.failures.planned.push_back(
      {.replica = 0, .at = at_us(10'000), .return_after = micros(900'000)});
  const SimulationResult result =
      run_fleet(fleet, {request_at(0, 0, 8, 40), request_at(1, 1000, 8, 20),
                        request_at(2, 2000, 8, 40), request_at(3, 3000, 8, 40)});
  // 0 and 2 come to the second replica at 10 ms, where 3 waits since 3 ms: the first deadline
  // first.
  EXPECT_EQ(result.fleet.retries, 2);
  EXPECT_LT(result.outcomes[0].start, result.outcomes[2].start);
  EXPECT_LT(result.outcomes[2].start, result.outcomes[3].start);
}

TEST(Fleet, AllRoutersHoldTheInvariantsAndGiveTheSameBytesAgain) {
  for (const RouterPolicy policy :
       {RouterPolicy::kRoundRobin, RouterPolicy::kRandom, RouterPolicy::kLeastLoad,
        RouterPolicy::kLeastTokens, RouterPolicy::kLeastKv, RouterPolicy::kPowerOfTwo,
        RouterPolicy::kPrefixAware, RouterPolicy::kSessionAffinity,
        RouterPolicy::kBoundedAffinity}) {
    for (const std::int64_t staleness_us : {0, 100'000}) {
      FleetOptions fleet = fleet_of(5, policy);
      fleet.router.staleness = micros(staleness_us);
      fleet.groups[0].traits = {.token_ns = 1e5, .kv_cache_tokens = 800};
      const SimulationResult once = run_busy(fleet);
      RunOptions watched;
      watched.signals_interval = micros(7777);
      EXPECT_TRUE(same_bytes(once, run_busy(fleet, watched))) << policy_name(policy);
      std::int64_t finished = 0;
      for (const ReplicaReport& row : once.replicas) finished += row.finished;
      EXPECT_EQ(finished, std::count_if(once.outcomes.begin(), once.outcomes.end(),
                                        [](const Outcome& o) { return o.finished(); }));
      EXPECT_GT(finished, 2900);
    }
  }
}

TEST(Fleet, OneReplicaIsThePlainRun) {
  const FleetOptions fleet = fleet_of(1, RouterPolicy::kLeastLoad);
  GeneratedSource source = busy_source();
  const SimulationResult plain =
      simulate({.replica = fleet.groups[0].replica}, *fleet.groups[0].latency, source, {});
  const SimulationResult one = run_busy(fleet);
  EXPECT_TRUE(same_bytes(plain, one));
  EXPECT_EQ(plain.events, one.events);
  // A replica that could fail goes through a router, with the same result.
  FleetOptions may_fail = fleet;
  may_fail.failures.planned.push_back({0, Instant::nanos(kEndOfTime.ns() - 1), std::nullopt});
  EXPECT_TRUE(same_bytes(plain, run_busy(may_fail)));
}

TEST(Fleet, SamplesAreOfEachReplicaOrOfAll) {
  FleetOptions fleet = fleet_of(4, RouterPolicy::kLeastLoad);
  RunOptions options;
  options.signals_interval = micros(10'000);
  const SimulationResult each = run_busy(fleet, options);
  options.most_sampled_replicas = 3;
  const SimulationResult all = run_busy(fleet, options);
  EXPECT_FALSE(each.signals_of_fleet);
  EXPECT_TRUE(all.signals_of_fleet);
  ASSERT_EQ(each.signals.size(), 4 * all.signals.size());
  for (std::size_t i = 0; i < all.signals.size(); ++i) {
    SignalSample sum;
    for (std::size_t replica = 0; replica < 4; ++replica) {
      const SignalSample& row = each.signals[4 * i + replica];
      ASSERT_EQ(row.at, all.signals[i].at);
      ASSERT_EQ(row.replica, replica);
      sum.queue_depth += row.queue_depth;
      sum.running += row.running;
      sum.kv_used_fraction += row.kv_used_fraction / 4;
      sum.arrived += row.arrived;
      sum.finished += row.finished;
    }
    ASSERT_EQ(all.signals[i].queue_depth, sum.queue_depth);
    ASSERT_EQ(all.signals[i].running, sum.running);
    ASSERT_EQ(all.signals[i].arrived, sum.arrived);
    ASSERT_EQ(all.signals[i].finished, sum.finished);
    ASSERT_NEAR(all.signals[i].kv_used_fraction, sum.kv_used_fraction, 1e-12);
  }
}

// Mean time in system of a fleet that serves one request at a time each, 1 token for a prompt of
// exponential length: an M/M/1 queue behind each when the router draws at random.
double mean_in_system(RouterPolicy policy, double load) {
  FleetOptions fleet = fleet_of(4, policy);
  const auto latency = make_linear({.prefill_us_per_token = 1}, {});
  fleet.groups[0].latency = latency.get();
  fleet.groups[0].replica.max_num_seqs = 1;
  fleet.groups[0].replica.kv_blocks = 100'000;
  fleet.groups[0].replica.max_model_len = 1'000'000;
  GeneratedSource source({.requests = 200'000,
                          .arrivals = PoissonArrivals{.rate_rps = 4 * load * 1000},
                          .prompt_tokens = {.shape = LognormalLength{.mean = 1000, .cv = 1}},
                          .output_tokens = {.shape = ConstantLength{1}}},
                         11);
  const SimulationResult result = simulate_fleet(fleet, {}, source, {});
  double sum = 0;
  for (const Outcome& outcome : result.outcomes) sum += outcome.e2e().millis();
  return sum / 200'000;
}

TEST(Fleet, RandomSplittingIsAQueueForEach) {
  // Pollaczek-Khinchine for a squared coefficient of variation of 1: as M/M/1, S / (1 - load).
  for (const double load : {0.3, 0.6}) {
    EXPECT_NEAR(mean_in_system(RouterPolicy::kRandom, load), 1 / (1 - load), 0.05 / (1 - load));
  }
}

TEST(Fleet, TheShortestQueueLiesBetweenOneQueueAndARandomSplit) {
  // At a load of 0.6 on 4 servers: one common queue (M/M/4, Erlang C = 0.2870) has a mean of
  // 1 + 0.2870 / (4 x 0.4) = 1.179; a random split has 2.5. The shortest queue is close to the
  // first, two choices are in between.
  const double shortest = mean_in_system(RouterPolicy::kLeastLoad, 0.6);
  const double two = mean_in_system(RouterPolicy::kPowerOfTwo, 0.6);
  EXPECT_GT(shortest, 1.179);
  EXPECT_LT(shortest, 1.35);
  EXPECT_GT(two, shortest);
  EXPECT_LT(two, 1.8);
}

}  // namespace
}  // namespace inferscale

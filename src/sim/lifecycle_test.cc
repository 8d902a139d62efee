// Failures and scaling: timelines worked out by hand. A step takes 1 ms.

#include "sim/lifecycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sim/fleet_test_support.h"

namespace inferscale {
namespace {

FleetOptions failing_fleet(std::int64_t replicas, std::vector<PlannedFailure> failures) {
  FleetOptions fleet = fleet_of(replicas, RouterPolicy::kRoundRobin);
  fleet.failures.planned = std::move(failures);
  return fleet;
}

TEST(Failure, RequestsOfAFailedReplicaAreTriedAgainElsewhere) {
  const SimulationResult result = run_fleet(failing_fleet(2, {{0, at_us(2500), micros(10'000)}}),
                                            {request_at(0, 0, 10, 5), request_at(1, 0, 10, 5)});
  const Outcome& a = result.outcomes[0];
  // Replica 1 is in a decode step until 3000, prefills 0 until 4000, and both decode from then on.
  EXPECT_EQ(a.arrival, at_us(0));
  EXPECT_EQ(a.start, at_us(3000));
  EXPECT_EQ(a.first_token, at_us(4000));
  EXPECT_EQ(a.finish, at_us(8000));
  EXPECT_EQ(a.replica, 1U);
  EXPECT_EQ(result.outcomes[1].finish, at_us(6000));
  EXPECT_EQ(result.fleet.failures, 1);
  EXPECT_EQ(result.fleet.retries, 1);
  EXPECT_EQ(result.fleet.lost, 0);
  // Up until it failed; it would have come back at 12500.
  EXPECT_EQ(result.replicas[0].up, micros(2500));
  EXPECT_EQ(result.replicas[1].up, micros(8000));
  EXPECT_EQ(result.fleet.accelerator_time, micros(10'500));
}

TEST(Failure, RequestsCanBeLost) {
  FleetOptions fleet = failing_fleet(2, {{0, at_us(2500), std::nullopt}});
  fleet.failures.then = FailureOptions::Then::kLose;
  const SimulationResult result =
      run_fleet(fleet, {request_at(0, 0, 10, 5), request_at(1, 0, 10, 5)});
  EXPECT_EQ(result.outcomes[0].status, OutcomeStatus::kLost);
  EXPECT_EQ(result.outcomes[0].replica, 0U);
  EXPECT_EQ(result.outcomes[0].start, Instant::never());
  EXPECT_EQ(result.outcomes[0].prompt_tokens, 10U);
  EXPECT_TRUE(result.outcomes[1].finished());
  EXPECT_EQ(result.fleet.lost, 1);
}

TEST(Failure, WithNobodyUpRequestsWaitAtTheDoorInOrder) {
  const SimulationResult result =
      run_fleet(failing_fleet(1, {{0, at_us(2500), micros(1500)}}),
                {request_at(0, 0, 10, 5), request_at(1, 3000, 10, 2), request_at(2, 3500, 10, 3)});
  // All three go in at 4000, in one prefill step.
  for (const Outcome& outcome : result.outcomes) EXPECT_EQ(outcome.start, at_us(4000));
  EXPECT_EQ(result.outcomes[0].finish, at_us(9000));
  EXPECT_EQ(result.outcomes[1].finish, at_us(6000));
  EXPECT_EQ(result.outcomes[1].arrival, at_us(3000));
  EXPECT_EQ(result.fleet.waiting_for_replica_peak, 3);
  EXPECT_EQ(result.fleet.waited_for_replica, 3);
}

TEST(Failure, ARunThatCannotGoOnSaysWhy) {
  const SimulationResult result =
      run_fleet(failing_fleet(2, {{0, at_us(2500), std::nullopt}, {1, at_us(2600), std::nullopt}}),
                {request_at(0, 0, 10, 5), request_at(1, 0, 10, 5)});
  EXPECT_EQ(result.stuck,
            "2 requests are left: no replica is up, and none will return or start (2 wait at the "
            "door)");
  EXPECT_EQ(result.outcomes[0].status, OutcomeStatus::kUnfinished);
  EXPECT_EQ(result.outcomes[1].status, OutcomeStatus::kUnfinished);
}

TEST(Failure, WhoFailsTooOftenIsLost) {
  FleetOptions fleet = failing_fleet(1, {});
  for (int i = 0; i < 4; ++i) {
    fleet.failures.planned.push_back({0, at_us(2000 + 2000 * i), micros(100)});
  }
  fleet.failures.max_retries = 3;
  EXPECT_EQ(run_fleet(fleet, {request_at(0, 0, 10, 5)}).outcomes[0].status, OutcomeStatus::kLost);
  fleet.failures.max_retries = 4;
  const SimulationResult result = run_fleet(fleet, {request_at(0, 0, 10, 5)});
  EXPECT_EQ(result.outcomes[0].finish, at_us(8100 + 5000));
  EXPECT_EQ(result.fleet.retries, 4);
}

TEST(Failure, AnArrivalAtTheInstantOfAFailureIsCaughtByIt) {
  const SimulationResult result =
      run_fleet(failing_fleet(2, {{0, at_us(1000), std::nullopt}}), {request_at(0, 1000, 10, 2)});
  EXPECT_EQ(result.fleet.retries, 1);
  EXPECT_EQ(result.outcomes[0].start, at_us(1000));
  EXPECT_EQ(result.outcomes[0].replica, 1U);
}

TEST(Failure, RanksFailTogether) {
  FleetOptions fleet = failing_fleet(2, {{0, at_us(1500), std::nullopt}});
  fleet.groups[0].ranks = 2;
  std::vector<Request> requests;
  for (RequestId id = 0; id < 4; ++id) requests.push_back(request_at(id, 0, 10, 5));
  const SimulationResult result = run_fleet(fleet, requests);
  EXPECT_EQ(result.fleet.failures, 1);
  EXPECT_EQ(result.fleet.retries, 2);
  for (const Outcome& outcome : result.outcomes) EXPECT_GE(outcome.replica, 2U);
}

TEST(Failure, RandomFailuresTakeTheirShareOfTheTime) {
  FleetOptions fleet = fleet_of(10, RouterPolicy::kLeastLoad);
  fleet.failures.random = RandomFailures{.mtbf = micros(300'000), .mttr = micros(100'000)};
  std::vector<Request> requests;
  for (RequestId id = 0; id < 5000; ++id) requests.push_back(request_at(id, 10'000 * id, 10, 5));
  const SimulationResult result = run_fleet(fleet, requests);
  // In the mean 3/4 of the replicas are up, each fails 2.5 times a second for 50 s.
  const double replica_seconds = result.fleet.accelerator_time.seconds();
  EXPECT_NEAR(replica_seconds, 0.75 * 10 * 50, 10);
  EXPECT_NEAR(static_cast<double>(result.fleet.failures), 1250, 110);
  EXPECT_EQ(result.stuck, "");
  const SimulationResult again = run_fleet(fleet, requests);
  EXPECT_EQ(std::memcmp(result.outcomes.data(), again.outcomes.data(),
                        result.outcomes.size() * sizeof(Outcome)),
            0);
}

TEST(Scaling, AScheduleStartsAndDrains) {
  FleetOptions fleet = fleet_of(1, RouterPolicy::kRoundRobin);
  fleet.groups[0].scaling = ScalingOptions{.startup_delay = micros(2000),
                                           .schedule = {{at_us(1000), 2}, {at_us(6000), 1}}};
  const SimulationResult result = run_fleet(
      fleet, {request_at(0, 0, 10, 2), request_at(1, 2900, 10, 2), request_at(2, 3000, 10, 2),
              request_at(3, 3001, 10, 9), request_at(4, 6001, 10, 2), request_at(5, 6002, 10, 2)});
  // Replica 1 starts at 1000 and is up at 3000, after the arrival of that instant. It gets request
  // 3, and from 6000 on nothing more; it is empty at 12001.
  const std::uint32_t replica[] = {0, 0, 0, 1, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(result.outcomes[i].replica, replica[i]) << i;
  EXPECT_EQ(result.outcomes[3].finish, at_us(12'001));
  EXPECT_EQ(result.end, at_us(12'001));
  EXPECT_EQ(result.replicas[0].up, micros(12'001));
  EXPECT_EQ(result.replicas[1].up, micros(11'001));
}

TEST(Scaling, ADrainingReplicaIsTakenBackFirst) {
  FleetOptions fleet = fleet_of(2, RouterPolicy::kRoundRobin);
  fleet.groups[0].scaling = ScalingOptions{.startup_delay = micros(50'000),
                                           .schedule = {{at_us(1000), 1}, {at_us(3000), 2}}};
  const SimulationResult result = run_fleet(
      fleet, {request_at(0, 0, 10, 9), request_at(1, 0, 10, 9), request_at(2, 2000, 10, 2),
              request_at(3, 3001, 10, 2), request_at(4, 3002, 10, 2)});
  EXPECT_EQ(result.outcomes[2].replica, 0U);
  EXPECT_EQ(result.replicas[1].finished, 2);
}

// 8 places a replica, a target of one half: 4 running sequences are one replica's worth.
TEST(Scaling, TheAutoscalerFollowsTheLoad) {
  FleetOptions fleet = fleet_of(1, RouterPolicy::kLeastLoad);
  fleet.groups[0].scaling =
      ScalingOptions{.startup_delay = micros(3000),
                     .autoscale = AutoscaleOptions{.min = 1,
                                                   .max = 3,
                                                   .target_utilisation = 0.5,
                                                   .interval = micros(10'000),
                                                   .cooldown = micros(15'000)}};
  // 8 sequences run from 0 to 100 ms: at 10 ms the load is 1, two replicas are wanted; at 20 ms
  // the cooldown holds; nothing else comes until one arrival late.
  std::vector<Request> requests;
  for (RequestId id = 0; id < 8; ++id) requests.push_back(request_at(id, 0, 10, 100));
  requests.push_back(request_at(8, 12'999, 10, 2));  // not up yet: waits for a place
  requests.push_back(request_at(9, 13'001, 10, 2));
  requests.push_back(request_at(10, 200'000, 10, 40));
  const SimulationResult result = run_fleet(fleet, requests);
  EXPECT_EQ(result.outcomes[8].replica, 0U);
  EXPECT_EQ(result.outcomes[8].start, at_us(100'000));
  EXPECT_EQ(result.outcomes[9].replica, 1U);
  EXPECT_EQ(result.outcomes[9].finish, at_us(15'001));
  // From 100 to 110 ms only request 8 runs, for 2 ms: a load of 0.025, so that one replica is
  // wanted, and the other one is empty and goes.
  ASSERT_EQ(result.replicas.size(), 2U);
  EXPECT_EQ(result.replicas[1].up, micros(100'000));
  EXPECT_EQ(result.replicas[0].up, result.end - Instant());
}

TEST(Scaling, AnAutoscalerReplacesWhatIsGoneForGood) {
  FleetOptions fleet = fleet_of(1, RouterPolicy::kLeastLoad);
  fleet.groups[0].scaling =
      ScalingOptions{.startup_delay = micros(1000),
                     .autoscale = AutoscaleOptions{.min = 1, .max = 2, .interval = micros(10'000)}};
  fleet.failures.planned.push_back({0, at_us(500), std::nullopt});
  const SimulationResult result = run_fleet(fleet, {request_at(0, 0, 10, 2)});
  EXPECT_EQ(result.outcomes[0].start, at_us(11'000));
  EXPECT_EQ(result.stuck, "");
}

TEST(Scaling, TheLeastIsKeptUpDuringACooldown) {
  FleetOptions fleet = fleet_of(2, RouterPolicy::kLeastLoad);
  fleet.groups[0].scaling = ScalingOptions{
      .autoscale = AutoscaleOptions{
          .min = 1, .max = 3, .interval = micros(10'000), .cooldown = micros(1'000'000)}};
  // At 10 ms one of the two is too many; the other one fails for good at 15 ms.
  fleet.failures.planned.push_back({0, at_us(15'000), std::nullopt});
  fleet.failures.planned.push_back({1, at_us(15'000), std::nullopt});
  const SimulationResult result =
      run_fleet(fleet, {request_at(0, 0, 10, 2), request_at(1, 16'000, 10, 2)});
  EXPECT_EQ(result.outcomes[1].start, at_us(20'000));
}

TEST(Scaling, AScheduleOfNoReplicasEndsTheRun) {
  FleetOptions fleet = fleet_of(1, RouterPolicy::kLeastLoad);
  fleet.groups[0].scaling = ScalingOptions{.schedule = {{at_us(500), 0}}};
  const SimulationResult result =
      run_fleet(fleet, {request_at(0, 0, 10, 2), request_at(1, 600, 10, 2)});
  EXPECT_EQ(result.outcomes[0].finish, at_us(2000));
  EXPECT_EQ(result.outcomes[1].status, OutcomeStatus::kUnfinished);
  EXPECT_NE(result.stuck, "");
}

}  // namespace
}  // namespace inferscale

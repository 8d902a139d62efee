// The door of a run, by hand: every step takes a millisecond.

#include "sim/door.h"

#include <gtest/gtest.h>

#include <tuple>

#include "sim/door_test_support.h"
#include "workload/clients/client_source.h"

namespace inferscale {
namespace {

FleetOptions behind(DoorOptions door, std::int64_t replicas = 1) {
  FleetOptions fleet = fleet_of(replicas, RouterPolicy::kRoundRobin);
  fleet.door = std::move(door);
  return fleet;
}

TEST(Door, WhoIsRejectedNeverReachesAReplica) {
  const SimulationResult result =
      run_fleet(behind(door_with("fixed_concurrency", {{"limit", "1"}})),
                {request_at(0, 0, 10, 3), request_at(1, 500, 10, 3), request_at(2, 3500, 10, 3)});
  EXPECT_TRUE(result.outcomes[0].finished());
  EXPECT_EQ(result.outcomes[1].status, OutcomeStatus::kRefused);
  EXPECT_EQ(result.outcomes[1].reason, Reason::kConcurrency);
  EXPECT_EQ(result.outcomes[1].start, Instant::never());
  EXPECT_TRUE(result.outcomes[2].finished());
  EXPECT_EQ(result.usage.prefill_steps, 2);
  ASSERT_TRUE(result.gate.has_value());
  EXPECT_EQ(result.gate->admitted, 2);
  EXPECT_EQ(result.gate->rejected, 1);
}

TEST(Door, WhoIsHeldIsDispatchedRightBehindTheEndThatMadeRoom) {
  DoorOptions door = door_with("fixed_concurrency", {{"limit", "1"}, {"then", "defer"}});
  door.gate.hold = HoldOptions{};
  const SimulationResult result =
      run_fleet(behind(std::move(door)), {request_at(0, 0, 10, 3), request_at(1, 500, 10, 3)});
  EXPECT_EQ(result.outcomes[0].finish, at_us(3000));
  EXPECT_EQ(result.outcomes[1].arrival, at_us(500));  // its latency counts from the door
  EXPECT_EQ(result.outcomes[1].start, at_us(3000) + Duration::nanos(1));
  EXPECT_EQ(result.outcomes[1].finish, at_us(6000) + Duration::nanos(1));
  EXPECT_EQ(result.gate->held_time, micros(2500));
}

TEST(Door, WhoIsHeldTooLongIsAnswered) {
  DoorOptions door = door_with("fixed_concurrency", {{"limit", "1"}, {"then", "defer"}});
  door.gate.hold = HoldOptions{.longest = micros(1000)};
  const SimulationResult result =
      run_fleet(behind(std::move(door)), {request_at(0, 0, 10, 30), request_at(1, 500, 10, 3)});
  EXPECT_EQ(result.outcomes[1].status, OutcomeStatus::kDeferred);
  EXPECT_EQ(result.outcomes[1].reason, Reason::kHoldExpired);
  EXPECT_EQ(result.end, at_us(30'000));
}

TEST(Door, EachReplicaCanHaveAGateOfItsOwn) {
  DoorOptions door = door_with("fixed_concurrency", {{"limit", "1"}});
  door.scope = DoorScope::kReplica;
  const SimulationResult result = run_fleet(
      behind(std::move(door), 2), {request_at(0, 0, 10, 9), request_at(1, 100, 10, 1),
                                   request_at(2, 200, 10, 3), request_at(3, 2000, 10, 3)});
  // Round robin: 2 is sent to the first replica's gate, which is full; 3 to the second's.
  EXPECT_EQ(result.outcomes[2].reason, Reason::kConcurrency);
  EXPECT_TRUE(result.outcomes[3].finished());
}

// The first replica fails under request 0, and the gate of the second one is full.
TEST(Door, WhoseReplicaFailedComesToAnotherGateAsTheSameAttempt) {
  class Causes final : public DecisionSink {
   public:
    void on_decision(const DecisionRecord& record) override {
      seen.push_back({record.request.request, record.cause, record.effective.verdict});
    }
    std::vector<std::tuple<std::uint64_t, DecisionCause, Verdict>> seen;
  } sink;
  DoorOptions door = door_with("fixed_concurrency", {{"limit", "1"}});
  door.scope = DoorScope::kReplica;
  door.gate.sink = &sink;
  FleetOptions fleet = behind(std::move(door), 2);
  fleet.failures.planned.push_back({0, at_us(2500), std::nullopt});
  fleet.failures.then = FailureOptions::Then::kRetry;
  const SimulationResult result =
      run_fleet(fleet, {request_at(0, 0, 10, 9), request_at(1, 100, 10, 9)});
  EXPECT_EQ(result.outcomes[0].status, OutcomeStatus::kRefused);
  EXPECT_EQ(result.outcomes[0].reason, Reason::kConcurrency);
  EXPECT_TRUE(result.outcomes[1].finished());
  const decltype(sink.seen) expected = {{0, DecisionCause::kArrival, Verdict::kAdmit},
                                        {1, DecisionCause::kArrival, Verdict::kAdmit},
                                        {0, DecisionCause::kRerouted, Verdict::kReject}};
  EXPECT_EQ(sink.seen, expected);
}

TEST(Door, APageIsReadAfterAllThatHappensAtItsInstantAndKnownLater) {
  // Seventeen calls at once on a replica with 8 places: the page of 5 ms shows 9 waiting, and is
  // known at 7 ms.
  DoorOptions door = door_with("queue_depth", {{"max_waiting", "5"}});
  door.scrape_delay = micros(2000);
  door.gate.corrections = false;
  std::vector<Request> requests;
  for (RequestId id = 0; id < 17; ++id) requests.push_back(request_at(id, 2100, 10, 40));
  requests.push_back(request_at(17, 6900, 10, 1));
  requests.push_back(request_at(18, 7100, 10, 1));
  const SimulationResult result = run_fleet(behind(std::move(door)), requests);
  EXPECT_TRUE(result.outcomes[17].finished());  // the page of 0 ms is what is known at the door
  EXPECT_EQ(result.outcomes[18].reason, Reason::kQueueDepth);
}

TEST(Door, FortyCallsInsideOneScrapeIntervalDoNotAllPass) {
  std::vector<Request> requests;
  for (RequestId id = 0; id < 40; ++id) requests.push_back(request_at(id, 100 + id, 10, 5));
  const SimulationResult result =
      run_fleet(behind(door_with("queue_depth", {{"max_waiting", "8"}})), requests);
  EXPECT_EQ(result.gate->admitted, 9);
}

TEST(Door, APageThatIsAlwaysTooOldLeavesItToTheStaleRule) {
  DoorOptions door = door_with("queue_depth", {{"max_waiting", "0"}});
  door.scrape_delay = micros(9000);
  door.gate.max_age = micros(8000);
  door.gate.on_stale = StaleRule::kClosed;
  const SimulationResult result =
      run_fleet(behind(std::move(door)), {request_at(0, 0, 10, 3), request_at(1, 50'000, 10, 3)});
  EXPECT_EQ(result.outcomes[0].reason, Reason::kNoSignal);
  EXPECT_EQ(result.outcomes[1].reason, Reason::kNoSignal);
  EXPECT_EQ(result.gate->stale_decisions, 2);
}

TEST(Door, ARunEndsThoughScrapesWouldGoOn) {
  const SimulationResult result =
      run_fleet(behind(door_with("kv_threshold")), {request_at(0, 0, 10, 3)});
  EXPECT_EQ(result.end, at_us(3000));
}

// Clients -------------------------------------------------------------------------------------

SimulationResult with_clients(const FleetOptions& fleet, std::vector<Request> requests,
                              const ClientOptions& clients) {
  const auto source =
      make_client_source(std::make_unique<ListSource>(std::move(requests)), clients, 7);
  SimulationResult result = simulate_fleet(fleet, {.verify = true}, *source, {});
  for (const std::string& violation : result.violations) ADD_FAILURE() << violation;
  return result;
}

TEST(DoorWithClients, ACallerWhoLeavesWhileHeldIsGone) {
  DoorOptions door = door_with("fixed_concurrency", {{"limit", "1"}, {"then", "defer"}});
  door.gate.hold = HoldOptions{};
  ClientOptions clients{.profile = "test", .timeout = micros(2500)};
  const SimulationResult result = with_clients(
      behind(std::move(door)),
      {request_at(0, 0, 10, 2), request_at(1, 100, 10, 60), request_at(2, 200, 10, 60)}, clients);
  // 0 is served in two milliseconds; 1 goes in behind it and leaves at 2.6 ms, in its first step,
  // which ends at 3 ms; 2 leaves before that, at 2.7 ms.
  EXPECT_TRUE(result.outcomes[0].finished());
  EXPECT_EQ(result.outcomes[1].status, OutcomeStatus::kAbandoned);
  EXPECT_EQ(result.outcomes[1].start, at_us(2000) + Duration::nanos(1));
  EXPECT_EQ(result.outcomes[2].status, OutcomeStatus::kAbandoned);
  EXPECT_EQ(result.outcomes[2].reason, Reason::kClientGone);
  EXPECT_EQ(result.outcomes[2].start, Instant::never());
  EXPECT_EQ(result.clients->requests[2].status, RequestStatus::kTimedOut);
}

TEST(DoorWithClients, WhoDoesNotCloseKeepsItsKv) {
  ClientOptions clients{.profile = "test", .timeout = micros(1000), .closes = false};
  const SimulationResult result =
      with_clients(fleet_of(1, RouterPolicy::kRoundRobin), {request_at(0, 0, 10, 20)}, clients);
  EXPECT_TRUE(result.outcomes[0].finished());  // served to its end, for nobody
  EXPECT_EQ(result.clients->requests[0].status, RequestStatus::kTimedOut);
  EXPECT_EQ(result.end, at_us(20'000));
  clients.closes = true;
  const SimulationResult closed =
      with_clients(fleet_of(1, RouterPolicy::kRoundRobin), {request_at(0, 0, 10, 20)}, clients);
  EXPECT_EQ(closed.outcomes[0].status, OutcomeStatus::kAbandoned);
  EXPECT_LT(closed.usage.kv_block_ns, result.usage.kv_block_ns / 5);
}

TEST(DoorWithClients, ADeadlineIsThatOfTheFirstAttempt) {
  // virtual_queue and the like see it; here the record does.
  class Deadlines final : public DecisionSink {
   public:
    void on_decision(const DecisionRecord& record) override {
      deadlines.push_back(record.request.ttft_deadline);
    }
    std::vector<Instant> deadlines;
  } sink;
  DoorOptions door = door_with("reject_all");
  door.gate.sink = &sink;
  door.knows_requests = true;
  ClientOptions clients{.profile = "test", .most_retries = 2};
  clients.backoff = {.base_s = 0.005, .factor = 1, .cap_s = 1};
  with_clients(behind(door), {request_at(0, 1000, 10, 1)}, clients);
  ASSERT_EQ(sink.deadlines.size(), 3U);
  for (const Instant deadline : sink.deadlines) EXPECT_EQ(deadline, at_us(21'000));
}

}  // namespace
}  // namespace inferscale

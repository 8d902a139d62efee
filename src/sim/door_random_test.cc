// Random requests at random doors: jumping and single stepping decide alike and give the same
// outcomes, every invariant holds, and whoever was presented was admitted, answered, or left.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "sim/door_test_support.h"
#include "workload/clients/client_source.h"

namespace inferscale {
namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : stream_(seed, "door_random_test") {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

 private:
  RandomStream stream_;
};

std::vector<Request> random_requests(Draws& draws) {
  std::vector<Request> requests;
  std::int64_t now = 0;
  const std::int64_t count = draws.between(5, 60);
  for (std::int64_t i = 0; i < count; ++i) {
    // Many at one instant, and many on the boundaries of steps.
    if (!draws.chance(40)) now += draws.chance(50) ? draws.between(1, 3000) : 1000;
    Request request =
        request_at(static_cast<RequestId>(i), now, static_cast<std::uint32_t>(draws.between(1, 90)),
                   static_cast<std::uint32_t>(draws.between(1, 20)));
    request.tenant = static_cast<std::uint32_t>(draws.between(0, 3));
    request.session = static_cast<std::uint32_t>(draws.between(0, 7));
    request.priority = static_cast<std::int32_t>(draws.between(-1, 1));
    request.first_attempt = request.id;
    requests.push_back(request);
  }
  return requests;
}

DoorOptions random_door(Draws& draws) {
  struct Choice {
    const char* policy;
    WrittenParameters parameters;
  };
  const std::vector<Choice> choices = {
      {"fixed_concurrency", {{"limit", "4"}, {"then", "defer"}}},
      {"queue_depth", {{"max_waiting", "2"}, {"then", "defer"}}},
      {"kv_threshold", {{"threshold", "0.5"}, {"then", "defer"}}},
      {"queue_age", {{"max_age_s", "0.004"}, {"then", "defer"}}},
      {"token_bucket", {{"then", "defer"}, {"capacity", "5"}, {"refill_per_s", "300"}}},
      {"rate_limit", {{"requests", "5"}, {"window_s", "0.02"}}},
      {"wcrt", {}},
      {"virtual_queue", {}},
      {"fluid_wait", {}},
      {"session_window", {}},
      {"aimd", {}},
      {"saturation", {}},
      {"probabilistic_shed", {{"probability", "0.3"}}},
  };
  const auto& [policy, parameters] =
      choices[static_cast<std::size_t>(draws.between(0, std::ssize(choices) - 1))];
  DoorOptions door = door_with(policy, parameters);
  if (draws.chance(60)) {
    door.gate.hold =
        HoldOptions{.most = draws.between(1, 20), .longest = micros(draws.between(1, 30) * 1000)};
  }
  door.scope = static_cast<DoorScope>(draws.between(0, 2));
  door.scrape_interval = micros(draws.between(1, 8) * 1000);
  door.scrape_delay = micros(draws.between(0, 3) * 700);
  door.gate.max_age = micros(draws.between(1, 40) * 1000);
  door.gate.on_stale = static_cast<StaleRule>(draws.between(1, 4));
  door.gate.enforce = draws.chance(20) ? 0.5 : 1;
  door.gate.retry_after = {.least = micros(1000), .most = micros(50'000)};
  door.gate.trend.window = micros(draws.between(0, 1) * 20'000);
  door.knows_requests = draws.chance(50);
  if (draws.chance(20)) door.gate.learns_service = true;
  return door;
}

ClientOptions random_clients(Draws& draws) {
  ClientOptions clients{.profile = "test", .most_retries = draws.between(0, 3)};
  clients.backoff = {.base_s = 0.001 * static_cast<double>(draws.between(0, 4)), .cap_s = 0.02};
  clients.retry_after.honoured = draws.chance(50);
  if (draws.chance(50)) clients.timeout = micros(draws.between(1, 20) * 1000);
  clients.closes = draws.chance(70);
  if (draws.chance(30)) clients.stream_failures.probability = 0.3;
  if (draws.chance(30)) clients.stream_failures.then = AfterBrokenStream::kResume;
  clients.halve_after_429 = draws.chance(20);
  return clients;
}

FleetOptions random_fleet(Draws& draws) {
  const bool split = draws.chance(25);
  FleetOptions fleet = split ? split_of(draws.between(1, 2), draws.between(1, 2))
                             : fleet_of(draws.between(1, 3), RouterPolicy::kLeastLoad);
  constexpr SchedulerKind kSchedulers[] = {SchedulerKind::kContinuousFcfs,
                                           SchedulerKind::kContinuousSjf, SchedulerKind::kVllm,
                                           SchedulerKind::kSglang};
  const SchedulerKind scheduler = kSchedulers[draws.between(0, split ? 1 : 3)];
  for (GroupOptions& group : fleet.groups) {
    group.replica.scheduler = scheduler;
    group.replica.kv_blocks = draws.between(20, 60);
    group.replica.max_num_seqs = draws.between(1, 8);
    group.replica.prefix_caching = !split && draws.chance(40);
    if (!split && draws.chance(20)) group.replica.max_queued = draws.between(1, 4);
  }
  if (draws.chance(25)) {
    fleet.failures.random = RandomFailures{.mtbf = micros(40'000), .mttr = micros(4'000)};
  }
  return fleet;
}

struct Played {
  SimulationResult result;
  std::string decisions;
};

class DecisionText final : public DecisionSink {
 public:
  void on_decision(const DecisionRecord& record) override {
    text += std::to_string(record.at.ns()) + " " + std::to_string(record.gate) + " " +
            std::to_string(record.sequence) + " " + std::to_string(record.request.request) + " " +
            std::string(verdict_name(record.effective.verdict)) + " " +
            std::string(reason_name(record.effective.reason)) + (record.held ? " held\n" : "\n");
    if (record.cause != DecisionCause::kHeld) ++presented;
  }
  std::string text;
  std::int64_t presented = 0;
};

std::string text_of(const Outcome& outcome) {
  std::string text;
  for (const Instant at : {outcome.arrival, outcome.start, outcome.first_token, outcome.finish}) {
    text += std::to_string(at.ns()) + " ";
  }
  text += std::string(status_name(outcome.status)) + " " + std::string(reason_name(outcome.reason));
  for (const std::uint32_t count :
       {outcome.prompt_tokens, outcome.output_tokens, outcome.cached_tokens, outcome.replica,
        std::uint32_t{outcome.preemptions}}) {
    text += " " + std::to_string(count);
  }
  return text + " stall " + std::to_string(outcome.itl_max.ns());
}

TEST(RandomDoors, JumpsAndSingleStepsDecideAlikeOnAnyFleet) {
  std::int64_t held = 0;
  std::int64_t left = 0;
  std::int64_t retried = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(seed);
    Draws draws(seed);
    const std::vector<Request> requests = random_requests(draws);
    FleetOptions fleet = random_fleet(draws);
    fleet.door = random_door(draws);
    const ClientOptions clients = random_clients(draws);
    const auto play = [&](RunOptions options) {
      DecisionText sink;
      FleetOptions own = fleet;
      own.door->gate.sink = &sink;
      options.verify = true;
      const auto source = make_client_source(std::make_unique<ListSource>(requests), clients, seed);
      Played played;
      played.result = simulate_fleet(own, options, *source, {});
      played.decisions = std::move(sink.text);
      EXPECT_EQ(played.result.gate->presented, sink.presented);
      return played;
    };
    const Played jumps = play({});
    const Played steps = play({.stepwise = true});
    const Played sampled = play({.signals_interval = micros(370)});
    EXPECT_TRUE(jumps.result.violations.empty()) << jumps.result.violations.front();
    EXPECT_TRUE(steps.result.violations.empty()) << steps.result.violations.front();
    EXPECT_EQ(jumps.decisions, steps.decisions);
    EXPECT_EQ(jumps.decisions, sampled.decisions);
    const auto& outcomes = jumps.result.outcomes;
    for (const Played* other : {&steps, &sampled}) {
      ASSERT_EQ(outcomes.size(), other->result.outcomes.size());
      for (std::size_t id = 0; id < outcomes.size(); ++id) {
        ASSERT_EQ(text_of(outcomes[id]), text_of(other->result.outcomes[id])) << "attempt " << id;
      }
    }
    EXPECT_TRUE(jumps.result.stuck.empty()) << jumps.result.stuck;
    held += jumps.result.gate->held;
    for (const RequestRecord& request : jumps.result.clients->requests) {
      left += request.left;
      retried += request.attempts - 1;
    }
    if (testing::Test::HasFailure()) return;
  }
  // The scenarios reach what they are for.
  EXPECT_GT(held, 1000);
  EXPECT_GT(left, 500);
  EXPECT_GT(retried, 1000);
}

}  // namespace
}  // namespace inferscale

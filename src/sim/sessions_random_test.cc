// Random sessions on random fleets: jumping and single stepping give the same outcomes, every
// invariant holds, and whatever happens sessions are conserved.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "sim/fleet_test_support.h"
#include "workload/programs/generate_programs.h"
#include "workload/programs/program_source.h"

namespace inferscale {
namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : stream_(seed, "sessions_random_test") {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(stream_.next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  LengthOptions length(std::int64_t most) {
    return {.shape = LognormalLength{.mean = static_cast<double>(between(2, most)), .cv = 0.8},
            .min = 1,
            .max = static_cast<std::uint32_t>(most * 2)};
  }

 private:
  RandomStream stream_;
};

GeneratedSessions random_sessions(Draws& draws) {
  GeneratedSessions sessions{.count = static_cast<std::uint64_t>(draws.between(1, 12)),
                             .turns = draws.length(6),
                             .first_prompt_tokens = draws.length(60),
                             .appended_tokens = draws.length(30),
                             .output_tokens = draws.length(12),
                             .max_context_tokens = 400};
  if (draws.chance(50))
    sessions.system_prompt_tokens = static_cast<std::uint32_t>(draws.between(1, 50));
  sessions.tool_gap = {.mean_s = 1e-3 * static_cast<double>(draws.between(0, 30))};
  if (draws.chance(40)) {
    sessions.spawns = SpawnOptions{.probability = 0.4,
                                   .calls = draws.length(3),
                                   .turns = draws.length(3),
                                   .first_prompt_tokens = draws.length(30),
                                   .fork = draws.chance(50)};
  }
  return sessions;
}

KvRetentionOptions random_retention(Draws& draws) {
  KvRetentionOptions retention{
      .idle = static_cast<IdleKv>(draws.between(0, 2)),
      .keep_ended = draws.chance(20),
      .host = {.capacity_bytes = static_cast<double>(draws.between(0, 40'000)),
               .base_latency = micros(draws.between(0, 300)),
               .bytes_per_ns = 0.01},
      .kv_bytes_per_token = 10};
  if (draws.chance(40)) retention.ttl = micros(draws.between(0, 40'000));
  return retention;
}

FleetOptions random_fleet(Draws& draws) {
  constexpr RouterPolicy kPolicies[] = {RouterPolicy::kRoundRobin, RouterPolicy::kLeastLoad,
                                        RouterPolicy::kSessionAffinity,
                                        RouterPolicy::kBoundedAffinity, RouterPolicy::kPrefixAware};
  constexpr SchedulerKind kSchedulers[] = {SchedulerKind::kContinuousFcfs,
                                           SchedulerKind::kContinuousSjf, SchedulerKind::kVllm,
                                           SchedulerKind::kSglang};
  FleetOptions fleet = fleet_of(draws.between(1, 3), kPolicies[draws.between(0, 4)]);
  fleet.groups[0].traits = {.token_ns = 1000, .kv_cache_tokens = 800};
  ReplicaOptions& replica = fleet.groups[0].replica;
  replica.scheduler = kSchedulers[draws.between(0, 3)];
  replica.kv_blocks = draws.between(60, 120);
  replica.max_num_seqs = draws.between(1, 8);
  replica.max_num_batched_tokens = draws.between(8, 64) * 8;
  replica.prefix_caching = true;
  replica.retention = random_retention(draws);
  if (draws.chance(20)) replica.max_queued = draws.between(1, 3);
  if (draws.chance(20)) {
    fleet.failures.random = RandomFailures{.mtbf = micros(60'000), .mttr = micros(5'000)};
  }
  return fleet;
}

void expect_conserved(const Programs& programs, const SimulationResult& result) {
  ASSERT_TRUE(result.programs);
  ASSERT_EQ(result.programs->sessions.size(), programs.sessions.size());
  std::size_t attempts = 0;
  for (const CallRecord& call : result.programs->calls) {
    attempts += call.attempts;
    if (call.status == CallStatus::kFinished) {
      EXPECT_TRUE(result.outcomes[call.request].finished());
      EXPECT_GE(result.outcomes[call.request].arrival, call.ready);
    }
  }
  EXPECT_EQ(attempts, result.outcomes.size());
  for (const SessionRecord& session : result.programs->sessions) {
    EXPECT_LE(session.finished + session.failed, session.calls);
  }
}

TEST(RandomSessions, JumpsAndSingleStepsAgreeOnAnyFleet) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Draws draws(seed);
    const Programs programs =
        generate_programs(random_sessions(draws), PoissonArrivals{.rate_rps = 200}, seed);
    const FleetOptions fleet = random_fleet(draws);
    const CallRetries retries{.most = draws.between(0, 2), .delay = micros(700)};
    const auto run = [&](bool stepwise) {
      const std::unique_ptr<ReactiveSource> source = make_program_source(programs, retries);
      return simulate_fleet(fleet, {.stepwise = stepwise, .verify = true}, *source, {});
    };
    const SimulationResult jumps = run(false);
    const SimulationResult steps = run(true);
    EXPECT_TRUE(jumps.violations.empty()) << jumps.violations.front();
    ASSERT_EQ(jumps.outcomes.size(), steps.outcomes.size());
    EXPECT_EQ(std::memcmp(jumps.outcomes.data(), steps.outcomes.data(),
                          jumps.outcomes.size() * sizeof(Outcome)),
              0);
    EXPECT_NEAR(jumps.usage.retention.resident_token_ns, steps.usage.retention.resident_token_ns,
                1e-6 * steps.usage.retention.resident_token_ns + 1);
    EXPECT_EQ(jumps.usage.retention.resident_peak, steps.usage.retention.resident_peak);
    EXPECT_EQ(jumps.usage.retention.evicted_pressure, steps.usage.retention.evicted_pressure);
    expect_conserved(programs, jumps);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace inferscale

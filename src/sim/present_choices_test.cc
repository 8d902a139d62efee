// Random fleets whose routers see the present: the same run three ways.
//
//   jumps       replicas are read only where it can matter
//   looked on   every choice is explained, for which all replicas are read
//   steps       each step is an event after which its replica is read
//
// The outcomes are the same, and each choice is the best of all that the explanation read.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "base/random.h"
#include "sim/fleet_test_support.h"

namespace inferscale {
namespace {

// Checks that the chosen replica scored best.
class Onlooker final : public DecisionObserver {
 public:
  explicit Onlooker(bool best_first) : best_first_(best_first) {}
  void on_step(const StepReport&) override {}
  void on_route(const RouteReport& report) override {
    if (report.choices.empty()) return;
    ++choices;
    for (const RouteReport::Choice& other : report.choices) {
      if (best_first_ && other.score < report.choices.front().score) {
        ADD_FAILURE() << "request " << report.request << " went to replica "
                      << report.choices.front().replica << ", replica " << other.replica
                      << " was better";
      }
    }
  }
  int choices = 0;

 private:
  bool best_first_;
};

class RandomFleet {
 public:
  RandomFleet(RouterPolicy policy, std::uint64_t seed) : random_(seed, "fleet") {
    step_times_ = make_linear({.step_us = static_cast<double>(100 + random_.below(400)),
                               .prefill_us_per_token = static_cast<double>(random_.below(3)),
                               .decode_us_per_sequence = static_cast<double>(random_.below(40)),
                               .decode_ns_per_context_token = random_.below(2) == 0 ? 0.0 : 37.0},
                              {});
    const auto replicas = static_cast<std::int64_t>(2 + random_.below(seed % 8 == 0 ? 30 : 7));
    fleet = random_.below(4) == 0 ? split_of(replicas, replicas + 1) : fleet_of(replicas, policy);
    fleet.router.policy = policy;
    fleet.seed = seed;
    if (fleet.split) fleet.split->decode_router = fleet.router;
    if (!fleet.split && random_.below(2) == 0) fleet.groups.push_back(group_of(2, "others"));
    for (GroupOptions& group : fleet.groups) shape(group);
    for (RouterOptions* router : routers()) {
      router->affinity_slack = micros(static_cast<std::int64_t>(random_.below(3) * 3000));
      router->prefix_weight = random_.below(2) == 0 ? 1 : 3;
      // A quarter of the fleets is read every so often instead.
      if (seed % 4 == 3) router->staleness = micros(static_cast<std::int64_t>(random_.below(9000)));
    }
    if (random_.below(3) == 0) add_failures();
    if (!fleet.split && random_.below(3) == 0) add_scaling();
    make_requests();
  }

  FleetOptions fleet;
  std::vector<Request> requests;

 private:
  std::vector<RouterOptions*> routers() {
    std::vector<RouterOptions*> all = {&fleet.router};
    if (fleet.split) all.push_back(&fleet.split->decode_router);
    return all;
  }

  void shape(GroupOptions& group) {
    group.latency = step_times_.get();
    group.replica.scheduler =
        random_.below(2) == 0 ? SchedulerKind::kContinuousFcfs : SchedulerKind::kVllm;
    group.replica.max_num_seqs = static_cast<std::int64_t>(2 + random_.below(8));
    group.replica.prefix_caching = random_.below(2) == 0;
    // Sometimes few blocks, so that sequences are preempted.
    group.replica.kv_blocks = random_.below(3) == 0 ? 24 : 200;
    group.replica.max_model_len = 150;
    const bool is_other = &group != fleet.groups.data();
    group.traits = {.weight = is_other && random_.below(2) == 0 ? 2.0 : 1.0,
                    .token_ns = is_other && random_.below(2) == 0 ? 2e4 : 3e4,
                    .kv_cache_tokens = random_.below(4) == 0 ? 0 : group.replica.kv_blocks * 8};
  }

  void add_failures() {
    for (std::uint64_t i = random_.below(4); i > 0; --i) {
      PlannedFailure failure{.replica = static_cast<std::uint32_t>(random_.below(2)),
                             .at = at_us(static_cast<std::int64_t>(random_.below(60'000)))};
      failure.return_after = micros(static_cast<std::int64_t>(1 + random_.below(20'000)));
      fleet.failures.planned.push_back(failure);
    }
    std::sort(fleet.failures.planned.begin(), fleet.failures.planned.end(),
              [](const auto& a, const auto& b) { return a.at < b.at; });
  }

  void add_scaling() {
    ScalingOptions scaling{.startup_delay = micros(3000)};
    std::int64_t us = 0;
    for (int i = 0; i < 4; ++i) {
      us += static_cast<std::int64_t>(1 + random_.below(20'000));
      scaling.schedule.push_back(
          {.at = at_us(us), .replicas = static_cast<std::int64_t>(1 + random_.below(6))});
    }
    fleet.groups[0].scaling = scaling;
  }

  void make_requests() {
    const auto most_us = static_cast<std::int64_t>(50 + random_.below(900));
    std::int64_t us = 0;
    for (RequestId id = 0; id < 150; ++id) {
      // Some come at the same instant, some at the end of a step.
      if (random_.below(4) > 0) {
        us += static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most_us)));
      }
      if (random_.below(5) == 0) us = (us + 99) / 100 * 100;
      // Few lengths, so that loads tie.
      Request request = request_at(id, us, static_cast<std::uint32_t>(20 + random_.below(4) * 20),
                                   static_cast<std::uint32_t>(1 + random_.below(40)));
      request.max_tokens = std::max(request.output_tokens, 40U);
      if (random_.below(3) > 0) request.session = static_cast<std::uint32_t>(random_.below(9));
      std::vector<ContentPiece>& pieces = contents_.emplace_back();
      std::uint64_t key = 1;
      for (std::uint64_t i = random_.below(3); i > 0; --i) {
        key = key * 4 + random_.below(3);
        pieces.push_back({key, 8});
      }
      request.content = pieces.data();
      request.content_pieces = static_cast<std::uint32_t>(pieces.size());
      requests.push_back(request);
    }
  }

  RandomStream random_;
  std::unique_ptr<LatencyModel> step_times_;
  std::deque<std::vector<ContentPiece>> contents_;  // they stay where they are
};

void expect_same(const SimulationResult& one, const SimulationResult& other) {
  ASSERT_EQ(one.outcomes.size(), other.outcomes.size());
  for (std::size_t id = 0; id < one.outcomes.size(); ++id) {
    ASSERT_EQ(one.outcomes[id].replica, other.outcomes[id].replica) << "request " << id;
    ASSERT_EQ(one.outcomes[id].finish, other.outcomes[id].finish) << "request " << id;
  }
}

class PresentChoices : public testing::TestWithParam<RouterPolicy> {};

TEST_P(PresentChoices, AreThoseOfReadingEverybody) {
  int choices = 0;
  std::int64_t preemptions = 0;
  std::int64_t retries = 0;
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomFleet random(GetParam(), seed);
    const SimulationResult jumps = run_fleet(random.fleet, random.requests);
    // A home within the slack need not be the best.
    Onlooker onlooker(GetParam() != RouterPolicy::kBoundedAffinity &&
                      !(GetParam() == RouterPolicy::kPrefixAware && seed % 8 == 0));
    const SimulationResult looked_on =
        run_fleet(random.fleet, random.requests, {.observer = &onlooker});
    const SimulationResult steps = run_fleet(random.fleet, random.requests, {.stepwise = true});
    expect_same(jumps, looked_on);
    expect_same(jumps, steps);
    choices += onlooker.choices;
    preemptions += jumps.usage.preemptions;
    retries += jumps.fleet.retries;
  }
  EXPECT_GT(choices, 30'000);
  EXPECT_GT(preemptions, 100);
  EXPECT_GT(retries, 100);
}

INSTANTIATE_TEST_SUITE_P(Policies, PresentChoices,
                         testing::Values(RouterPolicy::kLeastTokens, RouterPolicy::kLeastKv,
                                         RouterPolicy::kPrefixAware,
                                         RouterPolicy::kBoundedAffinity),
                         [](const auto& param) { return std::string(policy_name(param.param)); });

}  // namespace
}  // namespace inferscale

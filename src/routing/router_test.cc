// What the policies are for: fairness, spread, affinity, and what stale readings do to them.

#include "routing/router.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "base/random.h"

namespace inferscale {
namespace {

std::unique_ptr<Router> router_of(const RouterOptions& options, std::uint32_t replicas,
                                  std::uint64_t seed = 1) {
  const std::vector<ReplicaTraits> traits(replicas, {.token_ns = 1000, .kv_cache_tokens = 100'000});
  return make_router(options, traits, seed);
}

std::unique_ptr<Router> router_of(RouterPolicy policy, std::uint32_t replicas,
                                  std::uint64_t seed = 1) {
  return router_of(RouterOptions{.policy = policy}, replicas, seed);
}

Request request_of(RequestId id, std::uint32_t session = Request::kNobody) {
  return {.id = id, .prompt_tokens = 100, .max_tokens = 50, .session = session};
}

// Chooses and dispatches.
std::uint32_t send(Router& router, const Request& request) {
  const std::uint32_t replica = router.choose(request).value();
  router.dispatched(replica, request, Instant());
  return replica;
}

constexpr RouterPolicy kAll[] = {
    RouterPolicy::kRoundRobin,  RouterPolicy::kRandom,          RouterPolicy::kLeastLoad,
    RouterPolicy::kLeastTokens, RouterPolicy::kLeastKv,         RouterPolicy::kPowerOfTwo,
    RouterPolicy::kPrefixAware, RouterPolicy::kSessionAffinity, RouterPolicy::kBoundedAffinity,
};

TEST(Router, ChoosesNobodyWhenNobodyIsAvailable) {
  for (const RouterPolicy policy : kAll) {
    SCOPED_TRACE(policy_name(policy));
    EXPECT_EQ(router_of(policy, 0)->choose(request_of(0)), std::nullopt);
    const auto router = router_of(policy, 2);
    router->set_available(0, false);
    EXPECT_EQ(router->choose(request_of(0)), 1u);
    router->set_available(1, false);
    EXPECT_EQ(router->choose(request_of(0)), std::nullopt);
    EXPECT_TRUE(router->explain(request_of(0), 4).empty());
    router->set_available(0, true);
    EXPECT_EQ(router->choose(request_of(0)), 0u);
  }
}

TEST(Router, EqualReplicasUnderEqualLoadAreServedInTurn) {
  for (const RouterPolicy policy :
       {RouterPolicy::kRoundRobin, RouterPolicy::kLeastLoad, RouterPolicy::kLeastTokens,
        RouterPolicy::kLeastKv, RouterPolicy::kPrefixAware, RouterPolicy::kBoundedAffinity}) {
    SCOPED_TRACE(policy_name(policy));
    const auto router = router_of(policy, 5);
    // Each ends before the next one comes, so that all loads tie.
    for (RequestId id = 0; id < 20; ++id) {
      EXPECT_EQ(send(*router, request_of(id)), id % 5);
      router->finished(id % 5, id, Instant());
    }
  }
}

TEST(Router, RoundRobinSkipsTheUnavailableAndFindsTheNewcomer) {
  const auto router = router_of(RouterPolicy::kRoundRobin, 3);
  router->set_available(1, false);
  EXPECT_EQ(send(*router, request_of(0)), 0u);
  EXPECT_EQ(send(*router, request_of(1)), 2u);
  EXPECT_EQ(router->add_replica({}), 3u);
  EXPECT_EQ(send(*router, request_of(2)), 3u);
  router->set_available(1, true);
  EXPECT_EQ(send(*router, request_of(3)), 0u);
  EXPECT_EQ(send(*router, request_of(4)), 1u);
}

TEST(Router, LeastLoadGivesInProportionToTheWeights) {
  const std::vector<ReplicaTraits> traits = {{.weight = 1}, {.weight = 3}, {.weight = 2}};
  const auto router = make_router({}, traits, 1);
  std::vector<int> sent(3);
  for (RequestId id = 0; id < 600; ++id) ++sent[send(*router, request_of(id))];
  EXPECT_EQ(sent, (std::vector<int>{100, 300, 200}));
}

TEST(Router, TheSameSeedAndRequestDrawTheSameReplicaWhateverTheOrder) {
  for (const RouterPolicy policy : {RouterPolicy::kRandom, RouterPolicy::kPowerOfTwo}) {
    const auto router = router_of(policy, 50, 7);
    const auto other_seed = router_of(policy, 50, 8);
    std::vector<std::uint32_t> forwards;
    for (RequestId id = 0; id < 200; ++id) forwards.push_back(*router->choose(request_of(id)));
    int differ = 0;
    for (RequestId id = 200; id > 0; --id) {
      EXPECT_EQ(router->choose(request_of(id - 1)), forwards[id - 1]);
      differ += other_seed->choose(request_of(id - 1)) != forwards[id - 1] ? 1 : 0;
    }
    EXPECT_GT(differ, 180) << "another seed draws others";
  }
}

// Sum of (observed - expected)^2 / expected over equal expectations.
double chi_squared(const std::vector<int>& counts) {
  const double expected = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0)) /
                          static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(Router, RandomAndThePairsOfPowerOfTwoAreUniform) {
  constexpr std::uint32_t kReplicas = 10;
  const auto random = router_of(RouterPolicy::kRandom, kReplicas);
  const auto two = router_of(RouterPolicy::kPowerOfTwo, kReplicas);
  std::vector<int> singles(kReplicas);
  std::vector<int> pairs(kReplicas * kReplicas);
  for (RequestId id = 0; id < 90'000; ++id) {
    ++singles[*random->choose(request_of(id))];
    const auto drawn = two->explain(request_of(id), 2);
    ASSERT_EQ(drawn.size(), 2u);
    const auto [low, high] = std::minmax(drawn[0].replica, drawn[1].replica);
    ++pairs[low * kReplicas + high];
  }
  std::erase(pairs, 0);
  ASSERT_EQ(pairs.size(), 45u) << "each pair of different replicas";
  // 99.9 % quantiles for 9 and 44 degrees of freedom.
  EXPECT_LT(chi_squared(singles), 27.9);
  EXPECT_LT(chi_squared(pairs), 78.7);
}

TEST(Router, TwoChoicesKeepTheFullestReplicaFarBelowOne) {
  // n balls into n bins: the fullest has about ln n / ln ln n = 4.3 (7 or 8 at this n) for one
  // choice, ln ln n / ln 2 + O(1) = 3.2 for two (Mitzenmacher 2001).
  constexpr std::uint32_t kReplicas = 4096;
  const auto fullest = [](RouterPolicy policy) {
    const auto router = router_of(policy, kReplicas);
    std::vector<int> sent(kReplicas);
    for (RequestId id = 0; id < kReplicas; ++id) ++sent[send(*router, request_of(id))];
    return *std::max_element(sent.begin(), sent.end());
  };
  EXPECT_GE(fullest(RouterPolicy::kRandom), 6);
  EXPECT_LE(fullest(RouterPolicy::kPowerOfTwo), 4);
  EXPECT_EQ(fullest(RouterPolicy::kLeastLoad), 1);
}

TEST(Router, StrictAffinityKeepsSessionsThroughAFailureAndItsEnd) {
  const auto router = router_of(RouterPolicy::kSessionAffinity, 4);
  RequestId id = 0;
  std::vector<std::uint32_t> first;
  for (std::uint32_t session = 0; session < 40; ++session) {
    first.push_back(send(*router, request_of(id, session)));
    router->finished(first.back(), id++, Instant());
  }
  router->set_available(2, false);
  router->forget(2);
  // Half of the sessions speak during the outage: those at replica 2 move, the others stay.
  std::vector<std::uint32_t> during = first;
  for (std::uint32_t session = 0; session < 20; ++session) {
    during[session] = send(*router, request_of(id, session));
    router->finished(during[session], id++, Instant());
    EXPECT_NE(during[session], 2u);
    EXPECT_TRUE(first[session] == 2 || during[session] == first[session]) << session;
  }
  router->set_available(2, true);
  for (std::uint32_t session = 0; session < 40; ++session) {
    EXPECT_EQ(router->choose(request_of(id, session)), during[session]) << session;
  }
  EXPECT_EQ(std::count(first.begin(), first.end(), 2u), 10) << "new sessions were spread evenly";
}

TEST(Router, AffinityGoesByTheTenantWithoutASessionAndByNothingWithoutBoth) {
  const auto router = router_of(RouterPolicy::kSessionAffinity, 4);
  Request of_tenant{.id = 0, .prompt_tokens = 1, .tenant = 9};
  const std::uint32_t home = send(*router, of_tenant);
  of_tenant.id = 1;
  EXPECT_EQ(send(*router, of_tenant), home);
  // A session of the same number is somebody else.
  EXPECT_NE(send(*router, request_of(2, 9)), home);
  EXPECT_NE(send(*router, request_of(3)), home);
  EXPECT_NE(send(*router, request_of(4)), home);
}

TEST(Router, BoundedAffinityLeavesHomeOnlyForAWaitBeyondTheSlack) {
  // A token in flight is 1 us of wait; a request has 150 tokens.
  const auto router = router_of(RouterOptions{.policy = RouterPolicy::kBoundedAffinity,
                                              .affinity_slack = Duration::nanos(450'000)},
                                2);
  EXPECT_EQ(send(*router, request_of(0, 5)), 0u);
  EXPECT_EQ(send(*router, request_of(1, 5)), 0u);
  EXPECT_EQ(send(*router, request_of(2, 5)), 0u);
  EXPECT_EQ(send(*router, request_of(3, 5)), 0u) << "450 us more is within the slack";
  EXPECT_EQ(send(*router, request_of(4, 5)), 1u) << "600 us more is not";
  EXPECT_EQ(send(*router, request_of(5, 5)), 1u) << "and there it is at home from then on";
}

TEST(Router, AnExplanationPutsTheHomeFirstAndThenTheLeastLoaded) {
  const auto router = router_of(RouterPolicy::kSessionAffinity, 3);
  for (RequestId id = 0; id < 3; ++id) EXPECT_EQ(send(*router, request_of(id, 5)), 0u);
  EXPECT_EQ(send(*router, request_of(3)), 1u);
  const std::vector<RouteScore> scores = router->explain(request_of(4, 5), 9);
  ASSERT_EQ(scores.size(), 3u);
  const std::uint32_t order[] = {0, 2, 1};
  const double requests[] = {3, 0, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(scores[i].replica, order[i]);
    EXPECT_EQ(scores[i].score, requests[i]);
    EXPECT_EQ(scores[i].is_home, i == 0);
  }
  EXPECT_EQ(router->explain(request_of(4, 5), 2).size(), 2u);
}

TEST(Router, BoundedAffinityDoesNotReturnToALostCacheAndStrictAffinityDoes) {
  for (const RouterPolicy policy :
       {RouterPolicy::kBoundedAffinity, RouterPolicy::kSessionAffinity}) {
    const auto router = router_of(policy, 3);
    EXPECT_EQ(send(*router, request_of(0, 5)), 0u);
    router->finished(0, 0, Instant());
    router->forget(0);
    const std::uint32_t next = policy == RouterPolicy::kBoundedAffinity ? 1 : 0;
    EXPECT_EQ(router->choose(request_of(1, 5)), next) << policy_name(policy);
  }
}

TEST(Router, PrefixAwareFollowsAPrefixUntilTheBacklogOutweighsIt) {
  const auto router = router_of(RouterPolicy::kPrefixAware, 3);
  const ContentPiece pieces[] = {{.key = 1, .tokens = 300}, {.key = 2, .tokens = 100}};
  const auto with = [&](RequestId id, std::uint32_t count) {
    Request request{.id = id, .prompt_tokens = 410, .max_tokens = 50, .content = pieces};
    request.content_pieces = count;
    return request;
  };
  EXPECT_EQ(send(*router, with(0, 2)), 0u);
  // 460 tokens of backlog against 400 cached: not worth it. Against 300 neither.
  EXPECT_EQ(router->choose(with(1, 2)), 1u);
  router->finished(0, 0, Instant());
  EXPECT_EQ(send(*router, Request{.id = 2, .prompt_tokens = 300, .max_tokens = 50}), 1u);
  router->dispatched(0, Request{.id = 3, .prompt_tokens = 300, .max_tokens = 50}, Instant());
  // 350 of backlog on 0 and 1, nothing on 2: worth it for 400 tokens, not for 300.
  EXPECT_EQ(router->choose(with(4, 2)), 0u);
  EXPECT_EQ(router->choose(with(4, 1)), 2u);
  const std::vector<RouteScore> scores = router->explain(with(4, 2), 9);
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_EQ(scores[0].score, 350 + 410 - 400);
  EXPECT_EQ(scores[0].matched_tokens, 400);
  EXPECT_EQ(scores[1].replica, 2u);
  EXPECT_EQ(scores[1].score, 410);
}

TEST(Router, ADecisionIsNotMovedByOneThatIsOnlyAsked) {
  for (const RouterPolicy policy : kAll) {
    const auto router = router_of(policy, 6);
    const auto unasked = router_of(policy, 6);
    for (RequestId id = 0; id < 100; ++id) {
      for (RequestId other = 500; other < 505; ++other) (void)router->choose(request_of(other, id));
      EXPECT_EQ(send(*router, request_of(id, id % 7)), send(*unasked, request_of(id, id % 7)));
    }
  }
}

// A fleet of single servers, each 100 ms a request, under 80 % load; the router reads the queues
// once a second. Returns the mean time in the system, in service times.
double mean_sojourn(RouterPolicy policy, bool corrections) {
  constexpr std::uint32_t kReplicas = 16;
  constexpr std::int64_t kService = 100'000'000;
  constexpr std::int64_t kEvery = 1'000'000'000;
  const auto router = router_of(
      RouterOptions{
          .policy = policy, .staleness = Duration::nanos(kEvery), .corrections = corrections},
      kReplicas);
  RandomStream random(3, "herd");
  std::vector<std::deque<std::pair<std::int64_t, RequestId>>> ends(kReplicas);
  std::int64_t now = 0;
  std::int64_t next_reading = 0;
  double total = 0;
  constexpr RequestId kRequests = 20'000;
  for (RequestId id = 0; id < kRequests; ++id) {
    now += static_cast<std::int64_t>(random.below(2 * kService * 10 / (8 * kReplicas)));
    for (std::uint32_t r = 0; r < kReplicas; ++r) {
      for (; !ends[r].empty() && ends[r].front().first <= now; ends[r].pop_front()) {
        router->finished(r, ends[r].front().second, Instant::nanos(ends[r].front().first));
      }
    }
    for (; next_reading <= now; next_reading += kEvery) {
      if (next_reading + kEvery <= now) continue;
      for (std::uint32_t r = 0; r < kReplicas; ++r) {
        router->observe(r, {.observed_at = Instant::nanos(now),
                            .queue_depth = static_cast<std::int64_t>(ends[r].size()),
                            .running = 0});
      }
    }
    const std::uint32_t to = router->choose(request_of(id)).value();
    router->dispatched(to, request_of(id), Instant::nanos(now + 1));
    const std::int64_t begin = ends[to].empty() ? now : ends[to].back().first;
    ends[to].emplace_back(begin + kService, id);
    total += static_cast<double>(begin + kService - now);
  }
  return total / kRequests / static_cast<double>(kService);
}

TEST(Router, StaleReadingsHerdUnlessCorrected) {
  const double corrected = mean_sojourn(RouterPolicy::kLeastLoad, true);
  const double herding = mean_sojourn(RouterPolicy::kLeastLoad, false);
  const double two = mean_sojourn(RouterPolicy::kPowerOfTwo, false);
  const double blind = mean_sojourn(RouterPolicy::kRandom, false);
  EXPECT_LT(corrected, 1.6);
  EXPECT_GT(herding, 3 * corrected) << "everybody goes where it looked empty a second ago";
  EXPECT_LT(two, herding) << "not everybody sees the same least loaded one";
  RecordProperty("sojourns", std::to_string(corrected) + " " + std::to_string(herding) + " " +
                                 std::to_string(two) + " " + std::to_string(blind));
}

TEST(Router, SaysWhichReadingsItNeeds) {
  const auto needs = [](RouterPolicy policy, double staleness_s) {
    return needed_signals({.policy = policy, .staleness = Duration::from_seconds(staleness_s)});
  };
  EXPECT_FALSE(needs(RouterPolicy::kRoundRobin, 1).any());
  EXPECT_FALSE(needs(RouterPolicy::kRandom, 1).any());
  EXPECT_FALSE(needs(RouterPolicy::kLeastLoad, 0).any()) << "its own books say it all";
  EXPECT_TRUE(needs(RouterPolicy::kLeastLoad, 1).queue);
  EXPECT_TRUE(needs(RouterPolicy::kLeastKv, 0).kv);
  EXPECT_TRUE(needs(RouterPolicy::kLeastTokens, 0).tokens);
  EXPECT_TRUE(needs(RouterPolicy::kBoundedAffinity, 0).tokens);
  EXPECT_FALSE(needs(RouterPolicy::kSessionAffinity, 1).tokens);
}

}  // namespace
}  // namespace inferscale

#include "routing/router_options.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace inferscale {
namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

constexpr RouterPolicy kAll[] = {
    RouterPolicy::kRoundRobin,  RouterPolicy::kRandom,          RouterPolicy::kLeastLoad,
    RouterPolicy::kLeastTokens, RouterPolicy::kLeastKv,         RouterPolicy::kPowerOfTwo,
    RouterPolicy::kPrefixAware, RouterPolicy::kSessionAffinity, RouterPolicy::kBoundedAffinity,
};

// Reads `router: {keys}` of a deployment.
RouterOptions read(const Keys& keys, ConfigSession& session) {
  const SourcePosition here = {"run.yaml", 1};
  ConfigNode root = ConfigNode::map(here);
  for (const auto& [key, text] : keys) {
    EXPECT_TRUE(root.set_path("router." + key, ConfigNode::scalar(text, false, here)).has_value());
  }
  ConfigReader deployment(root, session);
  const RouterOptions options = read_router(deployment);
  deployment.finish();
  return options;
}

std::string error_of(const Keys& keys) {
  ConfigSession session;
  read(keys, session);
  return session.failed() ? session.error().to_string() : "read without an error";
}

TEST(RouterOptions, DefaultsToLeastLoadOnThePresentState) {
  ConfigSession session;
  const RouterOptions options = read({}, session);
  ASSERT_FALSE(session.failed());
  EXPECT_EQ(options.policy, RouterPolicy::kLeastLoad);
  EXPECT_EQ(options.staleness, Duration());
  EXPECT_TRUE(options.corrections);
}

TEST(RouterOptions, ReadsEveryPolicyByItsName) {
  for (const RouterPolicy policy : kAll) {
    ConfigSession session;
    EXPECT_EQ(read({{"policy", std::string(policy_name(policy))}}, session).policy, policy);
    EXPECT_FALSE(session.failed()) << policy_name(policy);
  }
}

TEST(RouterOptions, ReadsTheNumbersOfAPolicy) {
  ConfigSession session;
  RouterOptions options = read({{"policy", "bounded_affinity"},
                                {"affinity_slack_ms", "12.5"},
                                {"most_sessions", "77"},
                                {"staleness_s", "0.25"},
                                {"corrections", "false"}},
                               session);
  EXPECT_EQ(options.affinity_slack, Duration::nanos(12'500'000));
  EXPECT_EQ(options.most_sessions, 77);
  EXPECT_EQ(options.staleness, Duration::nanos(250'000'000));
  EXPECT_FALSE(options.corrections);
  options =
      read({{"policy", "prefix_aware"}, {"prefix_weight", "2"}, {"index_tokens", "4096"}}, session);
  EXPECT_EQ(options.prefix_weight, 2);
  EXPECT_EQ(options.index_tokens, 4096);
  EXPECT_FALSE(session.failed());
}

TEST(RouterOptions, RefusesWhatAPolicyDoesNotHave) {
  EXPECT_EQ(error_of({{"policy", "least_loaded"}}),
            "run.yaml:1: router.policy: 'least_loaded': expected one of round_robin | random | "
            "least_load | least_tokens | least_kv | power_of_two | prefix_aware | "
            "session_affinity | bounded_affinity (did you mean 'least_load'?)");
  EXPECT_NE(error_of({{"affinity_slack_ms", "5"}}).find("router.affinity_slack_ms"),
            std::string::npos);
  EXPECT_NE(error_of({{"policy", "random"}, {"prefix_weight", "1"}}).find("router.prefix_weight"),
            std::string::npos);
}

TEST(RouterOptions, RefusesNumbersOutOfRange) {
  EXPECT_EQ(
      error_of({{"staleness_s", "-1"}}),
      "run.yaml:1: router.staleness_s: '-1': expected a number of at least 0 and at most 1000000");
  EXPECT_EQ(error_of({{"policy", "session_affinity"}, {"most_sessions", "0"}}),
            "run.yaml:1: router.most_sessions: '0': expected a whole number of at least 1 and at "
            "most 1000000000");
}

}  // namespace
}  // namespace inferscale

#include "routing/router_options.h"

#include <array>
#include <string>
#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::array<std::pair<RouterPolicy, std::string_view>, 9> kPolicies = {{
    {RouterPolicy::kRoundRobin, "round_robin"},
    {RouterPolicy::kRandom, "random"},
    {RouterPolicy::kLeastLoad, "least_load"},
    {RouterPolicy::kLeastTokens, "least_tokens"},
    {RouterPolicy::kLeastKv, "least_kv"},
    {RouterPolicy::kPowerOfTwo, "power_of_two"},
    {RouterPolicy::kPrefixAware, "prefix_aware"},
    {RouterPolicy::kSessionAffinity, "session_affinity"},
    {RouterPolicy::kBoundedAffinity, "bounded_affinity"},
}};

RouterPolicy policy_named(std::string_view name) {
  for (const auto& [policy, its_name] : kPolicies) {
    if (its_name == name) return policy;
  }
  return RouterPolicy::kLeastLoad;  // after an error, which the session holds
}

void read_prefix_aware(ConfigReader& router, RouterOptions& options) {
  options.prefix_weight = router.number(
      "prefix_weight", {.fallback = 1,
                        .min = 0,
                        .max = 1e6,
                        .unit = "ratio",
                        .doc = "a prompt token that is probably cached at a replica weighs as much "
                               "as so many tokens in flight less"});
  options.index_tokens = router.optional_integer(
      "index_tokens",
      {.min = 16,
       .max = 1'000'000'000'000,
       .unit = "tokens",
       .doc = "prompt tokens that the router remembers of each replica, those used last; null: as "
              "many as its KV cache holds"});
}

void read_homes(ConfigReader& router, RouterOptions& options) {
  options.most_sessions = router.integer(
      "most_sessions", {.fallback = 1'000'000,
                        .min = 1,
                        .max = 1'000'000'000,
                        .unit = "sessions",
                        .doc = "sessions whose replica is remembered, those dispatched last"});
}

}  // namespace

std::string_view policy_name(RouterPolicy policy) {
  for (const auto& [its_policy, name] : kPolicies) {
    if (its_policy == policy) return name;
  }
  CHECK(false) << "a router policy without a name";
  return {};
}

RouterOptions read_router(ConfigReader& deployment) {
  ConfigReader router = deployment.map("router", "chooses a replica for each request");
  RouterOptions options;
  const std::string policy =
      router.choice("policy",
                    {"round_robin", "random", "least_load", "least_tokens", "least_kv",
                     "power_of_two", "prefix_aware", "session_affinity", "bounded_affinity"},
                    "least_load", "how it chooses (docs/routers)");
  options.policy = policy_named(policy);
  options.staleness = Duration::from_seconds(router.number(
      "staleness_s",
      {.fallback = 0,
       .min = 0,
       .max = 1e6,
       .unit = "s",
       .doc = "time between two readings of the replicas' state; 0: the router sees it as it is"}));
  options.corrections = router.boolean(
      "corrections", true,
      "add to each reading what was dispatched since, and take away what finished since");
  router.when("policy", policy, "prefix_aware", [&] { read_prefix_aware(router, options); });
  router.when("policy", policy, "session_affinity", [&] { read_homes(router, options); });
  router.when("policy", policy, "bounded_affinity", [&] {
    read_homes(router, options);
    options.affinity_slack = Duration::from_millis(router.number(
        "affinity_slack_ms", {.fallback = 200,
                              .min = 0,
                              .max = 1e9,
                              .unit = "ms",
                              .doc = "a session stays at its replica while the expected wait there "
                                     "is longer than at the least loaded one by at most this"}));
  });
  router.finish();
  return options;
}

}  // namespace inferscale

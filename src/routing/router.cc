#include "routing/router.h"

#include <utility>

#include "base/check.h"
#include "routing/policies/policies.h"

namespace inferscale {
namespace {

constexpr std::string_view kRequestsMeaning = "requests / weight";
constexpr std::string_view kTokensMeaning = "tokens in flight / weight";
constexpr std::string_view kKvMeaning = "part of the KV cache in use";

LoadMeasure measure_of(RouterPolicy policy) {
  switch (policy) {
    case RouterPolicy::kLeastTokens:
    case RouterPolicy::kPrefixAware:
      return LoadMeasure::kTokens;
    case RouterPolicy::kLeastKv:
      return LoadMeasure::kKv;
    case RouterPolicy::kBoundedAffinity:
      return LoadMeasure::kWait;
    default:
      return LoadMeasure::kRequests;
  }
}

bool looks_at_load(RouterPolicy policy) {
  return policy != RouterPolicy::kRoundRobin && policy != RouterPolicy::kRandom;
}

BooksOptions books_options(const RouterOptions& options) {
  const bool looks = looks_at_load(options.policy);
  return {.measure = measure_of(options.policy),
          .ranked = looks && options.policy != RouterPolicy::kPowerOfTwo,
          .corrections = options.corrections,
          .readings_have_age = looks && options.staleness > Duration()};
}

std::unique_ptr<RoutingPolicy> make_policy(const RouterOptions& options, std::uint64_t seed) {
  switch (options.policy) {
    case RouterPolicy::kRoundRobin:
      return make_round_robin();
    case RouterPolicy::kRandom:
      return make_random(seed);
    case RouterPolicy::kLeastLoad:
      return make_least(kRequestsMeaning);
    case RouterPolicy::kLeastTokens:
      return make_least(kTokensMeaning);
    case RouterPolicy::kLeastKv:
      return make_least(kKvMeaning);
    case RouterPolicy::kPowerOfTwo:
      return make_power_of_two(seed);
    case RouterPolicy::kPrefixAware:
      return make_prefix_aware(options);
    case RouterPolicy::kSessionAffinity:
      return make_session_affinity(options);
    case RouterPolicy::kBoundedAffinity:
      return make_bounded_affinity(options);
  }
  CHECK(false) << "no such policy";
  return nullptr;
}

}  // namespace

Router::Router(ReplicaBooks books, std::unique_ptr<RoutingPolicy> policy)
    : books_(std::move(books)), policy_(std::move(policy)) {}

std::uint32_t Router::add_replica(const ReplicaTraits& traits) {
  const std::uint32_t replica = books_.add_replica(traits);
  policy_->replica_added(replica, traits);
  return replica;
}

void Router::set_available(std::uint32_t replica, bool available) {
  books_.set_available(replica, available);
}

void Router::observe(std::uint32_t replica, const ReplicaSignals& signals) {
  books_.observe(replica, signals);
}

std::optional<std::uint32_t> Router::choose(const Request& request) {
  return policy_->choose(books_, request);
}

void Router::dispatched(std::uint32_t replica, const Request& request, Instant now) {
  books_.dispatched(replica, request, now);
  policy_->dispatched(replica, request);
}

void Router::finished(std::uint32_t replica, RequestId request, Instant now) {
  books_.finished(replica, request, now);
}

void Router::forget(std::uint32_t replica) {
  books_.forget(replica);
  policy_->forgotten(replica);
}

std::vector<RouteScore> Router::explain(const Request& request, std::size_t most) {
  return policy_->explain(books_, request, most);
}

std::string_view Router::score_meaning() const {
  return policy_->score_meaning();
}

NeededSignals needed_signals(const RouterOptions& options) {
  if (!looks_at_load(options.policy)) return {};
  const LoadMeasure measure = measure_of(options.policy);
  const bool tokens = measure == LoadMeasure::kTokens || measure == LoadMeasure::kWait;
  // What was dispatched and has not ended waits or runs: fresh readings of the queue would only
  // repeat the books. With tokens they say how many requests share them.
  const bool queue = tokens || options.staleness > Duration();
  return {.queue = queue, .kv = measure == LoadMeasure::kKv, .tokens = tokens};
}

std::unique_ptr<Router> make_router(const RouterOptions& options,
                                    std::span<const ReplicaTraits> replicas, std::uint64_t seed) {
  auto router =
      std::make_unique<Router>(ReplicaBooks(books_options(options)), make_policy(options, seed));
  for (const ReplicaTraits& traits : replicas) router->add_replica(traits);
  return router;
}

}  // namespace inferscale

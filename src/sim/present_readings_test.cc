// Replicas whose loads follow a random script; every choice is compared with one that reads
// everybody, and the readings that it took are counted.

#include "sim/present_readings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/random.h"

namespace inferscale {
namespace {

Instant at(std::int64_t ns) {
  return Instant::nanos(ns);
}

// Decodes `size` sequences in steps of `step_ns` from `begin` on, `steps` of them; then it waits.
class ScriptedReplica final : public Replica {
 public:
  void enqueue(const Request&) override {}
  Instant next_wake() const override { return Instant::never(); }
  void wake(Instant) override {}
  void enqueue_handoff(const Handoff&, Instant) override {}
  void transferred(RequestId, Instant) override {}
  void withdraw(RequestId, Instant) override {}
  void release(std::uint32_t, Instant) override {}
  bool cancel(RequestId, Instant) override { return false; }
  std::vector<Request> fail(Instant) override { return {}; }
  const ReplicaUsage& usage() const override { return no_usage; }
  void flush() override {}
  const char* broken_invariant() const override { return nullptr; }

  std::int64_t ended(Instant now) const {
    return std::clamp<std::int64_t>((now - begin).ns() / step_ns, 0, steps);
  }
  ReplicaLoad load_at(Instant now) const override {
    ++readings;
    return {.kv_blocks_held = blocks + ended(now) * size / 4,
            .tokens_in_flight = tokens - ended(now) * size};
  }
  TokenFloor token_floor(Instant now, TokenCount level) const override {
    ++readings;
    const std::int64_t done = ended(now);
    const TokenCount left = tokens - done * size;
    const std::int64_t more = std::min(left > level ? (left - level) / 2 / size : 0, steps - done);
    const std::int64_t next = done + more + 1;
    return {.tokens = left - more * size,
            .until = next <= steps ? begin + Duration::nanos(next * step_ns) : Instant::never(),
            .is_exact = more == 0};
  }
  TokenRange token_range() const override {
    if (!knows_range) return {};
    return {.least = tokens - steps * size, .most = tokens};
  }

  Instant begin;
  bool knows_range = true;
  std::int64_t step_ns = 1;
  std::int64_t steps = 0;
  std::int64_t size = 1;
  TokenCount tokens = 0;
  BlockCount blocks = 0;
  mutable std::int64_t readings = 0;
  ReplicaUsage no_usage;
};

class Scripted {
 public:
  static constexpr BlockCount kBlocks = 100'000;
  // Of loads up to some 800,000 ns of tokens.
  static constexpr Duration kSlack = Duration::nanos(60'000);

  Scripted(RouterPolicy policy, std::uint32_t replicas, bool equal, std::uint64_t seed)
      : policy_(policy), random_(seed, "scripted loads"), scripts_(replicas), last_(replicas, 0) {
    std::vector<ReplicaTraits> traits;
    for (ScriptedReplica& script : scripts_) {
      ReplicaTraits each{.token_ns = 100, .kv_cache_tokens = 16 * kBlocks};
      if (!equal) {
        each.weight = static_cast<double>(1 + random_.below(3)) / 3;
        each.token_ns = static_cast<double>(70 * (1 + random_.below(3)));
      }
      traits.push_back(each);
      members_.push_back({.replica = &script, .kv_blocks = kBlocks, .traits = each});
    }
    const RouterOptions options{.policy = policy, .affinity_slack = kSlack};
    router_ = make_router(options, traits, seed);
    readings_ =
        std::make_unique<PresentReadings>(members_, *router_, needed_signals({.policy = policy}));
    for (std::uint32_t i = 0; i < replicas; ++i) change(i);
  }

  // Some time passes, something happens at a few replicas, a request comes.
  void go_on(std::int64_t most_ns) {
    now_ = now_ + Duration::nanos(static_cast<std::int64_t>(
                      random_.below(static_cast<std::uint64_t>(most_ns) + 1)));
    for (std::uint64_t i = random_.below(4); i > 0; --i) change(any());
    if (random_.below(20) == 0) {
      const std::uint32_t replica = any();
      const bool opens = random_.below(3) > 0;
      router_->set_available(replica, opens);
      closed_.resize(scripts_.size());
      closed_[replica] = !opens;
    }
    choose();
  }
  std::int64_t readings() const {
    std::int64_t sum = 0;
    for (const ScriptedReplica& script : scripts_) sum += script.readings;
    return sum;
  }

 private:
  std::uint32_t any() { return static_cast<std::uint32_t>(random_.below(scripts_.size())); }

  void change(std::uint32_t i) {
    ScriptedReplica& script = scripts_[i];
    script.begin = now_;
    script.step_ns = 50 + static_cast<std::int64_t>(random_.below(100));
    script.size = 1 + static_cast<std::int64_t>(random_.below(8)) * 5;
    script.steps = static_cast<std::int64_t>(random_.below(60));
    // Multiples of five, so that ties come up.
    script.tokens = script.steps * script.size + static_cast<TokenCount>(random_.below(300)) * 5;
    script.blocks = static_cast<BlockCount>(random_.below(500));
    script.knows_range = random_.below(3) > 0;
    readings_->touched(i);
  }

  void choose() {
    const Instant before = now_ > Instant() ? now_ - Duration::nanos(1) : now_;
    // Reading everybody. The number of readings counts the other side's only.
    std::optional<std::uint32_t> best;
    const auto order = [&](std::uint32_t i) {
      const ReplicaTraits& traits = members_[i].traits;
      const std::int64_t readings = scripts_[i].readings;
      const ReplicaLoad load = scripts_[i].load_at(before);
      scripts_[i].readings = readings;
      const auto tokens = static_cast<double>(load.tokens_in_flight);
      double value = tokens / traits.weight;
      double next = 0;
      if (policy_ == RouterPolicy::kBoundedAffinity) value = tokens * traits.token_ns;
      if (policy_ == RouterPolicy::kLeastKv) {
        value = static_cast<double>(load.kv_blocks_held) / static_cast<double>(kBlocks);
        next = static_cast<double>(dispatched_[i]) / traits.weight;
      }
      return std::tuple(value, next, -traits.weight, last_[i], i);
    };
    dispatched_.resize(scripts_.size());
    for (std::uint32_t i = 0; i < scripts_.size(); ++i) {
      if (!closed_.empty() && closed_[i]) continue;
      if (!best || order(i) < order(*best)) best = i;
    }
    const auto session = static_cast<std::uint32_t>(random_.below(homes_.size()));
    if (policy_ == RouterPolicy::kBoundedAffinity && best && homes_[session] &&
        (closed_.empty() || !closed_[*homes_[session]]) &&
        std::get<0>(order(*homes_[session])) - std::get<0>(order(*best)) <=
            static_cast<double>(kSlack.ns())) {
      best = homes_[session];
    }
    readings_->begin_choice(now_);
    const Request request{
        .id = next_id_++, .prompt_tokens = 10, .max_tokens = 10, .session = session};
    ASSERT_EQ(router_->choose(request), best) << "at " << now_.ns();
    if (!best) return;
    homes_[session] = best;
    router_->dispatched(*best, request, now_);
    last_[*best] = next_id_;
    ++dispatched_[*best];
    // What it adds to the load.
    scripts_[*best].tokens += 20;
    readings_->touched(*best);
  }

  RouterPolicy policy_;
  RandomStream random_;
  std::vector<ScriptedReplica> scripts_;
  std::vector<PoolMember> members_;
  std::vector<RequestId> last_;
  std::vector<std::int64_t> dispatched_;
  std::vector<bool> closed_;
  std::vector<std::optional<std::uint32_t>> homes_ =
      std::vector<std::optional<std::uint32_t>>(20);  // by session
  std::unique_ptr<Router> router_;
  std::unique_ptr<PresentReadings> readings_;
  Instant now_;
  RequestId next_id_ = 0;
};

constexpr RouterPolicy kReading[] = {RouterPolicy::kLeastTokens, RouterPolicy::kLeastKv,
                                     RouterPolicy::kBoundedAffinity};

TEST(PresentReadings, LeadToTheChoiceOfReadingEverybody) {
  for (const RouterPolicy policy : kReading) {
    for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
      SCOPED_TRACE(std::string(policy_name(policy)) + ", seed " + std::to_string(seed));
      const auto replicas = static_cast<std::uint32_t>(1 + seed * 7 % 40);
      Scripted scripted(policy, replicas, seed % 2 == 0, seed);
      const std::int64_t most_ns = seed % 3 == 0 ? 2 : seed % 3 == 1 ? 60 : 1500;
      for (int i = 0; i < 300 && !HasFailure(); ++i) scripted.go_on(most_ns);
    }
  }
}

TEST(PresentReadings, AreFewHoweverManyReplicas) {
  constexpr std::int64_t kChoices = 2000;
  for (const RouterPolicy policy : kReading) {
    SCOPED_TRACE(policy_name(policy));
    for (const std::uint32_t replicas : {16U, 1024U}) {
      Scripted scripted(policy, replicas, true, 1);
      // The same number of events at a replica between two choices as the fleet grows.
      for (int i = 0; i < kChoices && !HasFailure(); ++i) scripted.go_on(40'000 / replicas);
      // Each choice changes 2.5 replicas.
      EXPECT_LT(scripted.readings(), 8 * kChoices) << replicas;
    }
  }
}

TEST(PresentReadings, OfWhatTheRouterForgotAreUnknownUntilSomethingHappens) {
  for (const RouterPolicy policy : {RouterPolicy::kLeastTokens, RouterPolicy::kLeastKv}) {
    SCOPED_TRACE(policy_name(policy));
    ScriptedReplica busy;
    busy.tokens = 100;
    busy.blocks = 5;
    ScriptedReplica other;
    other.tokens = 50;
    other.blocks = 3;
    const ReplicaTraits traits{.kv_cache_tokens = 160};
    const std::vector<PoolMember> members = {{&busy, 10, traits}, {&other, 10, traits}};
    const RouterOptions options{.policy = policy};
    const auto router = make_router(options, std::vector(2, traits), 1);
    PresentReadings readings(members, *router, needed_signals(options));
    const auto choose = [&](std::int64_t ns) {
      readings.begin_choice(at(ns));
      return router->choose({.prompt_tokens = 1, .max_tokens = 1});
    };
    EXPECT_EQ(choose(1), 0u) << "nobody was read";
    readings.touched(0);
    readings.touched(1);
    EXPECT_EQ(choose(2), 1u);
    router->forget(0);
    readings.forgotten(0);
    EXPECT_EQ(choose(3), 0u) << "nothing is in flight there by the router's books";
    readings.touched(0);
    EXPECT_EQ(choose(4), 1u);
  }
}

}  // namespace
}  // namespace inferscale

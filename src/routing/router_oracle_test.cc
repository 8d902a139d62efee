// Random histories of calls, on a router and on one that goes through the whole history each time:
// every decision is the same.

#include <gtest/gtest.h>

#include <deque>

#include "base/random.h"
#include "routing/naive_router.h"
#include "routing/router.h"

namespace inferscale {
namespace {

struct Setting {
  RouterOptions options;
  std::uint32_t replicas = 5;
  bool has_equal_replicas = false;
};

class History {
 public:
  History(const Setting& setting, std::uint64_t seed)
      : setting_(setting),
        random_(seed, "router history"),
        router_(make_router(setting.options, {}, seed)),
        naive_(setting.options, seed) {
    while (router_->replicas() < setting.replicas) add_replica();
  }

  void run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      if (random_.below(3) > 0)
        now_ = now_ + Duration::nanos(static_cast<std::int64_t>(random_.below(4)));
      const std::uint64_t what = random_.below(100);
      if (what < 45) {
        dispatch();
      } else if (what < 75) {
        end_one();
      } else if (what < 90) {
        read();
      } else if (what < 98) {
        open_or_close();
      } else if (router_->replicas() < 2 * setting_.replicas) {
        add_replica();
      }
    }
  }
  int decisions() const { return decisions_; }

 private:
  struct Sent {
    std::uint32_t replica = 0;
    RequestId id = 0;
  };

  std::uint32_t any_replica() {
    return static_cast<std::uint32_t>(random_.below(router_->replicas()));
  }

  void add_replica() {
    ReplicaTraits traits{.token_ns = 100, .kv_cache_tokens = 4096};
    if (!setting_.has_equal_replicas) {
      traits.weight = static_cast<double>(1 + random_.below(3));
      traits.token_ns = static_cast<double>(100 * (1 + random_.below(3)));
      traits.kv_cache_tokens = static_cast<TokenCount>(random_.below(4) * 1000);
    }
    router_->add_replica(traits);
    naive_.add_replica(traits);
  }

  Request next_request() {
    Request request{.id = next_id_++,
                    .prompt_tokens = static_cast<std::uint32_t>(400 + random_.below(5)),
                    .max_tokens = static_cast<std::uint32_t>(1 + random_.below(3) * 20)};
    if (random_.below(4) > 0) request.session = static_cast<std::uint32_t>(random_.below(6));
    if (random_.below(4) > 0) request.tenant = static_cast<std::uint32_t>(random_.below(3));
    std::vector<ContentPiece>& pieces = contents_.emplace_back();
    std::uint64_t key = 1;
    for (std::uint64_t i = random_.below(5); i > 0; --i) {
      key = key * 4 + random_.below(3);
      pieces.push_back({key, static_cast<std::uint32_t>(1 + key % 80)});
    }
    request.content = pieces.data();
    request.content_pieces = static_cast<std::uint32_t>(pieces.size());
    return request;
  }

  void dispatch() {
    const Request request = next_request();
    const std::optional<std::uint32_t> chosen = router_->choose(request);
    ASSERT_EQ(chosen, naive_.choose(request));
    ASSERT_EQ(chosen, router_->choose(request)) << "choosing changes nothing";
    const std::vector<RouteScore> scores = router_->explain(request, 3);
    ASSERT_EQ(scores.empty(), !chosen);
    if (!chosen) return;
    ASSERT_EQ(scores.front().replica, *chosen) << "the explanation begins with the choice";
    ++decisions_;
    // Now and then somebody else decides.
    const std::uint32_t replica = random_.below(10) == 0 ? any_replica() : *chosen;
    router_->dispatched(replica, request, now_);
    naive_.dispatched(replica, request, now_);
    sent_.push_back({replica, request.id});
  }

  void end(std::size_t place) {
    const Sent sent = sent_[place];
    sent_.erase(sent_.begin() + static_cast<std::ptrdiff_t>(place));
    router_->finished(sent.replica, sent.id, now_);
    naive_.finished(sent.replica, sent.id, now_);
  }

  void end_one() {
    if (!sent_.empty()) end(random_.below(sent_.size()));
  }

  void read() {
    const std::uint32_t replica = any_replica();
    // Readings come in order.
    read_until_.resize(router_->replicas());
    Instant& last = read_until_[replica];
    const auto age = static_cast<std::int64_t>(random_.below(12));
    last = std::max(last, now_ - Duration::nanos(age));
    if (setting_.options.staleness == Duration()) last = now_;
    ReplicaSignals signals{.observed_at = last};
    if (random_.below(5) > 0) signals.queue_depth = static_cast<std::int64_t>(random_.below(3));
    if (random_.below(5) > 0) signals.running = static_cast<std::int64_t>(random_.below(4));
    if (random_.below(5) > 0)
      signals.tokens_in_flight = static_cast<TokenCount>(random_.below(3) * 400);
    if (random_.below(5) > 0) signals.kv_used_fraction = static_cast<double>(random_.below(5)) / 4;
    router_->observe(replica, signals);
    naive_.observe(replica, signals);
  }

  void open_or_close() {
    const std::uint32_t replica = any_replica();
    const bool available = random_.below(3) > 0;
    router_->set_available(replica, available);
    naive_.set_available(replica, available);
    if (available || random_.below(2) == 0) return;
    // It fails: what was on it is lost, and it starts anew.
    for (std::size_t i = sent_.size(); i > 0; --i) {
      if (sent_[i - 1].replica == replica) end(i - 1);
    }
    router_->forget(replica);
    naive_.forget(replica);
  }

  Setting setting_;
  RandomStream random_;
  std::unique_ptr<Router> router_;
  NaiveRouter naive_;
  Instant now_ = Instant::nanos(100);
  RequestId next_id_ = 0;
  std::vector<Sent> sent_;
  std::vector<Instant> read_until_;
  std::deque<std::vector<ContentPiece>> contents_;  // they stay where they are
  int decisions_ = 0;
};

class RouterOracle : public testing::TestWithParam<RouterPolicy> {};

TEST_P(RouterOracle, DecidesAsTheWholeHistorySays) {
  int decisions = 0;
  for (std::uint64_t seed = 1; seed <= 16 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Setting setting;
    setting.options.policy = GetParam();
    setting.options.staleness = Duration::nanos(seed % 2 == 0 ? 10 : 0);
    setting.options.corrections = seed % 4 < 2;
    setting.options.prefix_weight = seed % 3 == 0 ? 0.5 : 2;
    setting.options.index_tokens = 300;
    setting.options.most_sessions = seed % 5 == 0 ? 3 : 100;
    setting.options.affinity_slack = Duration::nanos(seed % 2 == 0 ? 60'000 : 10'000);
    // All holders of a piece are listed among up to eight replicas; others may be overlooked.
    const bool few = GetParam() == RouterPolicy::kPrefixAware;
    setting.replicas = few ? 4 : static_cast<std::uint32_t>(1 + seed * 5 % 70);
    setting.has_equal_replicas = seed % 3 == 0;
    History history(setting, seed);
    history.run(400);
    decisions += history.decisions();
  }
  EXPECT_GT(decisions, 1500);
}

INSTANTIATE_TEST_SUITE_P(Policies, RouterOracle,
                         testing::Values(RouterPolicy::kRoundRobin, RouterPolicy::kRandom,
                                         RouterPolicy::kLeastLoad, RouterPolicy::kLeastTokens,
                                         RouterPolicy::kLeastKv, RouterPolicy::kPowerOfTwo,
                                         RouterPolicy::kPrefixAware, RouterPolicy::kSessionAffinity,
                                         RouterPolicy::kBoundedAffinity),
                         [](const auto& param) { return std::string(policy_name(param.param)); });

}  // namespace
}  // namespace inferscale

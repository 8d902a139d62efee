// A router that is told lower bounds of loads asks for the present of those only that could win.

#include "routing/load_source.h"

#include <gtest/gtest.h>

#include <vector>

#include "routing/router.h"

namespace inferscale {
namespace {

// Knows the tokens in flight of every replica, and tells the router fewer until it asks.
class Informant final : public LoadSource {
 public:
  Informant(RouterPolicy policy, const std::vector<TokenCount>& bounds,
            const std::vector<TokenCount>& present)
      : router_(make_router({.policy = policy},
                            std::vector(bounds.size(), ReplicaTraits{.token_ns = 1e6}), 1)),
        present_(present) {
    router_->ask(*this);
    for (std::uint32_t i = 0; i < bounds.size(); ++i) {
      router_->observe(i, {.tokens_in_flight = bounds[i]});
    }
  }

  bool see(std::uint32_t replica) override {
    for (const std::uint32_t one : asked) {
      if (one == replica) return false;
    }
    asked.push_back(replica);
    router_->observe(replica, {.tokens_in_flight = present_[replica]});
    return true;
  }
  Router& router() { return *router_; }

  std::vector<std::uint32_t> asked;

 private:
  std::unique_ptr<Router> router_;
  std::vector<TokenCount> present_;
};

using Replicas = std::vector<std::uint32_t>;

TEST(LoadSource, IsAskedUntilTheLeastBoundIsTheTruth) {
  Informant informant(RouterPolicy::kLeastTokens, {10, 20, 30, 40}, {35, 25, 30, 40});
  EXPECT_EQ(informant.router().choose({.id = 1}), 1u);
  EXPECT_EQ(informant.asked, (Replicas{0, 1}));
}

TEST(LoadSource, IsAskedForAllThatTie) {
  // The first of equals goes by its index, as nobody was dispatched to.
  Informant informant(RouterPolicy::kLeastTokens, {29, 20, 30, 31}, {30, 30, 30, 31});
  EXPECT_EQ(informant.router().choose({.id = 1}), 0u);
  EXPECT_EQ(informant.asked, (Replicas{1, 0}));
}

TEST(LoadSource, IsNotAskedForReplicasThatAreNotAvailable) {
  Informant informant(RouterPolicy::kLeastTokens, {10, 20, 30}, {10, 20, 30});
  informant.router().set_available(0, false);
  EXPECT_EQ(informant.router().choose({.id = 1}), 1u);
  EXPECT_EQ(informant.asked, (Replicas{1}));
}

TEST(LoadSource, IsAskedForAHome) {
  Informant informant(RouterPolicy::kBoundedAffinity, {500, 20, 30}, {900, 20, 30});
  informant.router().dispatched(0, {.id = 0, .session = 7}, Instant());
  // The slack is worth 200 tokens: by its bound the home is within it, by the truth it is not.
  informant.router().observe(0, {.tokens_in_flight = 100});
  EXPECT_EQ(informant.router().choose({.id = 1, .session = 7}), 1u);
  EXPECT_EQ(informant.asked, (Replicas{1, 0}));
}

TEST(LoadSource, IsAskedForHoldersThatCouldWinOnly) {
  const ContentPiece piece{.key = 5, .tokens = 100};
  const Request request{.id = 9, .prompt_tokens = 100, .content = &piece, .content_pieces = 1};
  Informant informant(RouterPolicy::kPrefixAware, {0, 0, 0}, {60, 900, 20});
  // Replicas 0 and 1 hold the prompt: a hundred tokens less than at replica 2.
  for (const std::uint32_t replica : {0U, 1U}) {
    Request earlier = request;
    earlier.id = replica;
    informant.router().dispatched(replica, earlier, Instant());
  }
  informant.router().observe(0, {.tokens_in_flight = 50});
  informant.router().observe(1, {.tokens_in_flight = 800});
  informant.router().observe(2, {.tokens_in_flight = 10});
  EXPECT_EQ(informant.router().choose(request), 0u);
  EXPECT_EQ(informant.asked, (Replicas{2, 0})) << "at 800 tokens or more replica 1 can't win";
}

TEST(LoadSource, IsAskedForEverybodyForAnExplanation) {
  Informant informant(RouterPolicy::kLeastTokens, {10, 20, 30, 40}, {35, 25, 30, 90});
  const std::vector<RouteScore> scores = informant.router().explain({.id = 1}, 9);
  ASSERT_EQ(scores.size(), 4u);
  EXPECT_EQ(scores[0].replica, 1u);
  EXPECT_EQ(scores[3].score, 90);
}

}  // namespace
}  // namespace inferscale

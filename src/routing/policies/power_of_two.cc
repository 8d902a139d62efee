// power_of_two: two different available replicas are drawn from (seed, request), and the less
// loaded one is taken (M. Mitzenmacher, "The power of two choices in randomized load balancing",
// IEEE TPDS 12(10) 2001). With stale readings it herds less than least_load, for not everybody
// sees the same least loaded replica.

#include <utility>

#include "routing/policies/draws.h"
#include "routing/policies/policies.h"

namespace inferscale {
namespace {

class PowerOfTwo final : public RoutingPolicy {
 public:
  explicit PowerOfTwo(std::uint64_t seed) : key_(draw_key(seed)) {}

  std::optional<std::uint32_t> choose(ReplicaBooks& books, const Request& request) const override {
    if (books.available().count() == 0) return std::nullopt;
    return drawn(books, request).first;
  }
  void dispatched(std::uint32_t, const Request&) override {}
  void replica_added(std::uint32_t, const ReplicaTraits&) override {}
  void forgotten(std::uint32_t) override {}

  std::vector<RouteScore> explain(ReplicaBooks& books, const Request& request,
                                  std::size_t most) const override {
    if (books.available().count() == 0 || most == 0) return {};
    const auto [better, other] = drawn(books, request);
    std::vector<RouteScore> scores = {{.replica = better, .score = books.key(better).load}};
    if (most > 1 && other != better) {
      scores.push_back({.replica = other, .score = books.key(other).load});
    }
    return scores;
  }
  std::string_view score_meaning() const override { return "requests / weight, of the two drawn"; }

 private:
  // The better of the two and the other; twice the same where there is only one.
  // REQUIRES: some replica is available.
  std::pair<std::uint32_t, std::uint32_t> drawn(ReplicaBooks& books, const Request& request) const {
    const AvailableSet& available = books.available();
    if (available.count() == 1) return {available.at(0), available.at(0)};
    RequestDraws draws(key_, request.id);
    const std::uint32_t first = draws.below(available.count());
    // One of the others: those from the first on move up by one.
    std::uint32_t second = draws.below(available.count() - 1);
    if (second >= first) ++second;
    const std::uint32_t a = available.at(first);
    const std::uint32_t b = available.at(second);
    return books.prefers(a, b) ? std::pair(a, b) : std::pair(b, a);
  }

  std::uint64_t key_;
};

}  // namespace

std::unique_ptr<RoutingPolicy> make_power_of_two(std::uint64_t seed) {
  return std::make_unique<PowerOfTwo>(seed);
}

}  // namespace inferscale

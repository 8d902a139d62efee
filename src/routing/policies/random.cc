// random: any available replica, all with the same probability, drawn from (seed, request).

#include "routing/policies/draws.h"
#include "routing/policies/policies.h"

namespace inferscale {
namespace {

class Random final : public RoutingPolicy {
 public:
  explicit Random(std::uint64_t seed) : key_(draw_key(seed)) {}

  std::optional<std::uint32_t> choose(ReplicaBooks& books, const Request& request) const override {
    const AvailableSet& available = books.available();
    if (available.count() == 0) return std::nullopt;
    return available.at(RequestDraws(key_, request.id).below(available.count()));
  }
  void dispatched(std::uint32_t, const Request&) override {}
  void replica_added(std::uint32_t, const ReplicaTraits&) override {}
  void forgotten(std::uint32_t) override {}

  std::vector<RouteScore> explain(ReplicaBooks& books, const Request& request,
                                  std::size_t most) const override {
    const std::optional<std::uint32_t> chosen = choose(books, request);
    if (!chosen || most == 0) return {};
    return {{.replica = *chosen}};
  }
  std::string_view score_meaning() const override { return "none: drawn at random"; }

 private:
  std::uint64_t key_;
};

}  // namespace

std::unique_ptr<RoutingPolicy> make_random(std::uint64_t seed) {
  return std::make_unique<Random>(seed);
}

}  // namespace inferscale

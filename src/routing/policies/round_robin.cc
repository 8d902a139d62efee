// round_robin: the replicas in turn, in order of index, whatever their load.

#include <algorithm>

#include "routing/policies/policies.h"

namespace inferscale {
namespace {

class RoundRobin final : public RoutingPolicy {
 public:
  std::optional<std::uint32_t> choose(ReplicaBooks& books, const Request&) const override {
    const AvailableSet& available = books.available();
    if (available.count() == 0) return std::nullopt;
    return available.at(available.rank(next_) % available.count());
  }
  void dispatched(std::uint32_t replica, const Request&) override { next_ = replica + 1; }
  void replica_added(std::uint32_t, const ReplicaTraits&) override {}
  void forgotten(std::uint32_t) override {}

  std::vector<RouteScore> explain(ReplicaBooks& books, const Request&,
                                  std::size_t most) const override {
    const AvailableSet& available = books.available();
    std::vector<RouteScore> scores;
    const auto count = std::min<std::size_t>(most, available.count());
    for (std::uint32_t turn = 0; turn < count; ++turn) {
      const std::uint32_t position = (available.rank(next_) + turn) % available.count();
      scores.push_back({.replica = available.at(position), .score = static_cast<double>(turn)});
    }
    return scores;
  }
  std::string_view score_meaning() const override { return "turns until its own"; }

 private:
  std::uint32_t next_ = 0;  // behind the last one
};

}  // namespace

std::unique_ptr<RoutingPolicy> make_round_robin() {
  return std::make_unique<RoundRobin>();
}

}  // namespace inferscale

// least_load, least_tokens, least_kv: the available replica with the least of what the books
// measure (routing/replica_books.h).

#include "routing/policies/policies.h"
#include "routing/policies/ranking.h"

namespace inferscale {
namespace {

class Least final : public RoutingPolicy {
 public:
  explicit Least(std::string_view meaning) : meaning_(meaning) {}

  std::optional<std::uint32_t> choose(ReplicaBooks& books, const Request&) const override {
    return books.least();
  }
  void dispatched(std::uint32_t, const Request&) override {}
  void replica_added(std::uint32_t, const ReplicaTraits&) override {}
  void forgotten(std::uint32_t) override {}

  std::vector<RouteScore> explain(ReplicaBooks& books, const Request&,
                                  std::size_t most) const override {
    return least_loaded(books, most);
  }
  std::string_view score_meaning() const override { return meaning_; }

 private:
  std::string_view meaning_;
};

}  // namespace

std::unique_ptr<RoutingPolicy> make_least(std::string_view meaning) {
  return std::make_unique<Least>(meaning);
}

}  // namespace inferscale

// prefix_aware: the work in flight at a replica against the prompt tokens that it would have to
// compute.
//
//   cost(replica) = tokens in flight / weight + prefix_weight x (prompt tokens - matched tokens)
//
// The least cost wins; ties as in every policy. Where nothing matches it is least_tokens. In a
// cost, a replica is worth following for a prefix of m tokens while its backlog is longer than the
// least one by at most prefix_weight x m.
//
// Examined are the least loaded replica and, from the longest match down, the holders that the
// index lists for each length, until no shorter match could win. A holder beyond the listed ones is
// overlooked, or counted with a shorter match for which it is listed, unless it is the least
// loaded.

#include <algorithm>

#include "routing/policies/policies.h"
#include "routing/policies/ranking.h"
#include "routing/prefix_index.h"

namespace inferscale {
namespace {

struct Candidate {
  std::uint32_t replica = 0;
  TokenCount matched = 0;
  double cost = 0;
};

class PrefixAware final : public RoutingPolicy {
 public:
  explicit PrefixAware(const RouterOptions& options)
      : weight_(options.prefix_weight), index_tokens_(options.index_tokens) {}

  std::optional<std::uint32_t> choose(ReplicaBooks& books, const Request& request) const override {
    const std::optional<std::uint32_t> least = books.least();
    const std::uint32_t held = least ? index_.pieces_held(request) : 0;
    if (held == 0) return least;
    const double least_load = books.key(*least).load;
    Candidate best = candidate(books, request, *least);
    TokenCount matched = tokens_of(request, held);
    std::uint32_t holders_before = 0;
    for (std::uint32_t pieces = held; pieces > 0; --pieces) {
      if (best.cost < least_load + computing(request, matched)) break;
      const PrefixIndex::Holders holders = index_.holders(request.content[pieces - 1].key);
      // Holders of a longer match hold the shorter one too: as many are the same ones.
      if (holders.count != holders_before) consider(books, request, holders, matched, best);
      holders_before = holders.count;
      matched -= request.content[pieces - 1].tokens;
    }
    return best.replica;
  }

  void dispatched(std::uint32_t replica, const Request& request) override {
    index_.dispatched(replica, request);
  }
  void replica_added(std::uint32_t, const ReplicaTraits& traits) override {
    const TokenCount cache =
        traits.kv_cache_tokens > 0 ? traits.kv_cache_tokens : RouterOptions::kIndexTokens;
    index_.add_replica(index_tokens_.value_or(cache));
  }
  void forgotten(std::uint32_t replica) override { index_.forget(replica); }

  std::vector<RouteScore> explain(ReplicaBooks& books, const Request& request,
                                  std::size_t most) const override {
    const std::optional<std::uint32_t> chosen = choose(books, request);
    if (!chosen) return {};
    std::vector<Candidate> all;
    for (std::uint32_t i = 0; i < books.available().count(); ++i) {
      all.push_back(candidate(books, request, books.available().at(i)));
    }
    std::sort(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) {
      if ((a.replica == chosen) != (b.replica == chosen)) return a.replica == chosen;
      return is_cheaper(books, a, b);
    });
    all.resize(std::min(most, all.size()));
    std::vector<RouteScore> scores;
    for (const Candidate& one : all) {
      scores.push_back({.replica = one.replica, .score = one.cost, .matched_tokens = one.matched});
    }
    return scores;
  }
  std::string_view score_meaning() const override {
    return "tokens in flight / weight + prefix_weight x prompt tokens not matched";
  }

 private:
  // Tokens of the first `pieces` pieces.
  static TokenCount tokens_of(const Request& request, std::uint32_t pieces) {
    TokenCount tokens = 0;
    for (std::uint32_t i = 0; i < pieces; ++i) tokens += request.content[i].tokens;
    return tokens;
  }
  double computing(const Request& request, TokenCount matched) const {
    return weight_ * static_cast<double>(request.prompt_tokens - matched);
  }
  Candidate candidate(ReplicaBooks& books, const Request& request, std::uint32_t replica) const {
    const TokenCount matched = tokens_of(request, index_.pieces_held(replica, request));
    return {replica, matched, books.key(replica).load + computing(request, matched)};
  }
  static bool is_cheaper(ReplicaBooks& books, const Candidate& a, const Candidate& b) {
    return a.cost != b.cost ? a.cost < b.cost : books.prefers(a.replica, b.replica);
  }
  void consider(ReplicaBooks& books, const Request& request, const PrefixIndex::Holders& holders,
                TokenCount matched, Candidate& best) const {
    for (const std::uint32_t replica : holders.listed) {
      if (!books.available().contains(replica)) continue;
      // Who can't win by the least that its load may be need not be looked at.
      const double known = books.key_bound(replica).load + computing(request, matched);
      if (known > best.cost) continue;
      const double cost = books.key(replica).load + computing(request, matched);
      const Candidate other{.replica = replica, .matched = matched, .cost = cost};
      if (is_cheaper(books, other, best)) best = other;
    }
  }

  double weight_;
  std::optional<TokenCount> index_tokens_;
  PrefixIndex index_;
};

}  // namespace

std::unique_ptr<RoutingPolicy> make_prefix_aware(const RouterOptions& options) {
  return std::make_unique<PrefixAware>(options);
}

}  // namespace inferscale

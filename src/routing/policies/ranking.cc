#include "routing/policies/ranking.h"

#include <algorithm>

namespace inferscale {

std::vector<RouteScore> least_loaded(ReplicaBooks& books, std::size_t most) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < books.available().count(); ++i) {
    order.push_back(books.available().at(i));
  }
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return books.prefers(a, b); });
  order.resize(std::min(most, order.size()));
  std::vector<RouteScore> scores;
  for (const std::uint32_t replica : order) {
    scores.push_back({.replica = replica, .score = books.key(replica).load});
  }
  return scores;
}

std::vector<RouteScore> chosen_and_least_loaded(ReplicaBooks& books,
                                                std::optional<std::uint32_t> chosen,
                                                std::optional<std::uint32_t> home,
                                                std::size_t most) {
  std::vector<RouteScore> scores = least_loaded(books, books.available().count());
  for (RouteScore& score : scores) score.is_home = home == score.replica;
  const auto first = std::find_if(scores.begin(), scores.end(),
                                  [&](const RouteScore& score) { return chosen == score.replica; });
  if (first != scores.end()) std::rotate(scores.begin(), first, first + 1);
  scores.resize(std::min(most, scores.size()));
  return scores;
}

}  // namespace inferscale

// How a routing policy chooses: the seam between the books of a router and its policies.
//
// A policy looks at the books and at what it remembers itself (a cursor, homes of sessions, an
// index of prefixes). It changes that memory only when a request was really dispatched, so that
// choosing twice, or for a shadow decision, changes nothing.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/request.h"
#include "routing/replica_books.h"

namespace inferscale {

// One line of an explanation. What `score` is depends on the policy (Router::score_meaning); the
// lower is the better.
struct RouteScore {
  std::uint32_t replica = 0;
  double score = 0;
  TokenCount matched_tokens = 0;  // prefix_aware: of the prompt, probably cached there
  bool is_home = false;           // affinities: where the session was before
};

class RoutingPolicy {
 public:
  virtual ~RoutingPolicy() = default;

  // One of the available replicas; nothing when there is none.
  virtual std::optional<std::uint32_t> choose(ReplicaBooks& books,
                                              const Request& request) const = 0;
  // The request went to `replica`, whoever chose it.
  virtual void dispatched(std::uint32_t replica, const Request& request) = 0;
  virtual void replica_added(std::uint32_t replica, const ReplicaTraits& traits) = 0;
  // The cache of the replica is empty again.
  virtual void forgotten(std::uint32_t replica) = 0;
  virtual std::vector<RouteScore> explain(ReplicaBooks& books, const Request& request,
                                          std::size_t most) const = 0;
  virtual std::string_view score_meaning() const = 0;
};

}  // namespace inferscale

// The available replicas in order of preference, for explanations.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "routing/replica_books.h"
#include "routing/routing_policy.h"

namespace inferscale {

// The `most` least loaded available replicas, the best first, scored by their load.
std::vector<RouteScore> least_loaded(ReplicaBooks& books, std::size_t most);

// The same for the affinities: `chosen` comes first, whatever its load, and the home is marked.
std::vector<RouteScore> chosen_and_least_loaded(ReplicaBooks& books,
                                                std::optional<std::uint32_t> chosen,
                                                std::optional<std::uint32_t> home,
                                                std::size_t most);

}  // namespace inferscale

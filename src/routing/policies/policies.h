// The routing policies: a factory for each. docs/routers/ has a page for each, under its name.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "routing/router_options.h"
#include "routing/routing_policy.h"

namespace inferscale {

std::unique_ptr<RoutingPolicy> make_round_robin();
std::unique_ptr<RoutingPolicy> make_random(std::uint64_t seed);
// The least by the measure of the books, which `meaning` puts in words.
std::unique_ptr<RoutingPolicy> make_least(std::string_view meaning);
std::unique_ptr<RoutingPolicy> make_power_of_two(std::uint64_t seed);
std::unique_ptr<RoutingPolicy> make_prefix_aware(const RouterOptions& options);
std::unique_ptr<RoutingPolicy> make_session_affinity(const RouterOptions& options);
// The books measure waits.
std::unique_ptr<RoutingPolicy> make_bounded_affinity(const RouterOptions& options);

}  // namespace inferscale

// Uniform routing against every possible choice of experts, counted one by one.

#include "replica/latency/expert_routing.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace inferscale {
namespace {

std::vector<std::uint32_t> choices(int experts, int chosen) {
  std::vector<std::uint32_t> sets;
  for (std::uint32_t set = 0; set < 1U << experts; ++set) {
    if (std::popcount(set) == chosen) sets.push_back(set);
  }
  return sets;
}

TEST(ExpertRouting, VisitedPartOfTwoTokens) {
  const std::vector<std::uint32_t> sets = choices(6, 2);
  double sum = 0;
  for (const std::uint32_t a : sets) {
    for (const std::uint32_t b : sets) sum += std::popcount(a | b);
  }
  const double pairs = static_cast<double>(sets.size() * sets.size());
  const MoeSpec moe{.experts = 6, .experts_per_token = 2};
  EXPECT_NEAR(visited_part(moe, 2), sum / pairs / 6, 1e-14);
  EXPECT_EQ(visited_part(moe, 0), 0);
  EXPECT_NEAR(visited_part(moe, 1), 2.0 / 6, 1e-15);
}

TEST(ExpertRouting, DestinationsOfAToken) {
  struct Row {
    int experts;
    int chosen;
    int accelerators;
  };
  for (const auto& [experts, chosen, accelerators] :
       {Row{8, 2, 4}, Row{12, 4, 3}, Row{12, 3, 12}, Row{9, 5, 3}, Row{8, 7, 2}, Row{8, 2, 1}}) {
    const int each = experts / accelerators;
    const std::vector<std::uint32_t> sets = choices(experts, chosen);
    double sum = 0;
    for (const std::uint32_t set : sets) {
      for (int accelerator = 0; accelerator < accelerators; ++accelerator) {
        const std::uint32_t local = ((1U << each) - 1) << (accelerator * each);
        sum += (set & local) != 0 ? 1 : 0;
      }
    }
    EXPECT_NEAR(
        expected_destinations({.experts = experts, .experts_per_token = chosen}, accelerators),
        sum / static_cast<double>(sets.size()), 1e-13)
        << chosen << " of " << experts << " over " << accelerators;
  }
}

}  // namespace
}  // namespace inferscale

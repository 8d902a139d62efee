// The balance of a fluid model of batching (Ao, Luo, Simchi-Levi, Wang, arXiv 2504.11320): how many
// requests of each class a replica has to take up in one iteration so that it keeps up.
//
// In each iteration n_j requests of class j begin and as many are in each stage of their answer, so
// n_j = lambda_j tau where an iteration takes
//
//   tau = d0 + sum_j n_j w_j    =>    tau = d0 / (1 - sum_j lambda_j w_j)
//
// There is a balance if and only if sum_j lambda_j w_j < 1. w_j is the time that one more request
// begun in each iteration adds to every iteration. With time in proportion to memory (the paper)
// w_j = d1 (l' + 1) (l + l' / 2) for l prompt and l' output tokens; by the service estimate
// w_j = alpha l + beta l'.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace inferscale {

struct FluidClass {
  double rate_per_s = 0;     // lambda, of one replica
  double work_s = 0;         // w
  double memory_tokens = 0;  // (l' + 1) (l + l' / 2): of one request in each stage
};

double stage_memory_tokens(double prompt_tokens, double output_tokens);

// tau. Nothing where there is no balance.
std::optional<double> balanced_iteration_s(std::span<const FluidClass> classes, double step_s);

// Whole numbers n_j >= lambda_j (d0 + sum n_k w_k), the least such ones, at least 1. Where there is
// no balance, or they would need more memory than there is (`capacity_tokens`; 0: not known), the
// memory decides, in proportion to the rates; none is above `most`.
std::vector<std::int64_t> fluid_thresholds(std::span<const FluidClass> classes, double step_s,
                                           double capacity_tokens, std::int64_t most);

}  // namespace inferscale

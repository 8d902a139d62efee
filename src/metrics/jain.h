// Jain's index of fairness: how evenly something is dealt out.
//
//   J = (sum of x)^2 / (n sum of x^2)
//
// 1 when all n have the same, 1/n when one has it all, k/n when k of them share it evenly (Jain,
// Chiu and Hawe 1984).

#pragma once

#include <optional>
#include <span>

namespace inferscale {

// Nothing for nobody, and where there is nothing to deal out. REQUIRES: no value is below 0.
std::optional<double> jain_index(std::span<const double> values);

}  // namespace inferscale

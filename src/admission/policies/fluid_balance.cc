#include "admission/policies/fluid_balance.h"

#include <algorithm>
#include <cmath>

namespace inferscale {
namespace {

double load_of(std::span<const FluidClass> classes) {
  double load = 0;
  for (const FluidClass& each : classes) load += each.rate_per_s * each.work_s;
  return load;
}

// How many requests a second of iteration brings before memory is full: in proportion to the rates.
double longest_iteration_s(std::span<const FluidClass> classes, double capacity_tokens) {
  double tokens_per_s = 0;
  for (const FluidClass& each : classes) tokens_per_s += each.rate_per_s * each.memory_tokens;
  return capacity_tokens / tokens_per_s;
}

}  // namespace

double stage_memory_tokens(double prompt_tokens, double output_tokens) {
  return (output_tokens + 1) * (prompt_tokens + output_tokens / 2);
}

std::optional<double> balanced_iteration_s(std::span<const FluidClass> classes, double step_s) {
  const double load = load_of(classes);
  if (load >= 1) return std::nullopt;
  return step_s / (1 - load);
}

std::vector<std::int64_t> fluid_thresholds(std::span<const FluidClass> classes, double step_s,
                                           double capacity_tokens, std::int64_t most) {
  std::vector<std::int64_t> thresholds(classes.size(), 1);
  const std::optional<double> balanced = balanced_iteration_s(classes, step_s);
  const bool is_bounded = capacity_tokens > 0 && load_of(classes) > 0;
  const double longest = is_bounded ? longest_iteration_s(classes, capacity_tokens) : INFINITY;
  if (!balanced || *balanced > longest) {
    for (std::size_t j = 0; j < classes.size(); ++j) {
      const double by_memory = std::min(static_cast<double>(most), classes[j].rate_per_s * longest);
      const bool comes = classes[j].rate_per_s > 0;
      thresholds[j] = comes ? std::max<std::int64_t>(1, static_cast<std::int64_t>(by_memory)) : 1;
    }
    return thresholds;
  }
  // Rounding one class up lengthens the iteration for all: from below, until nothing changes.
  double iteration = *balanced;
  for (bool changed = true; changed;) {
    changed = false;
    double next = step_s;
    for (std::size_t j = 0; j < classes.size(); ++j) {
      const double needed = std::ceil(classes[j].rate_per_s * iteration);
      const auto whole =
          static_cast<std::int64_t>(std::clamp(needed, 1.0, static_cast<double>(most)));
      changed = changed || whole > thresholds[j];
      thresholds[j] = std::max(thresholds[j], whole);
      if (classes[j].rate_per_s > 0) {
        next += static_cast<double>(thresholds[j]) * classes[j].work_s;
      }
    }
    iteration = std::max(iteration, next);
  }
  return thresholds;
}

}  // namespace inferscale

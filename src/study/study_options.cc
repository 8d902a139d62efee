#include "study/study_options.h"

#include <algorithm>
#include <limits>

namespace inferscale {
namespace {

constexpr std::uint64_t kLargestSeed = std::numeric_limits<std::int64_t>::max();
// What the studies repeat where the configuration does not say, the most of them.
constexpr std::int64_t kMostDefaultRepeats = 10;

}  // namespace

Result<void> check_seeds(std::uint64_t seed, const StudyOptions& options,
                         const std::string& label) {
  const std::int64_t repeats =
      std::max(options.repeats.value_or(kMostDefaultRepeats), options.ab.max_repeats.value_or(1));
  std::uint64_t last = static_cast<std::uint64_t>(repeats) - 1;
  if (!options.ab.common_random_numbers) last += kIndependentSeeds;
  if (seed <= kLargestSeed - last) return {};
  const std::string count = std::to_string(repeats);
  return fail(ErrorCode::kInvalidConfig,
              "seed: '" + std::to_string(seed) + "': expected at most " +
                  std::to_string(kLargestSeed - last) +
                  (options.repeats ? " with repeats " + count
                                   : " (repeats: null stands for up to " + count + ")") +
                  ": a study takes seed, seed + 1 and so on, and the largest seed is " +
                  std::to_string(kLargestSeed),
              label);
}

StudyOptions read_study_options(ConfigReader& root) {
  StudyOptions options;
  options.repeats = root.optional_integer(
      "repeats", {.min = 1,
                  .max = 1'000'000,
                  .unit = "runs",
                  .doc = "how often a study repeats each run, with the seeds seed, seed + 1, ...; "
                         "null: as the study's kind needs. `simulate` runs once"});
  ConfigReader study = root.map("study", "what the studies of this configuration ask");
  options.capacity = read_capacity_options(study);
  options.explore = read_explore_options(study);
  options.ab = read_ab_options(study);
  options.sensitivity = read_sensitivity_options(study);
  options.validate = read_validate_options(study);
  options.agents = read_agent_sweep_options(study);
  options.tune = read_tune_options(study);
  study.finish();
  return options;
}

}  // namespace inferscale

#include "study/study_options.h"

namespace inferscale {

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
  study.finish();
  return options;
}

}  // namespace inferscale

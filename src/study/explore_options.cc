#include "study/explore_options.h"

namespace inferscale {

ExploreOptions read_explore_options(ConfigReader& study) {
  ConfigReader explore = study.map("explore", "the candidates of a design study");
  ExploreOptions options;
  options.samples = explore.integer(
      "samples", {.fallback = 0,
                  .min = 0,
                  .max = 1'000'000,
                  .doc = "so many candidates are drawn at random from the grid; 0: all of it"});
  explore.finish();
  return options;
}

}  // namespace inferscale

// `study.explore`: the candidates of a design study, as a grid or drawn at random over any keys of
// the configuration.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config_node.h"
#include "base/config_reader.h"

namespace inferscale {

// One key and the values that it takes.
struct DesignAxis {
  std::string key;  // "deployment.engine.max_num_seqs"
  std::vector<ConfigNode> values;
};

struct ExploreOptions {
  std::vector<DesignAxis> grid;  // empty: the bounded grid of docs/commands/explore.md
  std::int64_t samples = 0;      // so many candidates drawn from the grid; 0: all
};

ExploreOptions read_explore_options(ConfigReader& study);

}  // namespace inferscale

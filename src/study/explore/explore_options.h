// `study.explore`: the candidates of a design study, as a list, a grid, or drawn at random, over
// any keys of the configuration.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/config_node.h"
#include "base/config_reader.h"
#include "study/run_request.h"

namespace inferscale {

// Numbers from `min` to `max`, evenly spaced on the axis or its logarithm.
struct DesignRange {
  double min = 0;
  double max = 0;
  bool logarithmic = false;
  bool whole = false;  // rounded to whole numbers
  SourcePosition position;
};

// The value at `part`, 0 to 1, of the way, to six significant digits.
double value_in(const DesignRange& range, double part);

// One key and the values that it takes. A range without values is drawn from.
struct DesignAxis {
  std::string key;  // "deployment.engine.max_num_seqs"
  std::vector<ConfigNode> values;
  std::optional<DesignRange> range;
};

struct NamedDesign {
  std::string name;
  std::vector<Setting> settings;
};

struct ExploreOptions {
  std::vector<DesignAxis> grid;
  std::vector<NamedDesign> candidates;  // without these and a grid: docs/commands/explore.md
  std::int64_t samples = 0;             // so many candidates drawn from the grid; 0: all
  bool splits = true;                   // of the bounded grid: prefill/decode splits too
  bool as_configured = true;            // the configuration itself is a candidate too
};

ExploreOptions read_explore_options(ConfigReader& study);

}  // namespace inferscale

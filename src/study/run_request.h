// One run of a study: which scenario, what of its configuration is changed, which seed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/config_node.h"

namespace inferscale {

// One key of a configuration and its value, as --set gives them.
struct Setting {
  std::string key;  // "deployment.engine.max_num_seqs"
  ConfigNode value;
};

// "deployment.engine.max_num_seqs=64": may be given to --set.
std::string setting_text(const Setting& setting);

// Factors on the latency model's times and on the link's, on top of what is configured: how far the
// model might be off.
struct ModelScales {
  double prefill = 1;
  double decode = 1;
  double transfer = 1;
  bool operator==(const ModelScales&) const = default;
};

struct RunRequest {
  std::size_t scenario = 0;  // index among the study's
  std::vector<Setting> settings;
  std::uint64_t seed = 0;
  ModelScales scales;
};

// The seed of a study's repetition, from 0: common to all alternatives, so that all of them see the
// same requests. `simulate --set seed=...` repeats the run.
inline std::uint64_t repetition_seed(std::uint64_t base, std::int64_t repetition) {
  return base + static_cast<std::uint64_t>(repetition);
}

// All of a request but its scenario as one line: equal for equal runs.
std::string request_text(const RunRequest& request);

}  // namespace inferscale

// The result.json of a search for a policy's parameters, read for the text.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/json_fields.h"

namespace inferscale {

struct ReadTrial {
  std::vector<double> values;  // by parameter
  std::optional<double> worst_case;
};

struct ReadInterval {
  double low = 0;
  double high = 0;
};

struct ReadTuneLevel {
  std::optional<double> goodput;  // means over the fresh seeds
  std::optional<double> rejected;
  std::optional<double> deferred;
  std::optional<double> ttft_ms_p95;
};

struct ReadTuneSide {
  std::string policy;
  std::string parameters;  // "limit 12"; of one setting for all loads, else empty
  std::optional<double> worst_case;
  std::optional<double> worst_at;
  std::string failure;
  std::vector<ReadTuneLevel> levels;
};

struct ReadTuneControl {
  std::string verdict;
  std::optional<double> difference;
  std::optional<ReadInterval> interval;
  std::int64_t better_seeds = 0;
  ReadTuneSide side;
};

struct ReadTuneParameter {
  std::string name;
  double min = 0;
  double max = 0;
  bool logarithmic = false;
};

struct ReadTuneLoad {
  double factor = 0;
  double load = 0;
};

struct ReadTune {
  std::string scenario;
  std::string policy;
  std::string metric;
  std::int64_t repeats = 0;
  std::int64_t fresh_repeats = 0;
  std::uint64_t seed = 0;
  std::uint64_t fresh_seed = 0;
  double capacity = 0;
  bool capacity_measured = false;
  std::string unit;
  std::vector<ReadTuneLoad> loads;
  std::vector<ReadTuneParameter> parameters;
  double as_good_within = 0;
  ReadTrial best;
  std::vector<ReadTrial> as_good;
  ReadTuneSide tuned;
  std::optional<ReadInterval> tuned_interval;
  std::vector<ReadTuneControl> controls;
  std::vector<std::string> failures;
  std::vector<std::string> notes;
  std::vector<ReadTrial> trials;
};

Result<ReadTune> read_tune(const std::string& result_json);

}  // namespace inferscale

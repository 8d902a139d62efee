// The points of a sweep over agent sessions as its result.json has them.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/json_fields.h"

namespace inferscale {

struct SweepRowFields {
  std::string name;
  std::string strategy;
  std::optional<double> value;
  std::optional<double> capacity_gb;
  std::vector<double> cache_tokens;  // of memory-stress, by repetition
  bool is_choice = true;             // false: with hardware that the deployment doesn't have
  std::vector<std::pair<std::string, Json>> settings;
  std::string failure;  // empty: it was simulated, and what follows counts
  bool on_frontier = false;
  std::optional<double> incomplete;  // sessions
  // "turn_ttft_ms_p95.mean" and ".sd"; absent figures are not in it.
  std::map<std::string, double> figures;

  bool simulated() const { return failure.empty(); }
  std::optional<double> figure(const std::string& figure_name) const;
  std::optional<double> mean(const std::string& metric) const { return figure(metric + ".mean"); }
};

// One point. Errors become `member`'s.
SweepRowFields read_sweep_row(JsonFields& member);
// All, in the order of result.json. Errors become `result`'s.
std::vector<SweepRowFields> read_sweep_rows(JsonFields& result);

// The KV cache that it has, where the point sets one: the mean of the repetitions.
std::optional<double> mean_cache_tokens(const SweepRowFields& row);

// A count, or the mean of some: "12", "12.3".
std::string count_text(double count);

// What sets the kinds of sweeps apart in texts.
struct SweepWords {
  std::string kind;          // "ttl_sweep"
  std::string swept;         // "time to live"
  std::string point_column;  // the head of the column of points
  std::string against;       // metric on the plot's x axis; of memory-stress empty: the budget
  std::string axis;          // "KV in HBM, mean, GB"
};

// Nothing for other kinds of studies.
const SweepWords* sweep_words(const std::string& kind);

}  // namespace inferscale

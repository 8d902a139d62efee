// The metrics of a paired comparison as result.json has them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/json_fields.h"

namespace inferscale {

struct AbTextRow {
  std::string metric;
  std::string name;   // "TTFT p95"
  std::string unit;   // "ms", or nothing
  std::string label;  // both: "TTFT p95, ms"
  std::string verdict;
  std::string better;
  bool headline = false;
  std::int64_t pairs = 0;
  std::int64_t baseline_missing = 0;
  std::int64_t treatment_missing = 0;
  std::optional<double> baseline_mean;
  std::optional<double> treatment_mean;
  std::optional<double> delta_mean;
  std::optional<double> delta_median;
  std::optional<double> delta_mean_relative;
  std::optional<double> relative_change_mean;
  std::int64_t relative_pairs = 0;
  std::optional<std::int64_t> wins;
  std::optional<std::int64_t> ties;
  std::optional<double> percentile_low;
  std::optional<double> percentile_high;
  std::optional<double> interval_low;
  std::optional<double> interval_high;
  std::optional<double> interval_low_relative;
  std::optional<double> interval_high_relative;
};

std::vector<AbTextRow> read_ab_rows(JsonFields& result);

}  // namespace inferscale

// The result.json of a search for the capacity, read back with its types.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace inferscale {

struct ReadProbe {
  double load = 0;
  bool carried = false;
  std::optional<double> attainment_mean;
  std::optional<double> attainment_worst;
  std::optional<double> attainment_best;
  std::optional<double> attainment_deviation;
  std::int64_t repetitions = 0;
  std::int64_t missed_attainment = 0;
  std::int64_t not_drained = 0;
  std::int64_t unfinished = 0;
  std::int64_t not_judged = 0;
  std::int64_t not_simulated = 0;
  std::int64_t saturated = 0;
  std::optional<double> drain_s;
  std::optional<double> drain_bound_s;
  std::optional<double> ttft_ms_p95;
  std::optional<double> ttft_met;
  std::optional<double> itl_met;
  std::optional<double> e2e_met;
  std::optional<double> arrived;
  std::optional<double> refused;
  std::optional<double> arrival_window_s;
  std::optional<double> service_s_max;
  std::vector<std::string> failures;
};

// What a load amounts to.
struct ReadYield {
  std::optional<double> offered_rps;
  std::optional<double> goodput_rps;
  std::optional<double> output_tokens_per_s;
  std::optional<double> accelerators;
  std::optional<double> offered_rps_per_accelerator;
  std::optional<double> output_tokens_per_s_per_accelerator;
};

struct ReadCapacity {
  std::string scenario;
  std::string search;
  std::string unit;
  std::optional<double> fixed_load;
  std::string fixed_load_unit;
  bool keeps_window = false;
  std::vector<std::string> workload_changes;
  std::string slo_classes;  // whose targets there are in place of the three below; mostly empty
  std::optional<double> ttft_ms;
  std::optional<double> itl_ms;
  std::optional<double> e2e_ms;
  double attainment_target = 0;
  double tolerance = 0;
  double headroom = 0;
  std::int64_t repetitions = 0;
  std::string verdict;
  bool within_tolerance = false;
  std::optional<double> carried;
  std::optional<double> not_carried;
  std::optional<double> recommended;
  std::optional<double> best_tried;
  std::optional<double> not_judged;
  std::optional<ReadYield> at_carried;
  std::optional<ReadYield> at_recommended;
  std::vector<double> easier_failed;
  bool repetitions_alike = false;
  std::vector<ReadProbe> probes;

  bool of_replicas() const { return search == "replicas"; }
  const ReadProbe* probe_of(std::optional<double> load) const;
};

Result<ReadCapacity> read_capacity(const std::string& result_json);

}  // namespace inferscale

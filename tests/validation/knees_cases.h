// Published measurements of serving systems, one line of JSON each (cases.jsonl.gz).
//
// Only what a simulated run needs, and what it is compared with, is taken up; the file has more.
// Figures that a source did not report are not set: never zero.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace inferscale {

// A latency in milliseconds; sources report some of these.
struct MeasuredLatency {
  std::optional<double> mean;
  std::optional<double> p50;
  std::optional<double> p99;
};

struct MeasuredCase {
  std::string id;  // "source/experiment/stage"
  std::string model;
  std::string gpu;
  std::int64_t tensor = 1;
  std::string precision;
  std::optional<std::int64_t> max_num_seqs;
  std::optional<std::int64_t> max_num_batched_tokens;
  std::optional<double> gpu_memory_utilization;

  // One of the two: an open stream of so many requests a second, or so many always in flight.
  std::optional<double> rate_rps;
  std::optional<double> concurrency;
  std::optional<double> duration_s;
  std::optional<double> prompt_tokens;  // means
  std::optional<double> output_tokens;
  std::optional<std::int64_t> requests;

  // Of a prefill/decode split.
  std::optional<std::int64_t> prefill_workers;
  std::optional<std::int64_t> decode_workers;

  MeasuredLatency ttft_ms;
  MeasuredLatency itl_ms;
  MeasuredLatency tpot_ms;
  MeasuredLatency e2e_ms;
  std::optional<double> finished_rps;
};

// The cases whose id begins with `prefix`, in the order of the file.
Result<std::vector<MeasuredCase>> read_measured_cases(std::string_view prefix);

}  // namespace inferscale

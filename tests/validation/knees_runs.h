// A measured case as a configuration, run by the program.

#pragma once

#include <string>

#include "base/result.h"
#include "validation/knees_cases.h"

namespace inferscale {

struct CaseOptions {
  std::string scheduler = "vllm";
  // Whether all prompts are in the prefix cache but for their last tokens, as in a benchmark that
  // asks the same few questions again and again.
  bool repeated_prompts = false;
  double length_cv = 0;  // of prompts and answers; 0: all have the mean
};

struct SimulatedCase {
  double ttft_ms_mean = 0;
  double tpot_ms_mean = 0;
  double finished_rps = 0;
};

// REQUIRES: the case is an open stream with a duration or a number of requests, and known lengths.
Result<SimulatedCase> simulate_case(const MeasuredCase& measured, const CaseOptions& options);

}  // namespace inferscale

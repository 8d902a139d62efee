// For tests of the search: made-up records, so that the truth is known.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "base/number_text.h"
#include "study/capacity/capacity.h"
#include "study/study_test_support.h"

namespace inferscale {

inline const std::string kConfig = R"(
deployment: {model: llama-3.1-8b, hardware: h100-sxm}
workload:
  requests: 1000
  arrivals: {process: poisson, rate_rps: 10}
  prompt_tokens: {distribution: constant, value: 100}
  output_tokens: {distribution: constant, value: 100}
slo: {ttft_ms: 500}
)";

inline std::string with_study(const std::string& keys) {
  return kConfig + "study: {capacity: {" + keys + "}}\n";
}

inline double number_of(const RunRequest& request, const std::string& key) {
  for (const Setting& setting : request.settings) {
    if (setting.key == key) return parse_finite(setting.value.text()).value_or(-1);
  }
  return -1;
}

inline RunResult record_of(double goodput) {
  RunResult record;
  record.figures.set(Metric::kGoodput, goodput);
  record.figures.set(Metric::kArrivalWindow, 1000);
  record.figures.set(Metric::kDrain, 1);
  record.figures.set(Metric::kServiceMax, 2);
  record.figures.set(Metric::kUnfinished, 0);
  record.figures.set(Metric::kSaturated, 0);
  return record;
}

// Carries a rate when `truth` says so.
inline FakeExecutor oracle(std::function<bool(double)> truth,
                           const std::string& key = "workload.arrivals.rate_rps") {
  return FakeExecutor([truth = std::move(truth), key](const RunRequest& request) {
    return record_of(truth(number_of(request, key)) ? 1.0 : 0.5);
  });
}

inline CapacityResult found(const std::string& config, FakeExecutor& executor) {
  const Scenario scenario = scenario_of(config);
  Result<CapacityResult> result = find_capacity(scenario, 0, executor);
  CHECK(result.has_value()) << result.error().to_string();
  return std::move(*result);
}

inline std::string error_of(const std::string& config) {
  const Scenario scenario = scenario_of(config);
  FakeExecutor executor([](const RunRequest&) { return record_of(1); });
  const Result<CapacityResult> result = find_capacity(scenario, 0, executor);
  EXPECT_TRUE(executor.asked.empty()) << "runs were made before the question was looked at";
  return result ? "no error" : result.error().to_string();
}

}  // namespace inferscale

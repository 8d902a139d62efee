// For tests of sweeps: a deployment that serves agent sessions, and made-up records of its runs.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "study/agents/sweep.h"
#include "study/study_test_support.h"

namespace inferscale {

// `deployment` and `engine`: what stands beside the rest there. `more`: further keys of the root.
inline Scenario agents_with(const std::string& more = "", const std::string& deployment = "",
                            const std::string& engine = "") {
  return scenario_of(R"(
name: agents
seed: 7
workload:
  arrivals: {process: poisson, rate_rps: 0.5}
  sessions:
    count: 12
    turns: {distribution: constant, value: 5}
    first_prompt_tokens: {distribution: constant, value: 2000}
    appended_tokens: {distribution: constant, value: 500}
    output_tokens: {distribution: constant, value: 100}
    tool_gap: {distribution: exponential, mean_s: 5}
slo: {ttft_ms: 500}
deployment:
  model: llama-3.1-8b
  hardware: h100-sxm
  engine: {prefix_caching: true)" +
                     engine + "}\n" + deployment + more);
}

using SweepFigures = std::vector<std::pair<Metric, double>>;

// A run of ten sessions of which all are complete, with what `figures` say otherwise.
inline RunResult swept(const SweepFigures& figures) {
  RunResult record;
  record.figures.set(Metric::kSessions, 10);
  record.figures.set(Metric::kSessionsComplete, 10);
  record.figures.set(Metric::kTurnsFailed, 0);
  for (const auto& [metric, value] : figures) record.figures.set(metric, value);
  return record;
}

inline SweepResult sweep_by(SweepKind kind, const Scenario& scenario,
                            const std::function<RunResult(const RunRequest&)>& answer) {
  FakeExecutor executor(answer);
  Result<SweepResult> result = run_sweep(kind, scenario, executor);
  CHECK(result.has_value()) << result.error().to_string();
  return std::move(*result);
}

}  // namespace inferscale

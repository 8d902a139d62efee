// For tests of design studies: a chat service, with what a test adds to its configuration.

#pragma once

#include <string>
#include <vector>

#include "study/explore/design_candidates.h"
#include "study/study_test_support.h"

namespace inferscale {

constexpr const char* kExploredChat = R"(
name: chat
seed: 7
workload:
  requests: 200
  arrivals: {process: poisson, rate_rps: 10}
  prompt_tokens: {distribution: lognormal, mean: 512, cv: 0.7}
  output_tokens: {distribution: lognormal, mean: 128, cv: 0.8}
slo: {ttft_ms: 500, itl_ms: 50, e2e_ms: 20000}
)";

// `deployment`: what stands beside the model and the hardware.
inline Scenario chat_with(const std::string& more, const std::string& deployment = "") {
  return scenario_of(kExploredChat +
                     ("deployment: {model: llama-3.1-8b, hardware: h100-sxm" + deployment + "}\n") +
                     more);
}

inline CandidateList candidates_of(const Scenario& scenario) {
  Result<CandidateList> list = design_candidates(scenario.base());
  CHECK(list.has_value()) << list.error().to_string();
  return std::move(*list);
}

// "key=value key=value", for each candidate.
inline std::vector<std::string> texts_of(const CandidateList& list) {
  std::vector<std::string> texts;
  for (const Candidate& candidate : list.candidates) {
    std::string text;
    for (const Setting& setting : candidate.settings) {
      text += (text.empty() ? "" : " ") + setting_text(setting);
    }
    texts.push_back(text);
  }
  return texts;
}

}  // namespace inferscale

// What a reader is told of two configurations before they are compared.

#include "study/comparison/alternatives.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "study/comparison/ab.h"
#include "study/study_test_support.h"

namespace inferscale {
namespace {

constexpr const char* kService = R"(
workload:
  requests: 20
  arrivals: {process: poisson, rate_rps: 5}
  prompt_tokens: {distribution: constant, value: 100}
  output_tokens: {distribution: constant, value: 10}
slo: {ttft_ms: 500}
deployment: {model: llama-3.1-8b, hardware: h100-sxm}
)";

std::vector<std::string> notes_of(const std::string& baseline, const std::string& treatment) {
  return describe_alternatives(scenario_of(kService + baseline), scenario_of(kService + treatment),
                               ab_own_keys())
      .notes;
}

TEST(Alternatives, OnlyWhatTheStudyTakesAndDiffersIsSaidToBeTheBaselines) {
  using Texts = std::vector<std::string>;
  const Texts same = {"The two configurations are the same."};
  EXPECT_EQ(notes_of("", ""), same);
  EXPECT_EQ(notes_of("repeats: 10", ""), same);  // as many as by default
  EXPECT_EQ(notes_of("", "study: {capacity: {headroom: 0.3}}"), same);
  EXPECT_EQ(notes_of("seed: 1", "seed: 2").back(),
            "seed is that of the baseline; the treatment has another one.");
  EXPECT_EQ(notes_of("", "repeats: 3\nstudy: {ab: {resamples: 500}}").back(),
            "repeats and study.ab.resamples are those of the baseline; the treatment has others.");
}

}  // namespace
}  // namespace inferscale

// The grid that is explored by default, against its description.

#include "study/explore/bounded_grid.h"

#include <gtest/gtest.h>

#include <set>

#include "study/explore/explore_test_support.h"

namespace inferscale {
namespace {

// Without the configuration itself beside it.
constexpr const char* kGridAlone = "study: {explore: {as_configured: false}}";

TEST(BoundedGrid, IsTheMethodologys) {
  const CandidateList list = candidates_of(chat_with(kGridAlone));
  EXPECT_TRUE(list.bounded_grid);
  const std::vector<std::string> texts = texts_of(list);
  ASSERT_EQ(texts.size(), 16u);
  EXPECT_EQ(texts[0],
            "deployment.engine.scheduler=\"continuous_fcfs\" deployment.engine.max_num_seqs=8 "
            "deployment.engine.prefix_caching=false");
  EXPECT_EQ(texts[8],
            "deployment.engine.scheduler=\"continuous_slo\" deployment.engine.max_num_seqs=32 "
            "deployment.engine.prefix_caching=false");
  EXPECT_EQ(texts[9],
            "deployment.engine.scheduler=\"continuous_slo\" deployment.engine.max_num_seqs=256 "
            "deployment.engine.prefix_caching=true");
  EXPECT_EQ(texts[12],
            "deployment.disaggregation.prefill.replicas=1 "
            "deployment.disaggregation.decode.replicas=2 deployment.engine.prefix_caching=false");
  EXPECT_EQ(list.candidates[15].name, "2P:1D, cached");
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 16u);
}

TEST(BoundedGrid, CanLeaveSplitsOut) {
  const CandidateList list =
      candidates_of(chat_with("study: {explore: {splits: false, as_configured: false}}"));
  ASSERT_EQ(list.candidates.size(), 10u);
  EXPECT_EQ(list.candidates[9].name, "continuous_slo, batch 256, cached");
}

struct Case {
  const char* deployment;
  std::int64_t unit;
};

TEST(BoundedGrid, EveryCandidateIsRightWhateverTheDeploymentIs) {
  for (const auto& [deployment, unit] :
       {Case{"", 1}, Case{", replicas: 3", 3},
        Case{", disaggregation: {prefill: {replicas: 5}, decode: {replicas: 2}}", 2}}) {
    const Scenario scenario = chat_with(kGridAlone, deployment);
    for (const Candidate& candidate : candidates_of(scenario).candidates) {
      const auto run = scenario.prepare({.settings = candidate.settings, .seed = 7});
      ASSERT_TRUE(run) << candidate.name << ": " << run.error().to_string();
      const FleetConfig& fleet = run->config.fleet;
      const bool split = candidate.name.find("P:") != std::string::npos;
      ASSERT_EQ(fleet.split.has_value(), split) << candidate.name;
      if (!split) {
        EXPECT_EQ(fleet.groups[0].replicas, unit) << candidate.name;
        continue;
      }
      const std::int64_t prefill = fleet.groups[0].replicas, decode = fleet.groups[1].replicas;
      EXPECT_EQ(std::min(prefill, decode), unit) << candidate.name;
      EXPECT_LE(std::max(prefill, decode), 2 * unit) << candidate.name;
      EXPECT_TRUE(
          candidate.name.starts_with(std::to_string(prefill) + "P:" + std::to_string(decode) + "D"))
          << candidate.name;
    }
  }
}

TEST(BoundedGrid, KeepsTheConfiguredLink) {
  const Scenario scenario = chat_with(
      kGridAlone, ", disaggregation: {prefill: {}, decode: {}, link: {bandwidth_gb_s: 7}}");
  const CandidateList list = candidates_of(scenario);
  const auto run = scenario.prepare({.settings = list.candidates[12].settings, .seed = 7});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->config.fleet.split->link.bandwidth, 7e9);
}

TEST(BoundedGrid, IsNotForReplicasOfDifferentKinds) {
  const Scenario scenario = chat_with("", ", groups: [{name: a}, {name: b}]");
  const auto list = design_candidates(scenario.base());
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().to_string(),
            "test.yaml:10: deployment.groups: the bounded grid is for replicas of one kind: "
            "expected study.explore.grid or study.explore.candidates beside groups");
}

TEST(BoundedGrid, SaysWhenACacheHasNothingToReuse) {
  EXPECT_EQ(candidates_of(chat_with("")).notes.size(), 1u);
  std::string shared = kExploredChat;
  shared.insert(shared.find("  requests"),
                "  shared_prefix: {tokens: 300, hit_probability: 0.6}\n");
  shared += "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n";
  EXPECT_TRUE(candidates_of(scenario_of(shared)).notes.empty());
}

}  // namespace
}  // namespace inferscale

// The candidates that a configuration asks for: counted by hand, and samples by their distribution.

#include "study/explore/design_candidates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/number_text.h"
#include "study/explore/explore_test_support.h"

namespace inferscale {
namespace {

TEST(DesignCandidates, AGridIsAllCombinationsTheLastAxisFastest) {
  const CandidateList list = candidates_of(chat_with(R"(
study:
  explore:
    grid:
      deployment.engine.max_num_seqs: [8, 16]
      deployment.disaggregation: [null, {decode: {replicas: 2}}]
      workload.arrivals.rate_rps: {min: 1, max: 100, scale: log, points: 3}
)"));
  EXPECT_FALSE(list.bounded_grid);
  const std::vector<std::string> texts = texts_of(list);
  ASSERT_EQ(texts.size(), 12u);
  EXPECT_EQ(texts[0],
            "deployment.engine.max_num_seqs=8 deployment.disaggregation=null "
            "workload.arrivals.rate_rps=1");
  EXPECT_EQ(texts[1],
            "deployment.engine.max_num_seqs=8 deployment.disaggregation=null "
            "workload.arrivals.rate_rps=10");
  EXPECT_EQ(list.candidates[11].name,
            "max_num_seqs=16 disaggregation={\"decode\":{\"replicas\":2}} rate_rps=100");
  EXPECT_EQ(list.keys,
            (std::vector<std::string>{"deployment.engine.max_num_seqs", "deployment.disaggregation",
                                      "workload.arrivals.rate_rps"}));
}

TEST(DesignCandidates, RangesAreEvenlySpacedWholeNumbersWhereAsked) {
  const CandidateList list = candidates_of(chat_with(R"(
study: {explore: {grid: {deployment.engine.max_num_seqs:
    {min: 1, max: 4, points: 7, whole: true}}}}
)"));
  ASSERT_EQ(list.candidates.size(), 4u);
  EXPECT_EQ(list.candidates[3].name, "max_num_seqs=4");
}

TEST(DesignCandidates, ValuesOfRangesCanBeRead) {
  const CandidateList list = candidates_of(chat_with(R"(
study: {explore: {grid: {workload.arrivals.rate_rps: {min: 1, max: 3, points: 4},
                         slo.ttft_ms: {min: 0.001, max: 1e9, points: 4, scale: log}}}}
)"));
  EXPECT_EQ(list.candidates[6].name, "rate_rps=1.66667 ttft_ms=100000");
  EXPECT_EQ(list.candidates[12].name, "rate_rps=3 ttft_ms=0.001");
  EXPECT_EQ(list.candidates[15].name, "rate_rps=3 ttft_ms=1000000000");
}

TEST(DesignCandidates, NamedOnesComeFirst) {
  const CandidateList list = candidates_of(chat_with(R"(
study:
  explore:
    as_configured: true
    candidates:
      - {name: cheap, set: {deployment.hardware: l40s}}
      - {name: wide, set: {deployment.replicas: 4, deployment.engine.max_num_seqs: 64}}
    grid: {deployment.replicas: [1, 2]}
)"));
  std::vector<std::string> names;
  for (const Candidate& candidate : list.candidates) names.push_back(candidate.name);
  EXPECT_EQ(names, (std::vector<std::string>{"as configured", "cheap", "wide", "replicas=1",
                                             "replicas=2"}));
  EXPECT_EQ(texts_of(list)[2], "deployment.replicas=4 deployment.engine.max_num_seqs=64");
}

constexpr const char* kTwoAxes = R"(
    grid:
      deployment.replicas: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
      workload.arrivals.rate_rps: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
)";

TEST(DesignCandidates, TheConfigurationIsBesideTheBoundedGridUnlessToldOtherwise) {
  const auto first_of = [](const std::string& more) {
    return candidates_of(chat_with(more)).candidates.front().name;
  };
  EXPECT_EQ(candidates_of(chat_with("")).candidates.size(), 17u);
  EXPECT_EQ(first_of(""), "as configured");
  EXPECT_EQ(candidates_of(chat_with("study: {explore: {as_configured: false}}")).candidates.size(),
            16u);
  EXPECT_EQ(first_of("study: {explore: {grid: {deployment.replicas: [1]}}}"), "replicas=1");
}

TEST(DesignCandidates, SamplesAreDifferentOnesOfTheGrid) {
  for (const int samples : {1, 10, 99, 100, 1000}) {
    const CandidateList list = candidates_of(
        chat_with("study:\n  explore:\n    samples: " + std::to_string(samples) + kTwoAxes));
    const std::vector<std::string> texts = texts_of(list);
    EXPECT_EQ(std::ssize(texts), std::min(samples, 100));
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
  }
}

// 400 draws of 10 from 100: each is drawn 40 times in the mean, with a standard deviation of
// sqrt(400 x 0.1 x 0.9) = 6.
TEST(DesignCandidates, EveryCombinationIsDrawnEquallyOften) {
  std::map<std::string, int> drawn;
  for (int seed = 0; seed < 400; ++seed) {
    std::string chat = kExploredChat;
    chat.replace(chat.find("seed: 7"), 7, "seed: " + std::to_string(seed));
    const Scenario scenario =
        scenario_of(chat + "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n" +
                    "study:\n  explore:\n    samples: 10" + kTwoAxes);
    for (const std::string& text : texts_of(candidates_of(scenario))) ++drawn[text];
  }
  EXPECT_EQ(drawn.size(), 100u);
  double squares = 0;
  for (const auto& [text, count] : drawn) {
    EXPECT_LT(std::abs(count - 40), 30) << text;
    squares += (count - 40.0) * (count - 40.0);
  }
  // Chi-square with 99 degrees of freedom (less than that, as draws exclude each other).
  EXPECT_LT(squares / 36, 160);
  EXPECT_GT(squares / 36, 50);
}

TEST(DesignCandidates, RangesAreDrawnFromEvenlyOnTheirAxis) {
  const CandidateList list = candidates_of(chat_with(R"(
study:
  explore:
    samples: 2000
    grid: {workload.arrivals.rate_rps: {min: 0.1, max: 1000, scale: log}}
)"));
  ASSERT_EQ(list.candidates.size(), 2000u);
  std::vector<int> decades(4, 0);
  for (const Candidate& candidate : list.candidates) {
    const double value = *parse_finite(candidate.settings[0].value.text());
    ++decades.at(static_cast<std::size_t>(std::floor(std::log10(value)) + 1));
  }
  for (const int count : decades) EXPECT_NEAR(count, 500, 80);  // 4 standard deviations
}

TEST(DesignCandidates, ARangeThatHasNoMoreIsSaidToHaveNoMore) {
  const CandidateList list = candidates_of(chat_with(R"(
study:
  explore:
    samples: 20
    grid: {deployment.replicas: {min: 1, max: 5, whole: true}}
)"));
  EXPECT_EQ(list.candidates.size(), 5u);
  ASSERT_EQ(list.notes.size(), 1u);
  EXPECT_NE(list.notes[0].find("5 candidates were found"), std::string::npos);
}

TEST(DesignCandidates, AnotherAxisDoesNotShiftAnOldOnesDraws) {
  const auto rates = [](const std::string& more) {
    const CandidateList list = candidates_of(chat_with(
        "study: {explore: {samples: 5, grid: {workload.arrivals.rate_rps: {min: 1, max: 2}" + more +
        "}}}"));
    std::set<std::string> drawn;
    for (const Candidate& candidate : list.candidates) {
      drawn.insert(candidate.settings[0].value.text());
    }
    return drawn;
  };
  EXPECT_EQ(rates(""), rates(", deployment.replicas: [1, 2]"));
}

TEST(DesignCandidates, TooManyAreRefused) {
  std::string grid = "study: {explore: {grid: {";
  for (const char* key :
       {"deployment.replicas", "workload.arrivals.rate_rps", "deployment.engine.max_num_seqs"}) {
    grid += std::string(key) + ": {min: 1, max: 100, points: 100, whole: true}, ";
  }
  const auto list = design_candidates(chat_with(grid + "}}}").base());
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().to_string(),
            "test.yaml:11: study.explore.grid has 1000000 combinations: expected at most 20000, "
            "or study.explore.samples");
}

TEST(DesignCandidates, OnePriceForDifferentHardwareIsNoted) {
  const std::string grid = "study: {explore: {grid: {deployment.hardware: [h100-sxm, l40s]}}}";
  EXPECT_TRUE(candidates_of(chat_with(grid)).notes.empty());
  EXPECT_EQ(candidates_of(chat_with(grid, ", price_per_accelerator_hour: 2")).notes.size(), 1u);
}

TEST(ShortKeys, TellKeysApart) {
  EXPECT_EQ(short_keys({"a.b.replicas", "a.c.replicas", "a.rate"}),
            (std::vector<std::string>{"b.replicas", "c.replicas", "rate"}));
  EXPECT_EQ(short_keys({"replicas", "a.replicas", "x.a.replicas"}),
            (std::vector<std::string>{"replicas", "a.replicas", "x.a.replicas"}));
}

struct Mistake {
  const char* explore;
  const char* error;
};

TEST(ExploreOptions, MistakesAreFoundWhereTheyAreWritten) {
  for (const auto& [written, error] : {
           Mistake{"{grid: {seed: [1]}}", "candidates can't set 'seed'"},
           Mistake{"{grid: {study.ab.resamples: [1]}}", "candidates can't set 'study'"},
           Mistake{"{grid: {a..b: [1]}}", "expected keys like"},
           Mistake{"{grid: {deployment.replicas: 3}}", "expected a list of values"},
           Mistake{"{grid: {deployment.replicas: []}}", "expected at least one value"},
           Mistake{"{grid: {deployment.replicas: {min: 1, max: 2}}}", "expected 'points'"},
           Mistake{"{samples: 2, grid: {deployment.replicas: {min: 2, max: 1}}}", "min below max"},
           Mistake{"{samples: 2, grid: {deployment.replicas: {min: 0, max: 1, scale: log}}}",
                   "above 0"},
           Mistake{"{samples: 2, grid: {deployment.replicas: {min: 0.5, max: 3, whole: true}}}",
                   "whole"},
           Mistake{"{samples: 2, grid: {deployment.replicas: {min: 1, max: 2, step: 1}}}",
                   "expected a list of values"},
           Mistake{"{samples: -1}", "samples"},
           Mistake{"{candidates: [{name: a, set: {}}, {name: a, set: {}}]}", "no other one has"},
           Mistake{"{candidates: [{name: a, set: {name: b}}]}", "candidates can't set 'name'"},
           Mistake{"{candidates: [{name: a}]}", "set"},
           Mistake{"{candidates: [{name: \"a\\tb\", set: {}}]}", "control characters"},
           Mistake{"{candidate: []}", "unknown key"},
       }) {
    Result<ConfigNode> tree = parse_yaml(
        std::string(kExploredChat) + "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n" +
            "study:\n  explore: " + written + "\n",
        "test.yaml");
    ASSERT_TRUE(tree) << written << ": " << tree.error().to_string();
    const auto scenario = Scenario::make(std::move(*tree), test_inputs(), "test.yaml");
    ASSERT_FALSE(scenario) << written;
    EXPECT_EQ(scenario.error().where, "test.yaml:12") << written;
    EXPECT_NE(scenario.error().message.find(error), std::string::npos)
        << written << ": " << scenario.error().message;
  }
}

}  // namespace
}  // namespace inferscale

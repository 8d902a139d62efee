// What becomes of candidates' records: made-up ones against the definitions by brute force, and the
// simulator's against the runs themselves.

#include "study/explore/explore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/config_json.h"
#include "base/number_text.h"
#include "base/random.h"
#include "study/explore/design_check.h"
#include "study/explore/explore_json.h"
#include "study/explore/explore_test_support.h"
#include "study/serial_executor.h"

namespace inferscale {
namespace {

using Figures = std::vector<std::pair<Metric, double>>;

RunResult record_with(const Figures& figures) {
  RunResult record;
  for (const auto& [metric, value] : figures) record.figures.set(metric, value);
  return record;
}

Result<ExploreResult> explore_all(const Scenario& scenario, RunExecutor& executor) {
  const Result<CandidateList> list = checked_candidates(scenario);
  if (!list) return std::unexpected(list.error());
  return explore(scenario, *list, executor);
}

ExploreResult explore_with(const std::string& more,
                           const std::function<RunResult(const RunRequest&)>& answer) {
  const Scenario scenario = chat_with(more);
  FakeExecutor executor(answer);
  Result<ExploreResult> result = explore_all(scenario, executor);
  CHECK(result.has_value()) << result.error().to_string();
  return std::move(*result);
}

std::string replicas_up_to(int count) {
  std::string values;
  for (int i = 1; i <= count; ++i) values += (i == 1 ? "" : ", ") + std::to_string(i);
  return "study: {explore: {grid: {deployment.replicas: [" + values + "]}}}\n";
}

// Which of replicas_up_to()'s candidates a request is of, from 0.
std::size_t number_of(const RunRequest& request) {
  return static_cast<std::size_t>(*parse_finite(request.settings[0].value.text())) - 1;
}

TEST(Explore, CandidatesMeetTheSameSeeds) {
  const Scenario scenario = chat_with("repeats: 2\n" + replicas_up_to(3));
  FakeExecutor executor([](const RunRequest&) { return RunResult(); });
  ASSERT_TRUE(explore_all(scenario, executor));
  std::map<std::string, std::vector<std::uint64_t>> seeds;
  for (const RunRequest& request : executor.asked) {
    seeds[setting_text(request.settings[0])].push_back(request.seed);
  }
  ASSERT_EQ(seeds.size(), 3u);
  for (const auto& [candidate, own] : seeds) EXPECT_EQ(own, (std::vector<std::uint64_t>{7, 8}));
}

TEST(Explore, FiguresAreMeansOverTheRepetitions) {
  const ExploreResult result = explore_with(replicas_up_to(2), [](const RunRequest& request) {
    const double repetition = static_cast<double>(request.seed) - 7;  // 0, 1, 2
    RunResult record = record_with({{Metric::kTtftP95, 10 + 3 * repetition},
                                    {Metric::kGoodputRps, 5},
                                    {Metric::kSaturated, repetition == 2 ? 1 : 0}});
    if (repetition != 1) record.figures.set(Metric::kItlP95, 1.0);
    return record;
  });
  EXPECT_EQ(result.repeats, 3);
  const ExploredCandidate& first = result.candidates[0];
  const Spread ttft = *first[Metric::kTtftP95];
  EXPECT_EQ(ttft.mean, 13);
  EXPECT_EQ(ttft.sd, 3);  // of 10, 13, 16
  EXPECT_EQ(ttft.min, 10);
  EXPECT_EQ(ttft.max, 16);
  EXPECT_EQ(first[Metric::kGoodputRps]->sd, 0);
  EXPECT_FALSE(first[Metric::kItlP95]) << "a repetition has no such figure: neither has the mean";
  EXPECT_EQ(first.saturated, 1);
  EXPECT_EQ(first.undecided, 0);
}

bool dominates(const ExploredCandidate& a, const ExploredCandidate& b, Metric gain) {
  const double more = a[gain]->mean - b[gain]->mean;
  const double later = a[Metric::kTtftP95]->mean - b[Metric::kTtftP95]->mean;
  return more >= 0 && later <= 0 && (more > 0 || later < 0);
}

TEST(Explore, FrontiersAreWhatNoOtherCandidateDominates) {
  constexpr int kCandidates = 60;
  for (std::uint64_t round = 0; round < 20; ++round) {
    RandomStream random(round, "records");
    std::vector<RunResult> records;
    for (int i = 0; i < kCandidates; ++i) {
      Figures figures = {
          {Metric::kTtftP95, static_cast<double>(random.below(12))},
          {Metric::kGoodputRps, static_cast<double>(random.below(12))},
          {Metric::kGoodputRpsPerAccelerator, static_cast<double>(random.below(12))}};
      if (i % 2 == 0) figures.push_back({Metric::kGoodRequestsPerCost, random.uniform()});
      if (i % 7 == 0) figures.erase(figures.begin());  // nobody got a first token
      records.push_back(record_with(figures));
    }
    const ExploreResult result =
        explore_with("repeats: 1\n" + replicas_up_to(kCandidates),
                     [&](const RunRequest& request) { return records[number_of(request)]; });
    const auto on_it = [&](const ExploredCandidate& one, Metric gain) {
      if (!one[gain] || !one[Metric::kTtftP95]) return false;
      return std::none_of(
          result.candidates.begin(), result.candidates.end(), [&](const ExploredCandidate& other) {
            return other[gain] && other[Metric::kTtftP95] && dominates(other, one, gain);
          });
    };
    for (const ExploredCandidate& one : result.candidates) {
      EXPECT_EQ(one.on_performance_frontier, on_it(one, Metric::kGoodputRps));
      EXPECT_EQ(one.on_efficiency_frontier, on_it(one, Metric::kGoodputRpsPerAccelerator));
      EXPECT_EQ(one.on_cost_frontier, on_it(one, Metric::kGoodRequestsPerCost));
    }
  }
}

// Goodput, p95 TTFT, accelerators; and the cost of an hour where it is not 0.
struct Made {
  double attained;
  double rps;
  double ttft;
  double accelerators;
  double cost = 0;
};

ExploreResult explore_made(const std::vector<Made>& made) {
  return explore_with(replicas_up_to(static_cast<int>(made.size())),
                      [&](const RunRequest& request) {
                        const Made& one = made[number_of(request)];
                        RunResult record = record_with({{Metric::kGoodput, one.attained},
                                                        {Metric::kGoodputRps, one.rps},
                                                        {Metric::kTtftP95, one.ttft},
                                                        {Metric::kAccelerators, one.accelerators}});
                        if (one.cost > 0) record.figures.set(Metric::kCostPerHour, one.cost);
                        return record;
                      });
}

TEST(Explore, NamesTheBestOfEachKind) {
  const ExploreResult result = explore_made({{0.5, 5, 20, 1},
                                             {0.99, 9.9, 300, 2},
                                             {1.0, 10, 200, 4},
                                             {1.0, 10, 100, 8},
                                             {0.995, 9.95, 250, 2}});
  EXPECT_EQ(result.most_goodput, 3u);  // the one of two that is faster
  EXPECT_EQ(result.least_ttft, 0u);
  EXPECT_EQ(result.cheapest, 4u);  // two accelerators, as the other one, and faster
  EXPECT_EQ(result.cheapest_by, Metric::kAccelerators);
}

TEST(Explore, TheCheapestIsByCostWhereAllThatReachTheTargetHaveAPrice) {
  const std::vector<Made> made = {{0.2, 2, 20, 1}, {1, 10, 300, 2, 9}, {1, 10, 200, 4, 5}};
  EXPECT_EQ(explore_made(made).cheapest, 2u);
  EXPECT_EQ(explore_made(made).cheapest_by, Metric::kCostPerHour);
  std::vector<Made> one_unknown = made;
  one_unknown[1].cost = 0;
  EXPECT_EQ(explore_made(one_unknown).cheapest, 1u);
  EXPECT_EQ(explore_made(one_unknown).cheapest_by, Metric::kAccelerators);
  EXPECT_NE(explore_json(explore_made(one_unknown))
                .text()
                .find("Without deployment.price_per_accelerator_hour: replicas=2."),
            std::string::npos);
  EXPECT_EQ(explore_json(explore_made(made)).text().find("could be the cheapest"),
            std::string::npos);
  EXPECT_EQ(explore_made({{0.2, 2, 20, 1}}).cheapest, std::nullopt);
}

TEST(Explore, EveryRepetitionHasToReachTheTarget) {
  const ExploreResult result = explore_with(replicas_up_to(1), [](const RunRequest& request) {
    return record_with({{Metric::kGoodput, request.seed == 8 ? 0.98 : 1.0},
                        {Metric::kGoodputRps, 10},
                        {Metric::kTtftP95, 20},
                        {Metric::kAccelerators, 1}});
  });
  EXPECT_GT(result.candidates[0][Metric::kGoodput]->mean, 0.99);
  EXPECT_EQ(result.cheapest, std::nullopt);
}

Error error_with(const std::string& more) {
  const Result<CandidateList> list = checked_candidates(chat_with(more));
  CHECK(!list.has_value()) << more;
  return list.error();
}

TEST(Explore, AWrongCandidateIsAnErrorBeforeAnythingIsRun) {
  const Error unknown = error_with(
      "study: {explore: {candidates: [{name: a, set: {deployment.replicas: 2}},\n"
      "  {name: b, set: {deployment.replica: 2}}]}}");
  EXPECT_EQ(unknown.where, "test.yaml:12");
  EXPECT_TRUE(unknown.message.starts_with("candidate 'b': unknown key 'deployment.replica'"))
      << unknown.message;
  EXPECT_TRUE(error_with("study: {explore: {grid: {deployment.engine.max_num_seqs: [8, -8]}}}")
                  .message.starts_with("candidate 'max_num_seqs=-8': deployment.engine.max_num_seqs"
                                       ": '-8': expected a whole number"));
  // Right by themselves and in no combination.
  error_with(
      "study: {explore: {grid: {deployment.replicas: [2],\n"
      "  deployment.disaggregation: [{decode: {}}]}}}");
  const Scenario without = scenario_of(
      "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n"
      "workload: {requests: 5, arrivals: {process: poisson, rate_rps: 1}, prompt_tokens: "
      "{distribution: constant, value: 9}, output_tokens: {distribution: constant, value: 9}}\n");
  const auto list = checked_candidates(without);
  ASSERT_FALSE(list);
  EXPECT_TRUE(list.error().message.starts_with("slo: missing")) << list.error().message;
}

// What `more` asks for, by the simulator.
ExploreResult simulated(const std::string& more) {
  std::vector<Scenario> scenarios;
  scenarios.push_back(chat_with(more));
  const auto executor = make_serial_executor(scenarios, nullptr);
  Result<ExploreResult> result = explore_all(scenarios[0], *executor);
  CHECK(result.has_value()) << result.error().to_string();
  return std::move(*result);
}

TEST(Explore, WhatCannotBeSimulatedIsListedWithItsReason) {
  const ExploreResult result = simulated(R"(
repeats: 1
study:
  explore:
    grid:
      deployment.model: [llama-3.1-8b, llama-3.1-70b]
      deployment.replicas: [1, 2]
      deployment.disaggregation: [null, {decode: {replicas: 2}}]
)");
  ASSERT_EQ(result.candidates.size(), 8u);
  std::vector<bool> ran;
  for (const ExploredCandidate& one : result.candidates) ran.push_back(one.simulated());
  EXPECT_EQ(ran, (std::vector<bool>{true, true, true, false, false, false, false, false}));
  EXPECT_NE(result.candidates[3].failure.find("replicas"), std::string::npos);
  EXPECT_NE(result.candidates[4].failure.find("does not fit on h100-sxm"), std::string::npos)
      << result.candidates[4].failure;
  const std::string json = explore_json(result).text();
  EXPECT_NE(json.find("\"candidates_simulated\":3,\"candidates_not_simulated\":5"),
            std::string::npos);
}

TEST(Explore, FiguresAreThoseOfTheRuns) {
  const std::string more =
      "study: {explore: {as_configured: true, grid: {deployment.engine.max_num_seqs: [4]}}}";
  const ExploreResult result = simulated(more);
  const Scenario scenario = chat_with(more);
  for (const ExploredCandidate& one : result.candidates) {
    double sum = 0;
    for (std::uint64_t seed = 7; seed < 10; ++seed) {
      RunRequest request{.seed = seed};
      if (!one.candidate.settings.empty()) {
        request.settings.push_back({"deployment.engine.max_num_seqs", number_node(4, "test")});
      }
      sum += *run_once(scenario, request, nullptr)->figures[Metric::kTtftP95];
    }
    EXPECT_EQ(one[Metric::kTtftP95]->mean, sum / 3);
  }
  EXPECT_LT(result.candidates[0][Metric::kTtftP95]->mean,
            result.candidates[1][Metric::kTtftP95]->mean);
}

TEST(Explore, ADeadlineSchedulerWithoutADeadlineIsListed) {
  std::string chat = kExploredChat;
  chat.replace(chat.find(", e2e_ms: 20000"), 15, "");
  std::vector<Scenario> scenarios;
  scenarios.push_back(
      scenario_of(chat + "repeats: 1\ndeployment: {model: llama-3.1-8b, hardware: h100-sxm}\n"));
  const auto executor = make_serial_executor(scenarios, nullptr);
  const auto result = explore_all(scenarios[0], *executor);
  ASSERT_TRUE(result);
  int failed = 0;
  for (const ExploredCandidate& one : result->candidates) {
    if (one.simulated()) continue;
    ++failed;
    EXPECT_NE(one.failure.find("expected slo.e2e_ms"), std::string::npos) << one.failure;
  }
  EXPECT_EQ(failed, 4);
}

TEST(Explore, RepetitionsThatAreAllTheSameAreNoted) {
  const auto answer = [](bool alike) {
    return [=](const RunRequest& request) {
      return record_with({{Metric::kGoodputRps, alike || request.seed == 7 ? 5 : 6}});
    };
  };
  EXPECT_EQ(explore_with(replicas_up_to(2), answer(true)).notes.size(), 1u);
  EXPECT_TRUE(explore_with(replicas_up_to(2), answer(false)).notes.empty());
  EXPECT_TRUE(explore_with("repeats: 1\n" + replicas_up_to(2), answer(true)).notes.empty());
}

std::vector<std::string> unlike_with(const std::string& grid) {
  const auto answer = [](const RunRequest& request) {
    return record_with({{Metric::kGoodputRps, static_cast<double>(request.seed)}});
  };
  const ExploreResult result =
      explore_with("study: {explore: {as_configured: true, grid: {" + grid + "}}}\n", answer);
  EXPECT_EQ(result.notes.size(), result.unlike.size());
  std::vector<std::string> found = result.unlike;
  for (const std::string& note : result.notes) found.push_back(note.substr(0, note.find(':')));
  return found;
}

TEST(Explore, CandidatesThatAreNotAskedForTheSameAreNoted) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(unlike_with("deployment.replicas: [1, 2]"), Texts());
  // The configuration itself has 200 requests.
  EXPECT_EQ(unlike_with("workload.requests: [200], deployment.replicas: [2]"), Texts());
  EXPECT_EQ(unlike_with("workload.requests: [100]"),
            (Texts{"workload", "Candidates differ in workload.requests"}));
  EXPECT_EQ(unlike_with("slo.ttft_ms: [500, 900], workload.arrivals.rate_rps: [1, 10]"),
            (Texts{"workload", "slo", "Candidates differ in workload.arrivals.rate_rps",
                   "Candidates differ in slo.ttft_ms"}));
}

TEST(Explore, WhatADerivationSaysIsNoted) {
  std::string chat = kExploredChat;
  const Scenario scenario =
      scenario_of(chat +
                  "deployment: {model: llama-3.1-8b, hardware: h100-sxm, engine: {scheduler: "
                  "static_fcfs}}\n");
  const auto list = checked_candidates(scenario);
  ASSERT_TRUE(list);
  ASSERT_EQ(list->notes.size(), 3u);  // the first is of the cache
  EXPECT_EQ(
      list->notes[1],
      "Candidate 1P:1D and 5 others: The prefill pool asks for static_fcfs, which does not go "
      "with disaggregation: continuous_fcfs is simulated.");
}

TEST(Costs, AreThePricesOfWhatWasUp) {
  const Scenario split =
      chat_with("",
                ", price_per_accelerator_hour: 2, disaggregation: {prefill: {replicas: 2}, decode: "
                "{replicas: 3, price_per_accelerator_hour: 1.5}}");
  const RunFigures figures = run_once(split, {.seed = 7}, nullptr)->figures;
  EXPECT_EQ(figures[Metric::kCostPerHour], 2 * 2 + 3 * 1.5);
  EXPECT_EQ(figures[Metric::kAccelerators], 5);
  EXPECT_NEAR(*figures[Metric::kGoodRequestsPerCost],
              *figures[Metric::kGoodputRps] * 3600 / (2 * 2 + 3 * 1.5), 1e-9);

  const Scenario unknown = chat_with("",
                                     ", groups: [{name: a, price_per_accelerator_hour: 2}, "
                                     "{name: b}]");
  EXPECT_EQ(run_once(unknown, {.seed = 7}, nullptr)->figures[Metric::kCostPerHour], std::nullopt);

  const Scenario one = chat_with("", ", price_per_accelerator_hour: 3, parallel: {tensor: 2}");
  const RunFigures alone = run_once(one, {.seed = 7}, nullptr)->figures;
  EXPECT_EQ(alone[Metric::kCostPerHour], 6);
  EXPECT_NEAR(*alone[Metric::kGoodRequestsPerCost],
              *alone[Metric::kGoodputRpsPerAccelerator] * 3600 / 3, 1e-9);
  const double tokens = *alone[Metric::kOutputTokensPerSecond] * *alone[Metric::kDuration];
  EXPECT_NEAR(*alone[Metric::kCostPerMillionOutputTokens],
              3 * *alone[Metric::kAcceleratorHours] / (tokens * 1e-6), 0.01);
}

}  // namespace
}  // namespace inferscale

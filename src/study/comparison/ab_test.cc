// Paired comparisons: verdicts of figures that are known, a configuration against itself, and how
// often looking again and again errs.

#include "study/comparison/ab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "base/distributions.h"
#include "study/comparison/ab_json.h"
#include "study/comparison/sensitivity.h"
#include "study/serial_executor.h"
#include "study/study_test_support.h"

namespace inferscale {
namespace {

AbResult compare(const AbQuestion& question, std::function<RunResult(const RunRequest&)> answer) {
  FakeExecutor executor(std::move(answer));
  Result<AbResult> result = compare_ab(question, executor);
  CHECK(result.has_value());
  return std::move(*result);
}

const AbRow* find_row(const AbResult& result, Metric metric) {
  const auto found = std::find_if(result.rows.begin(), result.rows.end(),
                                  [&](const AbRow& row) { return row.metric == metric; });
  return found == result.rows.end() ? nullptr : &*found;
}

// Figures of a repetition, the treatment's moved by `effect`.
RunResult moved(const RunRequest& request, double effect) {
  const auto repetition = static_cast<double>(request.seed % 1000);
  const double value =
      100 + repetition + (request.scenario == kTreatment ? effect + 0.1 * repetition : 0);
  RunResult record;
  for (const Metric metric : {Metric::kGoodput, Metric::kTtftP95, Metric::kKvUsedMean}) {
    record.figures.set(metric, value);
  }
  return record;
}

TEST(Ab, VerdictsFollowTheDirectionOfTheMetric) {
  const AbResult result =
      compare({.repeats = 10}, [](const RunRequest& request) { return moved(request, 5); });
  EXPECT_EQ(find_row(result, Metric::kGoodput)->verdict, AbVerdict::kBetter);
  EXPECT_EQ(find_row(result, Metric::kTtftP95)->verdict, AbVerdict::kWorse);
  EXPECT_EQ(find_row(result, Metric::kKvUsedMean)->verdict, AbVerdict::kHigher);
  EXPECT_EQ(find_row(result, Metric::kE2eP95), nullptr);  // no run has it
  EXPECT_EQ(result.pairs, 10);
  EXPECT_EQ(result.end, AbEnd::kFixed);
  // Deltas are 5, 5.1, ..., 5.9.
  EXPECT_NEAR(find_row(result, Metric::kGoodput)->paired.delta_mean, 5.45, 1e-9);
  EXPECT_TRUE(find_row(result, Metric::kGoodput)->expanded->holds(5.45));
}

TEST(Ab, AnIntervalThatHoldsZeroShowsNoDifference) {
  // Deltas are -0.45, -0.35, ..., 0.45.
  const AbResult result =
      compare({.repeats = 10}, [](const RunRequest& request) { return moved(request, -0.45); });
  EXPECT_EQ(find_row(result, Metric::kGoodput)->verdict, AbVerdict::kNoDifferenceShown);
}

TEST(Ab, EqualDifferencesHaveEqualIntervals) {
  const AbResult result = compare({.repeats = 10, .seed = 3},
                                  [](const RunRequest& request) { return moved(request, 5); });
  EXPECT_EQ(find_row(result, Metric::kGoodput)->percentile,
            find_row(result, Metric::kKvUsedMean)->percentile);
  EXPECT_EQ(find_row(result, Metric::kGoodput)->expanded,
            find_row(result, Metric::kKvUsedMean)->expanded);
}

TEST(Ab, BothSidesHaveTheSameSeedsUnlessToldOtherwise) {
  const auto seeds_of = [](bool common) {
    AbQuestion question{.repeats = 3, .seed = 42};
    question.options.common_random_numbers = common;
    FakeExecutor executor([](const RunRequest& request) { return moved(request, 1); });
    CHECK(compare_ab(question, executor).has_value());
    std::array<std::vector<std::uint64_t>, 2> seeds;
    for (const RunRequest& request : executor.asked) {
      seeds[request.scenario].push_back(request.seed);
    }
    return seeds;
  };
  using Seeds = std::vector<std::uint64_t>;
  EXPECT_EQ(seeds_of(true)[kBaseline], (Seeds{42, 43, 44}));
  EXPECT_EQ(seeds_of(true)[kTreatment], (Seeds{42, 43, 44}));
  EXPECT_EQ(seeds_of(false)[kBaseline], (Seeds{42, 43, 44}));
  EXPECT_EQ(seeds_of(false)[kTreatment], (Seeds{1'000'042, 1'000'043, 1'000'044}));
}

TEST(Ab, FourPairsAreTooFewForAVerdict) {
  const auto far_apart = [](const RunRequest& request) { return moved(request, 1000); };
  EXPECT_EQ(find_row(compare({.repeats = 4}, far_apart), Metric::kGoodput)->verdict,
            AbVerdict::kTooFew);
  EXPECT_EQ(find_row(compare({.repeats = 5}, far_apart), Metric::kGoodput)->verdict,
            AbVerdict::kBetter);
}

TEST(Ab, RunsThatFailedAndFiguresThatAreMissingAreCounted) {
  const AbResult result = compare({.repeats = 8}, [](const RunRequest& request) {
    RunResult record = moved(request, 5);
    if (request.seed == 2 && request.scenario == kTreatment) return RunResult{{}, "no room"};
    if (request.seed == 3) record.figures.set(Metric::kTtftP95, std::nullopt);
    if (request.scenario == kTreatment) record.figures.set(Metric::kPrefixHitRate, 0.5);
    return record;
  });
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].reason, "no room");
  EXPECT_EQ(result.failures[0].scenario, kTreatment);
  EXPECT_EQ(result.pairs, 7);
  EXPECT_EQ(find_row(result, Metric::kGoodput)->paired.pairs, 7);
  const AbRow* ttft = find_row(result, Metric::kTtftP95);
  EXPECT_EQ(ttft->paired.pairs, 6);
  EXPECT_EQ(ttft->baseline_missing, 1);
  EXPECT_EQ(ttft->treatment_missing, 1);
  const AbRow* hits = find_row(result, Metric::kPrefixHitRate);
  EXPECT_EQ(hits->verdict, AbVerdict::kNotComparable);
  EXPECT_EQ(hits->baseline_missing, 7);
  EXPECT_EQ(hits->baseline_mean, std::nullopt);
  EXPECT_EQ(hits->treatment_mean, 0.5);
}

constexpr const char* kTiny = R"(
deployment: {model: llama-3.1-8b, hardware: h100-sxm}
workload:
  requests: 200
  arrivals: {process: poisson, rate_rps: 20}
  prompt_tokens: {distribution: lognormal, mean: 512, cv: 0.7}
  output_tokens: {distribution: lognormal, mean: 64, cv: 0.8}
slo: {ttft_ms: 40, itl_ms: 50}
)";

// docs/commands/ab.md has the figures of 1,000 trials; INFERSCALE_AB_TRIALS=1000 makes as many.
int trials_wanted(int usual) {
  const char* wanted = std::getenv("INFERSCALE_AB_TRIALS");
  return wanted != nullptr ? std::atoi(wanted) : usual;
}

class AgainstItself : public testing::Test {
 protected:
  AgainstItself() {
    scenarios_.push_back(scenario_of(kTiny));
    scenarios_.push_back(scenario_of(kTiny));
  }
  AbResult compare_itself(const AbQuestion& question) {
    const auto executor = make_serial_executor(scenarios_, nullptr);
    Result<AbResult> result = compare_ab(question, *executor);
    CHECK(result.has_value());
    return std::move(*result);
  }
  std::vector<Scenario> scenarios_;
};

TEST_F(AgainstItself, WithCommonSeedsEveryDifferenceIsExactlyZero) {
  const AbResult result = compare_itself({.repeats = 10, .seed = 42});
  EXPECT_GE(result.rows.size(), 12u);
  for (const AbRow& row : result.rows) {
    EXPECT_EQ(row.verdict, AbVerdict::kIdentical) << info_of(row.metric).name;
    EXPECT_EQ(row.paired.delta_mean, 0) << info_of(row.metric).name;
    EXPECT_EQ(row.percentile, (MeanInterval{0, 0})) << info_of(row.metric).name;
  }
}

TEST_F(AgainstItself, WithSeedsOfTheirOwnItIsRarelyToldApart) {
  const int trials = trials_wanted(40);
  std::map<Metric, int> held;
  for (int trial = 0; trial < trials; ++trial) {
    AbQuestion question{.repeats = 30, .seed = static_cast<std::uint64_t>(1000 * trial)};
    question.options.resamples = 1000;
    question.options.common_random_numbers = false;
    for (const AbRow& row : compare_itself(question).rows) {
      const bool zero = row.verdict == AbVerdict::kIdentical || row.expanded->holds(0);
      held[row.metric] += zero ? 1 : 0;
    }
  }
  for (const auto& [metric, count] : held) {
    const double share = static_cast<double>(count) / trials;
    // Four standard errors of a share of 95 %.
    EXPECT_GE(share, 0.95 - 4 * std::sqrt(0.95 * 0.05 / trials)) << info_of(metric).name;
    if (trials > 40) std::printf("%s %.3f\n", info_of(metric).name.data(), share);
  }
}

// Headline figures with noise of their own for every run, and a difference between the sides.
std::function<RunResult(const RunRequest&)> noisy(std::uint64_t trial, double difference) {
  return [=](const RunRequest& request) {
    RunResult record;
    RandomStream stream(1'000'000 * trial + 2 * request.seed + request.scenario, "noise");
    StandardNormal normal;
    for (const Metric metric : headline_metrics(ComparedWork::kRequests)) {
      record.figures.set(
          metric, 100 + normal.draw(stream) + (request.scenario == kTreatment ? difference : 0));
    }
    return record;
  };
}

AbQuestion with_budget(std::int64_t most) {
  AbQuestion question{.repeats = 10, .seed = 42};
  question.options.max_repeats = most;
  question.options.half_width = 1e-6;
  question.options.resamples = 2000;
  return question;
}

TEST(AbBudget, LooksAreDoubledUpToTheBudget) {
  const AbResult result = compare(with_budget(50), noisy(1, 0));
  ASSERT_EQ(result.looks.size(), 4u);
  EXPECT_EQ(result.looks[0].repeats, 10);
  EXPECT_EQ(result.looks[1].repeats, 20);
  EXPECT_EQ(result.looks[2].repeats, 40);
  EXPECT_EQ(result.looks[3].repeats, 50);
  EXPECT_EQ(result.repeats, 50);
  EXPECT_EQ(result.end, AbEnd::kBudget);
  EXPECT_DOUBLE_EQ(result.confidence, 1 - 0.05 / 4);
}

TEST(AbBudget, EndsWhenAllIsDecided) {
  const AbResult result = compare(with_budget(80), noisy(1, 10));
  EXPECT_EQ(result.repeats, 10);
  EXPECT_EQ(result.end, AbEnd::kDecided);
  EXPECT_TRUE(result.looks[0].undecided.empty());
}

TEST(AbBudget, WhatTheLastLookDecidesIsTheBudgetsEnd) {
  const AbResult result = compare(with_budget(10), noisy(1, 10));
  EXPECT_EQ(result.repeats, 10);
  ASSERT_EQ(result.looks.size(), 1u);
  EXPECT_TRUE(result.looks[0].undecided.empty());
  EXPECT_EQ(result.end, AbEnd::kBudget);  // it did not end before all was made
}

TEST(AbBudget, EndsWhenADifferenceCouldOnlyBeSmall) {
  AbQuestion question = with_budget(80);
  question.options.half_width = 0.05;  // 5 of 100, with noise of about 1
  const AbResult result = compare(question, noisy(3, 0));
  EXPECT_EQ(result.repeats, 10);
  EXPECT_EQ(result.end, AbEnd::kDecided);
}

TEST(AbBudget, LookingAgainDoesNotMakeDifferencesOutOfChance) {
  // Of comparisons of equals, each looked at up to four times, 5 % may err. Looks at 95 % each
  // would err in 14 % (sums of normals; in 12.6 % were they evenly spaced: P. Armitage,
  // C. McPherson and B. Rowe, J. of the Royal Statistical Society A 132(2) 1969, table 2).
  const int trials = trials_wanted(100);
  AbQuestion question = with_budget(80);
  question.options.resamples = 1000;
  int erred = 0;
  for (int trial = 0; trial < trials; ++trial) {
    // One metric alone: it ends by itself, at whichever look chance makes a difference.
    const auto all = noisy(static_cast<std::uint64_t>(trial + 10), 0);
    const AbResult result = compare(question, [&](const RunRequest& request) {
      RunResult record;
      record.figures.set(Metric::kGoodput, all(request).figures[Metric::kGoodput]);
      return record;
    });
    erred += find_row(result, Metric::kGoodput)->verdict != AbVerdict::kNoDifferenceShown ? 1 : 0;
  }
  const double share = static_cast<double>(erred) / trials;
  if (trials > 100) std::printf("looks: %.3f\n", share);
  EXPECT_LE(share, 0.05 + 4 * std::sqrt(0.05 * 0.95 / trials));
  EXPECT_GT(share, 0);  // nor is it so careful that it never errs
}

TEST(Ab, RepetitionsThatAreAllTheSameAreNotEvidence) {
  const auto constant = [](const RunRequest& request) {
    RunResult record;
    record.figures.set(Metric::kGoodput, request.scenario == kTreatment ? 1 : 0.9);
    return record;
  };
  const AbResult alike = compare({.repeats = 10}, constant);
  EXPECT_TRUE(alike.alike);
  const AbRow* goodput = find_row(alike, Metric::kGoodput);
  EXPECT_EQ(goodput->verdict, AbVerdict::kDiffers);
  EXPECT_EQ(goodput->percentile, std::nullopt);
  EXPECT_EQ(goodput->expanded, std::nullopt);
  const std::string json = ab_json(alike, {}).text();
  EXPECT_NE(json.find(R"("verdict":"differs","baseline":)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("wins":null,"ties":null,"losses":null)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("judged":0)"), std::string::npos) << json;
  // More of the same would not decide it.
  const AbResult budget = compare(with_budget(80), constant);
  EXPECT_EQ(budget.end, AbEnd::kAlike);
  EXPECT_EQ(budget.repeats, 10);
  EXPECT_EQ(budget.looks.at(0).undecided, std::vector<Metric>{Metric::kGoodput});
  EXPECT_NE(ab_json(alike, {}).text().find("All repetitions gave the same figures"),
            std::string::npos);
  const AbResult drawn =
      compare({.repeats = 10}, [](const RunRequest& request) { return moved(request, 5); });
  EXPECT_FALSE(drawn.alike);
  EXPECT_EQ(ab_json(drawn, {}).text().find("All repetitions"), std::string::npos);
}

// Figures of sessions, of which the treatment leaves two incomplete.
RunResult of_sessions(const RunRequest& request) {
  const auto repetition = static_cast<double>(request.seed % 1000);
  const bool treatment = request.scenario == kTreatment;
  RunResult record;
  record.figures.set(Metric::kTurnTtftP95, 500 + repetition - (treatment ? 50 + repetition : 0));
  record.figures.set(Metric::kTtftP95, 400 + repetition);
  record.figures.set(Metric::kSessionMakespanP95, 90 + repetition);
  record.figures.set(Metric::kSessions, 10);
  record.figures.set(Metric::kSessionsComplete, treatment ? 8 : 10);
  record.figures.set(Metric::kTransferSeconds, 0);
  record.figures.set(Metric::kEvictedTtlTokens, treatment ? 64 : 0);
  return record;
}

TEST(Ab, OfSessionsTurnsAndSessionsAreJudged) {
  const AbResult result = compare({.work = ComparedWork::kSessions, .repeats = 10}, of_sessions);
  EXPECT_EQ(find_row(result, Metric::kTurnTtftP95)->verdict, AbVerdict::kBetter);
  EXPECT_EQ(find_row(result, Metric::kSessionMakespanP95)->verdict, AbVerdict::kIdentical);
  EXPECT_EQ(find_row(result, Metric::kSessionsComplete)->verdict, AbVerdict::kWorse);
  EXPECT_EQ(find_row(result, Metric::kTtftP95), nullptr) << "turns have their own";
  EXPECT_EQ(find_row(result, Metric::kTransferSeconds), nullptr) << "nothing is transferred";
  EXPECT_NE(find_row(result, Metric::kEvictedTtlTokens), nullptr);
  const std::string json = ab_json(result, {}).text();
  EXPECT_TRUE(json.starts_with(R"({"kind":"ab","simulated":true,"verdict":"better",)")) << json;
  EXPECT_NE(json.find("The treatment leaves sessions incomplete in 10 of 10 runs, 2 a run"),
            std::string::npos)
      << json;
  EXPECT_EQ(json.find("The baseline leaves"), std::string::npos);
}

TEST(Ab, SessionsAreJudgedWhereBothSidesHaveSome) {
  constexpr const char* kSessions =
      "deployment: {model: llama-3.1-8b, hardware: h100-sxm, engine: {prefix_caching: true}}\n"
      "workload:\n"
      "  arrivals: {process: poisson, rate_rps: 1}\n"
      "  sessions:\n"
      "    count: 5\n"
      "    turns: {distribution: constant, value: 2}\n"
      "    first_prompt_tokens: {distribution: constant, value: 2000}\n"
      "    appended_tokens: {distribution: constant, value: 500}\n"
      "    output_tokens: {distribution: constant, value: 100}\n"
      "    tool_gap: {distribution: exponential, mean_s: 5}\n";
  const Scenario chat = scenario_of(kTiny);
  const Scenario agents = scenario_of(kSessions);
  EXPECT_EQ(ab_question(agents, agents).work, ComparedWork::kSessions);
  EXPECT_EQ(ab_question(agents, chat).work, ComparedWork::kRequests);
  EXPECT_EQ(ab_question(chat, agents).work, ComparedWork::kRequests);
  EXPECT_EQ(sensitivity_question(agents, agents).work, ComparedWork::kSessions);
}

TEST(AbJson, SaysWhatWasFound) {
  const AbResult result =
      compare({.repeats = 10}, [](const RunRequest& request) { return moved(request, 5); });
  const std::string text = ab_json(result, {}).text();
  EXPECT_TRUE(text.starts_with(R"({"kind":"ab","simulated":true,"verdict":"trade",)")) << text;
  EXPECT_NE(text.find(R"("metric":"goodput","label":"goodput","unit":"","better":"higher",)"
                      R"("headline":true,"verdict":"better","pairs":10,)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("metric":"kv_used_mean")"), std::string::npos);
  EXPECT_NE(text.find(R"("wins":null)"), std::string::npos);  // of KV use: neither way is better
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace inferscale

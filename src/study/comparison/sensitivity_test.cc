// Sensitivity studies of made-up figures whose dependence on the scales is known.

#include "study/comparison/sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "study/comparison/sensitivity_json.h"
#include "study/serial_executor.h"
#include "study/study_test_support.h"

namespace inferscale {
namespace {

constexpr double kCrossing = 1.1;  // of TTFT p95, in the decode scale

// TTFT p95: 100 against 100 decode / 1.1. Goodput: tied at 1 while prefill is at most 1, then the
// treatment has more. E2E p95: the treatment is always slower.
RunResult record_of(const RunRequest& request) {
  const bool treatment = request.scenario == kTreatment;
  const auto noise = static_cast<double>(request.seed % 7);  // the same for both
  RunResult record;
  record.figures.set(Metric::kTtftP95,
                     noise + (treatment ? 100 * request.scales.decode / kCrossing : 100));
  record.figures.set(Metric::kGoodput,
                     treatment ? 1 : std::min(1.0, 2 - std::max(1.0, request.scales.prefill)));
  record.figures.set(Metric::kE2eP95, noise + (treatment ? 1100 : 1000) * request.scales.prefill);
  return record;
}

SensitivityQuestion question_of(std::int64_t draws) {
  SensitivityQuestion question{.repeats = 2, .seed = 42};
  question.options.draws = draws;
  return question;
}

SensitivityResult study(const SensitivityQuestion& question, FakeExecutor& executor) {
  Result<SensitivityResult> result = find_sensitivity(question, executor);
  CHECK(result.has_value());
  return std::move(*result);
}

TEST(Sensitivity, CountsWinsOverTheDraws) {
  FakeExecutor executor(record_of);
  const SensitivityResult result = study(question_of(4000), executor);
  // Decode is drawn evenly in the logarithm over [1/1.2, 1.2], and the treatment wins below 1.1.
  const double expected = (std::log(kCrossing) + std::log(1.2)) / (2 * std::log(1.2));
  const SensitivityRow& ttft = result.rows[0];
  EXPECT_NEAR(static_cast<double>(ttft.wins) / 4000, expected, 4 * std::sqrt(0.25 / 4000));
  EXPECT_EQ(ttft.wins + ttft.losses, 4000);
  EXPECT_EQ(ttft.as_unscaled, ttft.wins);
  // Prefill is at most 1 in half of the draws.
  const SensitivityRow& goodput = result.rows[1];
  EXPECT_NEAR(static_cast<double>(goodput.ties) / 4000, 0.5, 4 * std::sqrt(0.25 / 4000));
  EXPECT_EQ(goodput.losses, 0);
  EXPECT_EQ(goodput.as_unscaled, goodput.ties);
  EXPECT_EQ(result.rows[2].losses, 4000);
  EXPECT_NEAR(result.rows[2].delta_least, 100 / 1.2, 0.1);
  EXPECT_NEAR(result.rows[2].delta_most, 100 * 1.2, 0.1);
}

TEST(Sensitivity, BothSidesSeeTheSameScalesAndSeeds) {
  FakeExecutor executor(record_of);
  study(question_of(50), executor);
  std::vector<std::string> of_side[2];
  for (const RunRequest& request : executor.asked) {
    EXPECT_EQ(request.scales.transfer, 1);  // nothing is transferred
    EXPECT_GE(request.scales.prefill, 1 / 1.2 - 1e-12);
    EXPECT_LE(request.scales.decode, 1.2 + 1e-12);
    of_side[request.scenario].push_back(request_text(request));
  }
  EXPECT_EQ(of_side[kBaseline], of_side[kTreatment]);
  EXPECT_EQ(executor.asked.front().scales, ModelScales{});
  EXPECT_EQ(executor.asked.front().seed, 42u);
}

TEST(Sensitivity, TransfersAreDrawnWhereThereAreAny) {
  FakeExecutor executor(record_of);
  SensitivityQuestion question = question_of(20);
  question.with_transfers = true;
  const SensitivityResult with = study(question, executor);
  const SensitivityResult without = study(question_of(20), executor);
  EXPECT_NE(with.draws[0].scales.transfer, 1);
  EXPECT_EQ(with.scans.size(), 3u);
  EXPECT_EQ(without.scans.size(), 2u);
  // What is drawn for one scale does not depend on the others.
  EXPECT_EQ(with.draws[19].scales.decode, without.draws[19].scales.decode);
}

TEST(Sensitivity, NamesTheScaleThatFlipsAMetricAndWhere) {
  FakeExecutor executor(record_of);
  const SensitivityResult result = study(question_of(100), executor);
  ASSERT_EQ(result.flips.size(), 2u);
  const ScaleFlip& goodput = result.flips[0];  // leaves the tie as soon as prefill is slower
  EXPECT_EQ(compared_metrics(result.question.work)[goodput.metric], Metric::kGoodput);
  EXPECT_EQ(goodput.scale, ModelScale::kPrefill);
  EXPECT_EQ(goodput.from, Winner::kTie);
  EXPECT_LE(goodput.flips_at, kFlipRatio);
  const ScaleFlip& ttft = result.flips[1];
  EXPECT_EQ(compared_metrics(result.question.work)[ttft.metric], Metric::kTtftP95);
  EXPECT_EQ(ttft.scale, ModelScale::kDecode);
  EXPECT_LE(ttft.holds_at, kCrossing);
  EXPECT_GE(ttft.flips_at, kCrossing);
}

TEST(Sensitivity, TellsDrawsLostFromDrawsWonAsPairByPair) {
  FakeExecutor executor(record_of);
  const SensitivityResult result = study(question_of(200), executor);
  const SensitivityRow& ttft = result.rows[0];
  ASSERT_EQ(ttft.separations.size(), 3u);
  EXPECT_EQ(ttft.separations[1].name, "decode");
  EXPECT_EQ(ttft.separations[1].lost_is_larger, 1);
  // Of the others by brute force.
  double larger = 0;
  for (const ScaledPoint& lost : result.draws) {
    for (const ScaledPoint& won : result.draws) {
      if (lost.winner(0) != Winner::kBaselineWins || won.winner(0) != Winner::kTreatmentWins) {
        continue;
      }
      larger += lost.scales.prefill > won.scales.prefill ? 1 : 0;
    }
  }
  const double pairs = static_cast<double>(ttft.wins) * static_cast<double>(ttft.losses);
  EXPECT_DOUBLE_EQ(ttft.separations[0].lost_is_larger, larger / pairs);
  EXPECT_TRUE(result.rows[2].separations.empty());  // nothing is won
}

TEST(Sensitivity, OfSessionsTurnsAreCompared) {
  FakeExecutor executor([](const RunRequest& request) {
    const RunResult requests = record_of(request);
    RunResult record;
    record.figures.set(Metric::kTurnTtftP95, requests.figures[Metric::kTtftP95]);
    record.figures.set(Metric::kSessionMakespanP95, requests.figures[Metric::kE2eP95]);
    record.figures.set(Metric::kTurnAttainment, request.scenario == kTreatment ? 0.995 : 0.9);
    return record;
  });
  SensitivityQuestion question = question_of(20);
  const SensitivityResult none = study(question, executor);
  EXPECT_EQ(none.rows[0].unknown, 20);
  question.work = ComparedWork::kSessions;
  const SensitivityResult result = study(question, executor);
  EXPECT_EQ(result.rows[0].wins + result.rows[0].losses, 20);
  EXPECT_EQ(result.rows[1].wins, 20) << "the larger attainment wins";
  EXPECT_EQ(result.rows[2].losses, 20);
  EXPECT_EQ(meets_slo(question, result.draws[0], kBaseline), false);
  EXPECT_EQ(meets_slo(question, result.draws[0], kTreatment), true);
  const std::string json = sensitivity_json(result, {}).text();
  EXPECT_NE(json.find(R"("session_makespan_s_p95_winner":"baseline")"), std::string::npos);
}

TEST(Sensitivity, TheSloIsMetWhenEveryRepetitionMeetsIt) {
  FakeExecutor executor([](const RunRequest& request) {
    RunResult record = record_of(request);
    const bool bad = request.seed == 43 && request.scenario == kTreatment;
    record.figures.set(Metric::kGoodput, bad ? 0.98 : 0.995);
    return record;
  });
  const SensitivityQuestion question = question_of(5);
  const SensitivityResult result = study(question, executor);
  EXPECT_EQ(meets_slo(question, result.draws[0], kBaseline), true);
  EXPECT_EQ(meets_slo(question, result.draws[0], kTreatment), false);
  EXPECT_FALSE(result.alike);
}

TEST(SensitivityJson, SaysWhoMissesTheSloInsideTheBand) {
  // The baseline has goodput 1 while prefill is at most 1, the treatment always.
  FakeExecutor executor(record_of);
  const SensitivityResult result = study(question_of(40), executor);
  const auto slow = std::ranges::count_if(
      result.draws, [](const ScaledPoint& draw) { return draw.scales.prefill > 1.01; });
  const std::string text = sensitivity_json(result, {}).text();
  EXPECT_NE(text.find("\"baseline_misses\":" + std::to_string(slow) +
                      R"(,"treatment_misses":0,"baseline_changes":true,"treatment_changes":false)"),
            std::string::npos)
      << text;
}

TEST(SensitivityJson, NotesWhatTheSharedScalesCannotShow) {
  const auto notes_with = [](const std::string& key, bool constant) {
    FakeExecutor executor([&](const RunRequest& request) {
      return record_of({.scenario = request.scenario,
                        .seed = constant ? 42 : request.seed,
                        .scales = request.scales});
    });
    const Alternatives alternatives{.changes = {{key, "a", "b"}}};
    const std::string text = sensitivity_json(study(question_of(3), executor), alternatives).text();
    return text.substr(text.rfind("\"notes\":"));
  };
  for (const char* key : {"deployment.hardware", "deployment.model", "deployment.latency.method"}) {
    EXPECT_NE(notes_with(key, false).find("--set deployment.latency.prefill_scale=1.2 --set"),
              std::string::npos);
  }
  EXPECT_EQ(notes_with("deployment.replicas", false), R"("notes":[]})");
  EXPECT_NE(notes_with("deployment.replicas", true).find("All repetitions gave the same figures"),
            std::string::npos);
}

TEST(Sensitivity, RunsThatFailedAreCountedNotGuessed) {
  FakeExecutor executor([](const RunRequest& request) {
    const bool fails = request.scenario == kTreatment && request.scales.decode > 1.15;
    return fails ? RunResult{{}, "no room"} : record_of(request);
  });
  const SensitivityQuestion question = question_of(300);
  const SensitivityResult result = study(question, executor);
  const auto unknown = std::count_if(result.draws.begin(), result.draws.end(),
                                     [](const auto& draw) { return draw.scales.decode > 1.15; });
  EXPECT_GT(unknown, 0);
  EXPECT_EQ(result.rows[0].unknown, unknown);
  EXPECT_EQ(result.rows[0].wins + result.rows[0].losses, 300 - unknown);
  // Two repetitions of each, and the end of the scan of decode.
  EXPECT_EQ(static_cast<std::int64_t>(result.failures.size()), 2 * (unknown + 1));
  const auto failed = std::find_if(result.draws.begin(), result.draws.end(),
                                   [](const auto& draw) { return draw.scales.decode > 1.15; });
  EXPECT_EQ(meets_slo(question, *failed, kTreatment), std::nullopt);
}

TEST(Sensitivity, AgainstItselfEverythingIsTied) {
  constexpr const char* kTiny =
      "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n"
      "workload:\n"
      "  requests: 100\n"
      "  arrivals: {process: poisson, rate_rps: 20}\n"
      "  prompt_tokens: {distribution: lognormal, mean: 512, cv: 0.7}\n"
      "  output_tokens: {distribution: lognormal, mean: 64, cv: 0.8}\n"
      "slo: {ttft_ms: 40, itl_ms: 50}\n";
  std::vector<Scenario> scenarios;
  scenarios.push_back(scenario_of(kTiny));
  scenarios.push_back(scenario_of(kTiny));
  SensitivityQuestion question = sensitivity_question(scenarios[0], scenarios[1]);
  question.options.draws = 10;
  const auto executor = make_serial_executor(scenarios, nullptr);
  const Result<SensitivityResult> result = find_sensitivity(question, *executor);
  ASSERT_TRUE(result);
  for (const SensitivityRow& row : result->rows) EXPECT_EQ(row.ties, 10);
  EXPECT_TRUE(result->flips.empty());
  // Slower by a fifth is seen.
  EXPECT_GT(*result->scans[1].points.back().means[kBaseline][2],
            *result->unscaled.means[kBaseline][2]);
}

// "holds" and so on, when the two sides' TTFT p95 and E2E p95 differ by `apart`, and goodputs are
// equal where there are any.
std::string verdict_with(double apart, bool goodput) {
  FakeExecutor executor([=](const RunRequest& request) {
    RunResult record;
    const double value = 100 + (request.scenario == kTreatment ? apart : 0);
    record.figures.set(Metric::kTtftP95, value);
    record.figures.set(Metric::kE2eP95, value);
    if (goodput) record.figures.set(Metric::kGoodput, 1);
    return record;
  });
  const std::string text = sensitivity_json(study(question_of(3), executor), {}).text();
  const std::string key = R"("verdict":")";
  const std::size_t begin = text.find(key) + key.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

TEST(SensitivityJson, NobodyStaysAheadWhereAllIsTied) {
  EXPECT_EQ(verdict_with(0, true), "tied");
  EXPECT_EQ(verdict_with(5, true), "holds");  // though the goodputs tie
  EXPECT_EQ(verdict_with(0, false), "unknown");
}

TEST(SensitivityJson, SaysWhatWasFound) {
  FakeExecutor executor(record_of);
  const std::string text = sensitivity_json(study(question_of(3), executor), {}).text();
  EXPECT_TRUE(text.starts_with(R"({"kind":"sensitivity","simulated":true,"verdict":"flips",)"))
      << text;
  EXPECT_NE(text.find(R"({"scale":"transfer","acts":false,"low":1,"high":1})"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace inferscale

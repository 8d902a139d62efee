// The text of a paired comparison: the verdict in words, the tables, what is said beside them.

#include "report/studies/comparison/ab_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/text/text_table.h"

namespace inferscale {
namespace {

using Json = nlohmann::ordered_json;

// A metric that the treatment lowers from 100 to 90.
Json row(const std::string& label, const std::string& verdict, bool headline) {
  Json json = Json::parse(R"({"unit":"ms","better":"lower","pairs":10,"baseline_missing":0,
    "treatment_missing":0,"baseline_mean":100,"treatment_mean":90,"delta_mean":-10,
    "delta_median":-9,"delta_mean_relative":-0.1,"wins":8,"ties":1,"losses":1,"win_rate":0.8,
    "relative_change_mean":-0.098,"relative_pairs":10,"percentile_low":-12,"percentile_high":-8,
    "percentile_low_relative":-0.12,"percentile_high_relative":-0.08,"interval_low":-13,
    "interval_high":-7,"interval_low_relative":-0.13,"interval_high_relative":-0.07})");
  json["metric"] = label;
  json["label"] = label;
  json["verdict"] = verdict;
  json["headline"] = headline;
  return json;
}

Json result_of(const std::string& verdict, const std::vector<Json>& rows) {
  Json json = Json::parse(R"({"kind":"ab","simulated":true,
    "baseline":{"file":"a.yaml","name":"one","fingerprint":"01"},
    "treatment":{"file":"b.yaml","name":"two","fingerprint":"02"},
    "changes":[{"key":"deployment.replicas","baseline":"1","treatment":"2"}],
    "seed":42,"common_random_numbers":true,"repeats":10,"pairs":10,"ended":"fixed",
    "max_repeats":null,"half_width":0.01,"looks":[],"resamples":10000,
    "percentile_confidence":0.95,"interval_confidence":0.95,"judged":2,"expected_by_chance":0.1,
    "failures":[],"notes":[]})");
  json["verdict"] = verdict;
  json["metrics"] = rows;
  return json;
}

std::string text_of(const Json& result, PlotGlyphs glyphs = PlotGlyphs::kAscii) {
  const Result<std::string> text = ab_text(result.dump(), glyphs);
  EXPECT_TRUE(text) << (text ? "" : text.error().to_string());
  return text.value_or("");
}

void expect_says(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected: " << part << "\n" << text;
}

TEST(AbText, TheVerdictComesFirstInWords) {
  const auto verdict = [](const std::string& overall, const std::string& of_ttft,
                          const std::string& of_e2e) {
    return text_of(
        result_of(overall, {row("TTFT p95", of_ttft, true), row("E2E p95", of_e2e, true)}));
  };
  expect_says(verdict("better", "better", "no_difference_shown"),
              "Paired comparison (simulated)\n"
              "Verdict    The treatment is better: TTFT p95 (100 -> 90 ms). For E2E p95 no "
              "difference is shown.\n");
  expect_says(verdict("worse", "worse", "identical"),
              "Verdict    The treatment is worse: TTFT p95 (100 -> 90 ms).\n");
  expect_says(verdict("trade", "better", "worse"), "A trade: the treatment is better in TTFT p95");
  expect_says(verdict("no_difference_shown", "no_difference_shown", "identical"),
              "No difference shown in TTFT p95.");
  expect_says(verdict("identical", "identical", "identical"),
              "Identical in TTFT p95 and E2E p95 on every repetition.");
  expect_says(verdict("too_few_pairs", "too_few_pairs", "too_few_pairs"), "too few repetitions");
}

// F14: tails of different survivors.
TEST(AbText, F14_SaysWhoseLatenciesAreCompared) {
  Json refused = row("refused", "worse", false);
  refused["unit"] = "requests";
  const std::string text = text_of(result_of(
      "trade", {row("TTFT p95", "better", true), row("goodput", "worse", true), refused}));
  EXPECT_NE(text.find("the treatment refused more"), std::string::npos) << text;
  EXPECT_EQ(text_of(result_of("better", {row("TTFT p95", "better", true)})).find("refused"),
            std::string::npos);
}

TEST(AbText, TablesShowFiguresAndIntervals) {
  const std::string text =
      text_of(result_of("better", {row("TTFT p95", "better", true), row("KV", "lower", false)}));
  expect_says(text, "Changed    deployment.replicas: 1 -> 2\n");
  expect_says(text,
              "* TTFT p95, ms       100         90  -10.0 %  8 of 10, 1 tied  treatment better");
  expect_says(text, "* TTFT p95, ms         -10      -9       -12 to -8      -13 to -7\n");
  // -13 % to -7 % around -10 % on an axis to 20 %: 15 columns each way.
  expect_says(text, "-20 % to +20 % of the baseline");
  expect_says(text, "     --o---    |");
  expect_says(text, "2 metrics are judged, each at");
  expect_says(text, "about 5 %");  // of one headline metric at 95 %
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(display_width(text.substr(at, end - at)), 100u);
    at = end + 1;
  }
}

TEST(AbText, TheTwoRelativeChangesHaveNamesOfTheirOwn) {
  const std::string text = text_of(result_of("better", {row("TTFT p95", "better", true)}));
  // The mean changes from 100 to 90, a pair by 9.8 % on average.
  expect_says(text, "* TTFT p95, ms       100         90  -10.0 %");
  expect_says(text, "change  per pair\n");
  expect_says(text, "-10.0 %    -9.8 %\n");
}

TEST(AbText, LongWaitsAreInSeconds) {
  Json one = row("TTFT p95", "better", true);
  one["baseline_mean"] = 5403358;
  one["delta_mean"] = -5403268;
  one["percentile_low"] = -5500000;
  const std::string text = text_of(result_of("better", {one}));
  expect_says(text, "TTFT p95 (5403 s -> 90 ms)");
  expect_says(text, "* TTFT p95, ms    5403 s         90");
  expect_says(text, "* TTFT p95, ms        -5403 s      -9   -5500 s to -8");
  one["treatment_mean"] = 266671;
  expect_says(text_of(result_of("better", {one})), "TTFT p95 (5403 -> 266.7 s)");
}

TEST(AbText, SaysWhatIsMissing) {
  std::vector<Json> rows = {row("prefix hit rate", "not_comparable", false)};
  rows[0]["pairs"] = 0;
  rows[0]["baseline_missing"] = 10;
  for (const char* key : {"baseline_mean", "delta_mean", "delta_median", "delta_mean_relative",
                          "relative_change_mean", "interval_low", "interval_high"}) {
    rows[0][key] = nullptr;
  }
  Json result = result_of("not_comparable", rows);
  result["failures"] = Json::parse(
      R"([{"alternative":"treatment","run":"seed=43","reason":"does not fit the memory"}])");
  result["notes"] = {"The SLOs differ."};
  const std::string text = text_of(result);
  expect_says(text, "not comparable");
  expect_says(text, "prefix hit rate: 0 pairs compared; the baseline lacks the figure in 10 runs");
  expect_says(text, "1 run could not be simulated");
  expect_says(text, "  treatment, seed=43: does not fit the memory\n");
  expect_says(text, "\nNote: The SLOs differ.\n");
}

TEST(AbText, OneWorkloadIsNoEvidenceOfOthers) {
  Json ttft = row("TTFT p95", "differs", true);
  for (const char* key :
       {"wins", "ties", "losses", "win_rate", "percentile_low", "percentile_high", "interval_low",
        "interval_high", "interval_low_relative", "interval_high_relative"}) {
    ttft[key] = nullptr;
  }
  Json goodput = ttft;
  goodput["label"] = "goodput";
  goodput["better"] = "higher";
  Json result = result_of("differs", {goodput, ttft});
  result["ended"] = "alike";
  result["max_repeats"] = 80;
  result["judged"] = 0;
  const std::string text = text_of(result);
  expect_says(text,
              "Verdict    They differ on this one workload: the treatment is better in TTFT p95 "
              "(100 -> 90 ms) and\n           worse in goodput (100 -> 90 ms). All repetitions are "
              "the same run again,");
  expect_says(text, "-10.0 %    -  differs here\n");
  expect_says(text, "no more of the 80 allowed\n");
  for (const char* not_said : {"decided", "10 of 10", "by chance", "chance alone"}) {
    EXPECT_EQ(text.find(not_said), std::string::npos) << not_said << "\n" << text;
  }
}

TEST(AbText, IdenticalIsSaidOfThePairsThatThereAre) {
  Json ttft = row("TTFT p95", "identical", true);
  ttft["pairs"] = 9;
  ttft["baseline_missing"] = 1;
  expect_says(
      text_of(result_of("identical", {row("goodput", "identical", true), ttft})),
      "Identical in goodput on every repetition and in TTFT p95 on the 9 pairs that have it.");
}

TEST(AbText, SaysHowABudgetWasSpent) {
  Json result = result_of("better", {row("TTFT p95", "better", true)});
  result["max_repeats"] = 80;
  result["ended"] = "decided";
  expect_says(text_of(result), "; ended before 80, since the\n");
  result["ended"] = "budget";
  result["looks"] = Json::parse(
      R"([{"repeats":10,"undecided":["E2E p95"]},{"repeats":80,"undecided":["TTFT p95"]}])");
  const std::string text = text_of(result);
  expect_says(text, "; all that max_repeats allows,");
  expect_says(text, "undecided: TTFT p95.\n");
  result["looks"] = Json::parse(R"([{"repeats":80,"undecided":[]}])");
  expect_says(text_of(result), "; all that max_repeats allows,\n");
  expect_says(text_of(result),
              "and the headline metrics are decided or known to within 1 % of the baseline.\n");
}

TEST(AbText, ADamagedResultIsAnErrorThatNamesThePlace) {
  Json result = result_of("better", {row("TTFT p95", "better", true)});
  result["metrics"][0].erase("wins");
  const Result<std::string> text = ab_text(result.dump(), PlotGlyphs::kAscii);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().to_string(), "result.json: key 'metrics[0]': key 'wins': missing");
  EXPECT_FALSE(ab_text(R"({"kind":"capacity"})", PlotGlyphs::kAscii));
}

}  // namespace
}  // namespace inferscale

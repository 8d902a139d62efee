// The text of a sensitivity study: what changes and where, in words, and the tables below.

#include "report/studies/comparison/sensitivity_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace inferscale {
namespace {

using Json = nlohmann::ordered_json;

Json result_of(const std::string& verdict) {
  Json json = Json::parse(R"({"kind":"sensitivity","simulated":true,
    "baseline":{"file":"a.yaml","name":"one","fingerprint":"01"},
    "treatment":{"file":"b.yaml","name":"two","fingerprint":"02"},
    "changes":[],"band":0.2,"draws":100,"repeats":3,"seed":42,
    "scales":[{"scale":"prefill","acts":true,"low":0.8333,"high":1.2},
              {"scale":"decode","acts":true,"low":0.8333,"high":1.2},
              {"scale":"transfer","acts":false,"low":1,"high":1}],
    "metrics":[{"metric":"ttft_ms_p95","label":"TTFT p95","unit":"ms","better":"lower",
      "unscaled_baseline":100,"unscaled_treatment":90,"unscaled_winner":"treatment","wins":97,
      "losses":2,"ties":1,"unknown":0,"as_unscaled":97,"delta_least":-20,"delta_median":-10,
      "delta_most":3,"relative_change_mean":-0.1,"separations":[
        {"scale":"prefill","lost_is_larger":0.5},{"scale":"decode","lost_is_larger":0.99},
        {"scale":"prefill/decode","lost_is_larger":0.2}]}],
    "slo":{"attainment":0.99,"unscaled_baseline":false,"unscaled_treatment":true,"baseline":3,
           "treatment":88,"both":3,"neither":12,"unknown":0,"baseline_misses":97,
           "treatment_misses":12,"baseline_changes":true,"treatment_changes":true},
    "flips":[{"metric":"ttft_ms_p95","scale":"decode","from":"treatment","to":"baseline",
              "holds_at":1.138,"flips_at":1.142}],
    "scan":[{"scale":"decode","value":0.9,"ttft_ms_p95_winner":"treatment"},
            {"scale":"decode","value":1,"ttft_ms_p95_winner":"treatment"},
            {"scale":"decode","value":1.2,"ttft_ms_p95_winner":"baseline"}],
    "failures":[],"notes":[]})");
  json["verdict"] = verdict;
  return json;
}

// On one line, with one space between words.
std::string text_of(const Json& result) {
  const Result<std::string> text = sensitivity_text(result.dump(), PlotGlyphs::kAscii);
  EXPECT_TRUE(text) << (text ? "" : text.error().to_string());
  std::string words;
  for (const char c : text.value_or("")) {
    const bool space = c == ' ' || c == '\n';
    if (!space) words += c;
    if (space && !words.ends_with(' ')) words += ' ';
  }
  return words;
}

void expect_says(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected: " << part << "\n" << text;
}

TEST(SensitivityText, SaysWhatChangesAndWhere) {
  const std::string text = text_of(result_of("flips"));
  expect_says(text, "Verdict The comparison depends on the latency model");
  expect_says(
      text,
      "TTFT p95: the treatment wins in 97 of 100 draws and ties in 1, and with the model as "
      "it is; it loses where decode takes more than 1.14 x as modelled.");
  expect_says(text, "100 draws of prefill and decode times from 0.833 x to 1.2 x");
  expect_says(text, "so that scale has no effect");
  expect_says(text, "the baseline meets it in 3 of 100 draws, the treatment in 88");
  expect_says(text, "the treatment does, the baseline does not");
  expect_says(text, "T(T)B 1.2 x");
  expect_says(text, "the lost one has the larger decode scale in 99.0 % of all pairs");
}

TEST(SensitivityText, AConclusionThatHolds) {
  Json result = result_of("holds");
  result["flips"] = Json::array();
  result["metrics"][0]["wins"] = 100;
  result["metrics"][0]["losses"] = 0;
  result["metrics"][0]["ties"] = 0;
  result["metrics"][0]["separations"] = Json::array();
  result["slo"]["baseline_misses"] = 18;
  result["slo"]["treatment_misses"] = 0;
  result["slo"]["treatment_changes"] = false;
  expect_says(text_of(result),
              "Who is ahead stays ahead in every draw and scan of the band; but whether the SLO is "
              "met changes inside it. The baseline misses the SLO in 18 of 100 draws, the "
              "treatment in none. TTFT p95: the treatment wins");
  result["slo"]["baseline_misses"] = 0;
  expect_says(text_of(result),
              "No draw makes either side miss the SLO. Of the baseline that "
              "changes where the model is scaled otherwise.");
  result["slo"]["baseline_changes"] = false;
  const std::string text = text_of(result);
  expect_says(text, "The comparison holds: who is ahead stays ahead");
  expect_says(text, "nothing inside the band changes that.");
  EXPECT_EQ(text.find("What tells the draws apart"), std::string::npos);
}

TEST(SensitivityText, ATieIsNotCalledALead) {
  Json result = result_of("tied");
  result["flips"] = Json::array();
  result["slo"]["baseline_changes"] = result["slo"]["treatment_changes"] = false;
  Json& metric = result["metrics"][0];
  metric["wins"] = 0;
  metric["losses"] = 0;
  metric["ties"] = 98;
  metric["unscaled_winner"] = "tie";
  metric["separations"] = Json::array();
  metric["unknown"] = 2;
  const std::string text = text_of(result);
  expect_says(text,
              "A tie: neither side is ahead of the other, in every draw and scan of the band "
              "that could be compared.");
  expect_says(text,
              "TTFT p95: the treatment ties in 98 of 98 draws, and with the model as it is; "
              "nothing inside the band changes that.");
  EXPECT_EQ(text.find("stays ahead"), std::string::npos);
}

TEST(SensitivityText, AFigureThatNobodyHasIsNotLost) {
  Json result = result_of("unknown");
  result["flips"] = Json::array();
  Json& metric = result["metrics"][0];
  for (const char* count : {"wins", "losses", "ties", "as_unscaled"}) metric[count] = 0;
  for (const char* figure : {"unscaled_baseline", "unscaled_treatment", "delta_least"}) {
    metric[figure] = nullptr;
  }
  metric["unknown"] = 100;
  metric["unscaled_winner"] = "unknown";
  for (const char* side : {"baseline", "treatment", "both", "neither"}) result["slo"][side] = 0;
  result["slo"]["unknown"] = 100;
  const std::string text = text_of(result);
  expect_says(text, "No verdict on all of it: TTFT p95 could be compared in no draw.");
  expect_says(text, "TTFT p95: there is no such figure of both sides in any draw.");
  expect_says(text, "SLO: no draw has goodputs of both sides");
  EXPECT_EQ(text.find("in 0 of"), std::string::npos) << text;
}

TEST(SensitivityText, AFlipThatIsNotTheLastIsNotSaidToHoldBeyond) {
  Json result = result_of("flips");
  result["scan"].push_back(
      {{"scale", "decode"}, {"value", 1.3}, {"ttft_ms_p95_winner", "treatment"}});
  expect_says(text_of(result),
              "it loses from where decode takes 1.14 x as modelled (above that it changes again).");
}

TEST(SensitivityText, DrawsThatOnlySeveralScalesTogetherChange) {
  Json result = result_of("flips");
  result["flips"] = Json::array();
  expect_says(text_of(result), "no scale by itself changes that inside the band");
}

TEST(SensitivityText, ADamagedResultIsAnErrorThatNamesThePlace) {
  Json result = result_of("flips");
  result["flips"][0]["holds_at"] = "far";
  const Result<std::string> text = sensitivity_text(result.dump(), PlotGlyphs::kAscii);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().to_string(),
            "result.json: key 'flips[0]': key 'holds_at': expected a number, got \"far\"");
}

}  // namespace
}  // namespace inferscale

#include "report/studies/validation/validate_text.h"

#include <gtest/gtest.h>

#include <string>

namespace inferscale {
namespace {

std::string error_row(const std::string& by, const std::string& regime, const std::string& metric,
                      int n, int within) {
  return R"({"by":")" + by + R"(","hardware":)" +
         (by.starts_with("hardware") ? R"("h100-sxm")" : "null") + R"(,"model":)" +
         (by.ends_with("model") ? R"("llama-3.1-8b")" : "null") + R"(,"regime":")" + regime +
         R"(","metric":")" + metric + R"(","n":)" + std::to_string(n) +
         R"(,"mape":0.125,"median_ape":0.1,"max_ape":12.5,"bias":-0.0909,"within_25_percent":)" +
         std::to_string(within) + "}";
}

std::string result(const std::string& errors, const std::string& more_cases = "",
                   int compared = 20) {
  return R"({"kind":"validate","simulated":true,"options":{"prompt_cv":1,"output_cv":0.8,)"
         R"("knee_from":0.7,"overload_from":1,"served_below":0.9},"cases_read":21,)"
         R"("cases_compared":)" +
         std::to_string(compared) +
         R"(,"cases_not_simulated":1,"regimes":[{"regime":"light","cases":20,)"
         R"("hardware":[{"name":"h100-sxm","cases":20}],"models":[{"name":"llama-3.1-8b",)"
         R"("cases":20}],"lengths":[{"known":"assumed","cases":20}],)"
         R"("basis":[{"by":"predicted","cases":20}]}],"errors":[)" +
         errors +
         R"(],"worst":[{"id":"a","regime":"light","metric":"e2e_ms_mean","measured":200,)"
         R"("predicted":100,"relative_error":-0.5}],"not_simulated_reasons":[{"reason":)"
         R"("closed loop","cases":1,"details":[{"detail":"closed-capped","cases":1}]}],)"
         R"("unscored_reasons":[{"reason":"not among","figures":2,)"
         R"("details":[{"detail":"itl_ms.p90","cases":2}]}],)"
         R"("assumptions":[{"assumption":"cached","cases":2}],"cases":[)"
         R"({"id":"a","regime":"light","refused":0,"figures":[)"
         R"({"metric":"e2e_ms_mean","measured":200,)"
         R"("predicted":100,"residual":-100,"relative_error":-0.5}]})" +
         more_cases + R"(],"not_simulated":[]})";
}

std::string text_of(const std::string& json) {
  const auto text = validate_text(json, PlotGlyphs::kAscii);
  return text ? *text : text.error().to_string();
}

TEST(ValidateText, FirstSaysWhichPredictionsCanBeUsed) {
  const std::string text =
      text_of(result(error_row("regime", "light", "e2e_ms_mean", 20, 18) + "," +
                     error_row("regime", "light", "ttft_ms_mean", 20, 9) + "," +
                     error_row("regime", "light", "ttft_ms_p99", 20, 10) + "," +
                     error_row("regime", "light", "goodput", 4, 4)));
  EXPECT_TRUE(text.starts_with("Predictions are simulated")) << text;
  EXPECT_NE(text.find("Light load (20 cases): within 25 % of the measured figure in at least nine "
                      "of ten cases: e2e_ms_mean; in at least half: ttft_ms_p99; in fewer than "
                      "half: ttft_ms_mean; with fewer than 5 cases, too few to say: goodput."),
            std::string::npos)
      << text;
}

TEST(ValidateText, TableHasEveryColumn) {
  const std::string text = text_of(result(error_row("regime", "light", "e2e_ms_mean", 20, 18)));
  EXPECT_NE(text.find("light  e2e_ms_mean  20  12.5 %      10.0 %   1250 %  -9.1 %     18 of 20"),
            std::string::npos)
      << text;
}

TEST(ValidateText, HardwareAndModelsHaveRowsOfTheirOwn) {
  const std::string text =
      text_of(result(error_row("regime", "light", "e2e_ms_p99", 20, 18) + "," +
                     error_row("regime", "light", "e2e_ms_mean", 19, 18) + "," +
                     error_row("regime", "light", "itl_ms_mean", 3, 1) + "," +
                     error_row("hardware", "light", "e2e_ms_mean", 19, 18) + "," +
                     error_row("hardware", "light", "e2e_ms_p99", 20, 18) + "," +
                     error_row("hardware_and_model", "light", "itl_ms_mean", 3, 1)));
  // The statistic that most cases have.
  EXPECT_NE(text.find("h100-sxm  light            -               -  p99 10.0 % (20)           -"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("h100-sxm  llama-3.1-8b  light            -  ITL mean 10.0 % (3)"),
            std::string::npos)
      << text;
}

TEST(ValidateText, WhatWasLeftOutIsCounted) {
  const std::string text = text_of(result(error_row("regime", "light", "e2e_ms_mean", 20, 18)));
  EXPECT_NE(text.find("Not simulated: 1 of 21 cases"), std::string::npos) << text;
  EXPECT_NE(text.find("1  closed loop  closed-capped 1"), std::string::npos) << text;
  EXPECT_NE(text.find("2  not among  itl_ms.p90 2"), std::string::npos) << text;
  EXPECT_NE(text.find("For 20 cases only mean lengths are known"), std::string::npos) << text;
  EXPECT_EQ(text.find("Over repetitions"), std::string::npos) << text;
}

TEST(ValidateText, TellsTheSpreadOfRepetitionsAndRefusedRequests) {
  const std::string text = text_of(result(
      error_row("regime", "light", "e2e_ms_mean", 20, 18),
      R"(,{"id":"b","regime":"light","refused":3,"figures":[{"metric":"e2e_ms_mean","measured":1,)"
      R"("predicted":10,"predicted_sd":0.5,"residual":9,"relative_error":9}]})"));
  EXPECT_NE(text.find("a prediction's own standard deviation is at most 5.0 % of it"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("In 1 case"), std::string::npos) << text;
}

TEST(ValidateText, OfOneCaseEveryFigureAndNoStatistics) {
  const std::string more =
      R"(,{"id":"b","regime":"light","refused":0,"figures":[{"metric":"ttft_ms_p99","measured":0,)"
      R"("predicted":3,"residual":3,"relative_error":null},{"metric":"itl_ms_p50","measured":7,)"
      R"("predicted":null,"residual":null,"relative_error":null}]})";
  const std::string text = text_of(result(error_row("regime", "light", "e2e_ms_mean", 1, 0) + "," +
                                              error_row("hardware", "light", "e2e_ms_mean", 1, 0),
                                          more, 1));
  EXPECT_NE(text.find("  case  load   metric       measured  predicted    error\n"
                      "  a     light  e2e_ms_mean       200        100  -50.0 %\n"
                      "  b     light  ttft_ms_p99         0       3.00        -\n"
                      "               itl_ms_p50       7.00          -        -\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Too few to say what to expect of the next one"), std::string::npos) << text;
  for (const char* part : {"MAPE", "Median APE", "Farthest", "from a quarter"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part << "\n" << text;
  }
  // Of many cases there is no room for it.
  EXPECT_EQ(text_of(result(error_row("regime", "light", "e2e_ms_mean", 20, 18)))
                .find("Measured and predicted"),
            std::string::npos);
}

TEST(ValidateText, SaysHowToStateALoadThatIsUndetermined) {
  std::string json = result(error_row("regime", "undetermined", "e2e_ms_mean", 20, 18));
  EXPECT_EQ(text_of(json).find("`regime: light`"), std::string::npos);
  const std::string light = R"("regimes":[{"regime":"light")";
  json.replace(json.find(light), light.size(), R"("regimes":[{"regime":"undetermined")");
  EXPECT_NE(text_of(json).find("undetermined in 20 cases"), std::string::npos) << text_of(json);
  EXPECT_NE(text_of(json).find("`regime: light`"), std::string::npos);
}

TEST(ValidateText, AsksWhetherAFigureIsInSeconds) {
  const auto with = [](const std::string& figure) {
    return text_of(
        result(error_row("regime", "light", "e2e_ms_mean", 20, 18),
               R"(,{"id":"b","regime":"light","refused":0,"figures":[)" + figure + "]}"));
  };
  EXPECT_NE(with(R"({"metric":"ttft_ms_mean","measured":0.1,"predicted":141.9,)"
                 R"("relative_error":1418})")
                .find("Check the unit: case 'b' has ttft_ms_mean 0.1, the prediction is 142, 1419 "
                      "times as much. Milliseconds are expected: is it in seconds?"),
            std::string::npos);
  EXPECT_NE(with(R"({"metric":"ttft_ms_mean","measured":50000,"predicted":50,)"
                 R"("relative_error":-0.999})")
                .find("1000 times as little. Milliseconds are expected: is it in microseconds?"),
            std::string::npos);
  for (const char* other :
       {R"({"metric":"ttft_ms_mean","measured":1,"predicted":200,"relative_error":199})",
        R"({"metric":"finished_rps","measured":1,"predicted":1000,"relative_error":999})"}) {
    EXPECT_EQ(with(other).find("Check the unit"), std::string::npos) << other;
  }
}

TEST(ValidateText, SaysWhatIsWrongWithTheFile) {
  EXPECT_EQ(text_of(R"({"kind":"ab"})"), "result.json: kind 'ab': expected 'validate'");
  EXPECT_EQ(text_of(result(R"({"by":3})")), "result.json: key 'errors[].by': expected text, got 3");
}

}  // namespace
}  // namespace inferscale

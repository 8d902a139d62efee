// The text of a design study against what its result says.

#include "report/studies/explore/explore_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/check.h"
#include "report/studies/explore/explore_rows.h"

namespace inferscale {
namespace {

Json spread(double mean, double min) {
  return {{"mean", mean}, {"sd", 0.1}, {"min", min}, {"max", mean}};
}

struct Made {
  std::string name;
  double rps;
  double attained;
  double ttft;
  double accelerators;
  bool performance = false;
  bool efficiency = false;
  int saturated = 0;
};

Json candidate_of(int index, const Made& made, const Json& settings) {
  return {{"index", index},
          {"name", made.name},
          {"named", true},
          {"settings", settings},
          {"failure", nullptr},
          {"on_performance_frontier", made.performance},
          {"on_efficiency_frontier", made.efficiency},
          {"on_cost_frontier", false},
          {"saturated_runs", made.saturated},
          {"undecided_runs", 0},
          {"figures",
           {{"goodput_rps", spread(made.rps, made.rps)},
            {"goodput", spread(made.attained, made.attained - 0.01)},
            {"ttft_ms_p95", spread(made.ttft, made.ttft)},
            {"itl_ms_p95", nullptr},
            {"accelerators_mean", spread(made.accelerators, made.accelerators)},
            {"goodput_rps_per_accelerator", spread(made.rps / made.accelerators, 1)}}}};
}

Json two_candidates() {
  const Json both = {{"deployment.hardware", "l40s"}, {"deployment.replicas", 2}};
  const Json split = {{"deployment.disaggregation", {{"decode", {{"replicas", 2}}}}}};
  return {{"kind", "explore"},
          {"simulated", true},
          {"name", "chat"},
          {"attainment", 0.99},
          {"repeats", 3},
          {"seed", 42},
          {"most_goodput", 1},
          {"least_ttft", 0},
          {"cheapest", nullptr},
          {"cheapest_by", "accelerators_mean"},
          {"keys", {"deployment.hardware", "deployment.replicas"}},
          {"short_keys", {"hardware", "replicas"}},
          {"as_configured", {{"deployment.hardware", "h100-sxm"}, {"deployment.replicas", 1}}},
          {"unlike", Json::array()},
          {"notes", {"What a reader must know."}},
          {"candidates",
           {candidate_of(0, {"two small", 7.5, 0.75, 120, 2, true, true}, both),
            candidate_of(1, {"it's split", 9, 0.9, 300, 3, true, false, 2}, split),
            candidate_of(2, {"slow", 1.5, 0.15, 9000, 3}, Json::object()),
            {{"index", 3},
             {"name", "too big"},
             {"named", true},
             {"settings", {{"deployment.model", "huge"}}},
             {"failure", "huge does not fit"}}}}};
}

std::string text_of(const Json& result) {
  const Result<std::string> text = explore_text(result.dump(), PlotGlyphs::kAscii);
  CHECK(text.has_value()) << text.error().to_string();
  return *text;
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(ExploreText, SaysWhatToTakeAndHow) {
  expect_parts(
      text_of(two_candidates()),
      {"chat: 3 of 4 candidates simulated\n",
       "Most goodput      it's split: 9.00 requests/s within the SLO (90.0 % of arrivals), TTFT "
       "p95 "
       "300 ms,\n                  3 accelerators, saturated.\n"
       "                  --set 'deployment.disaggregation={\"decode\":{\"replicas\":2}}'\n",
       "Least TTFT p95    two small: 7.50 requests/s within the SLO",
       "                  --set deployment.hardware=l40s --set deployment.replicas=2\n",
       "Cheapest          none: no candidate keeps 99 % of arrivals within the SLO in every "
       "repetition.\n",
       "1 of 4 candidates could not be simulated:\n  too big: huge does not fit\n",
       "All figures are simulated: means of 3 repetitions (seeds 42 to 44), with the same requests "
       "for every\ncandidate.",
       "Note: What a reader must know.\n"});
}

TEST(ExploreText, LoadsThatDifferAreNotCalledTheSameRequests) {
  Json result = two_candidates();
  EXPECT_EQ(text_of(result).find("But "), std::string::npos);
  result["unlike"] = {"workload", "slo"};
  const std::string text = text_of(result);
  expect_parts(text,
               {"But               candidates have other loads: none of these is a choice between",
                "But               candidates are judged by other targets (see the note below).\n",
                "with the same seeds, and not the\nsame requests, for every candidate.\n"});
  EXPECT_EQ(text.find("with the same requests"), std::string::npos) << text;
}

TEST(ExploreText, LongWaitsAreInSeconds) {
  Json result = two_candidates();
  result["candidates"][2]["figures"]["ttft_ms_p95"]["mean"] = 5403358;
  result["candidates"][1]["figures"]["ttft_ms_p95"]["mean"] = 99999;
  expect_parts(text_of(result), {" 5403 s ", " 99999 "});
  result["candidates"][1]["figures"]["ttft_ms_p95"]["mean"] = 266671;
  expect_parts(text_of(result),
               {"TTFT p95 267 s, 3\n                  accelerators, saturated.\n"});
}

TEST(ExploreText, TheTableIsSortedByGoodputWithMarks) {
  expect_parts(
      text_of(two_candidates()),
      {"  #  on  candidate   goodput/s  met SLO   worst  TTFT p95 ms  accel.  per accel.\n"
       "  1  P   it's split       9.00   90.0 %  89.0 %          300       3        3.00  "
       "saturated\n"
       "  2  PE  two small        7.50   75.0 %  74.0 %          120       2        3.75\n"
       "  3      slow             1.50   15.0 %  14.0 %         9000       3         0.5\n",
       "* on both", "o performance frontier", ": beaten by another"});
}

TEST(ExploreText, WithoutNamesTheKeysAreTheColumns) {
  Json result = two_candidates();
  for (Json& candidate : result["candidates"]) candidate["named"] = false;
  expect_parts(text_of(result),
               {"  #  on  hardware  replicas  goodput/s", "  1  P   h100-sxm  1              9.00",
                "  2  PE  l40s      2              7.50"});
}

TEST(ExploreText, NearTiesAreNamedByWhatTheyTake) {
  Json result = two_candidates();
  result["candidates"][0]["figures"]["goodput_rps"]["mean"] = 8.95;
  expect_parts(text_of(result), {"1 other candidate is within 1 % of it, with the "
                                 "fewest\n                  accelerators (2) two small.\n"});
}

TEST(ExploreText, TheCheapestIsByWhatTheResultSays) {
  Json result = two_candidates();
  result["cheapest"] = 0;
  expect_parts(text_of(result), {"in every repetition, the fewest\n                  accelerators: "
                                 "the one with the least TTFT p95.\n"});
  result["cheapest"] = 2;
  result["cheapest_by"] = "cost_per_hour";
  expect_parts(text_of(result), {"in every repetition, the least\n                  cost: "
                                 "slow: 1.50 requests/s",
                                 "                  (the configuration as it is)\n"});
}

TEST(ExploreText, RefusalsAreShownWhereThereAreAny) {
  Json result = two_candidates();
  EXPECT_EQ(text_of(result).find("refused"), std::string::npos);
  for (Json& candidate : result["candidates"]) {
    if (candidate.contains("figures")) candidate["figures"]["refused"] = spread(0, 0);
  }
  EXPECT_EQ(text_of(result).find("refused"), std::string::npos);
  result["candidates"][0]["figures"]["refused"] = spread(123, 120);
  expect_parts(text_of(result), {"It refuses 123 requests a run on average: its latencies",
                                 "  refused", "are of those that were taken."});
}

TEST(ExploreText, PricesThatAreMissingAreSaid) {
  Json result = two_candidates();
  result["cheapest"] = 0;
  result["candidates"][0]["figures"]["goodput"]["min"] = 1;
  EXPECT_EQ(text_of(result).find("have a price"), std::string::npos);
  result["candidates"][0]["figures"]["cost_per_hour"] = spread(2, 2);
  expect_parts(text_of(result), {"(not all have a price, see the"});
}

TEST(ExploreText, NothingSimulatedIsSaid) {
  Json result = two_candidates();
  result["candidates"].erase(0);
  result["candidates"].erase(0);
  result["candidates"].erase(0);
  result["most_goodput"] = nullptr;
  result["least_ttft"] = nullptr;
  const std::string text = text_of(result);
  expect_parts(text, {"0 of 1 candidate simulated", "No candidate could be simulated"});
  EXPECT_EQ(text.find("goodput/s"), std::string::npos);
}

TEST(ExploreText, ManyRowsAreCut) {
  Json result = two_candidates();
  const Json slow = result["candidates"][2];
  for (int i = 4; i < 500; ++i) {
    result["candidates"].push_back(slow);
    result["candidates"].back()["index"] = i;
    result["candidates"].back()["on_efficiency_frontier"] = i >= 100;
  }
  const std::string text = text_of(result);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 170);
  expect_parts(text, {"  and 399 more (result.json has all)\n"});
}

TEST(ExploreText, DamagedResultsAreErrors) {
  for (const char* key :
       {"name", "attainment", "repeats", "seed", "most_goodput", "cheapest", "cheapest_by", "keys",
        "short_keys", "as_configured", "unlike", "notes", "candidates"}) {
    Json result = two_candidates();
    result.erase(key);
    EXPECT_FALSE(explore_text(result.dump(), PlotGlyphs::kAscii)) << key;
    result[key] = Json::array({Json::array()});
    EXPECT_FALSE(explore_text(result.dump(), PlotGlyphs::kAscii)) << key;
  }
  Json result = two_candidates();
  result["candidates"][0]["figures"]["goodput"] = 3;
  EXPECT_FALSE(explore_text(result.dump(), PlotGlyphs::kAscii));
  result = two_candidates();
  result["short_keys"].erase(0);
  EXPECT_FALSE(explore_text(result.dump(), PlotGlyphs::kAscii));
}

TEST(SettingValue, KeepsTextTextForYaml) {
  EXPECT_EQ(setting_value("h100-sxm"), "h100-sxm");
  EXPECT_EQ(setting_value("true"), "\"true\"");
  EXPECT_EQ(setting_value("No"), "\"No\"");
  EXPECT_EQ(setting_value("1e5"), "\"1e5\"");
  EXPECT_EQ(setting_value("a: b"), "\"a: b\"");
  EXPECT_EQ(setting_value(true), "true");
  EXPECT_EQ(setting_value(nullptr), "null");
  EXPECT_EQ(setting_value(0.5), "0.5");
}

}  // namespace
}  // namespace inferscale

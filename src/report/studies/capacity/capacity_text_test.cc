// What people read of a search for the capacity: each kind of answer, from a result.json by hand.

#include "report/studies/capacity/capacity_text.h"

#include <gtest/gtest.h>

#include "report/json_fields.h"

namespace inferscale {
namespace {

Json probe(double load, double worst, const std::string& missed = "") {
  Json json = Json::parse(R"({"stage":"bracket","settings":[],"attainment_mean":0.995,
      "attainment_best":1,"attainment_deviation":0.0123,"repetitions":5,"missed_attainment":0,
      "not_drained":0,"unfinished":0,"not_judged":0,"not_simulated":0,"saturated":0,"drain_s":4,
      "drain_bound_s":62,"ttft_ms_p95":45.5,"ttft_met":1,"itl_met":1,"e2e_met":null,"arrived":1000,
      "refused":0,"arrival_window_s":500,"service_s_max":5,"failures":[]})");
  json["load"] = load;
  json["attainment_worst"] = worst;
  json["carried"] = missed.empty();
  if (!missed.empty()) json[missed] = 3;
  return json;
}

Json found() {
  Json json = Json::parse(R"({"kind":"capacity","simulated":true,"scenario":"chat.yaml",
      "search":"rate","load_unit":"requests/s","fixed_load":null,"fixed_load_unit":null,
      "keeps":"requests","workload_changes":[],
      "slo":{"ttft_ms":500.0,"itl_ms":50.0,"e2e_ms":null},"attainment_target":0.99,"tolerance":0.02,
      "headroom":0.2,"repetitions":5,"verdict":"found","within_tolerance":true,"carried":20,
      "not_carried":20.4,"recommended":16,"best_tried":null,"not_judged":null,
      "at_carried":{"offered_rps":20.1,"goodput_rps":19.9,"output_tokens_per_s":4321,
        "accelerators_mean":2,"offered_rps_per_accelerator":10.05,
        "output_tokens_per_s_per_accelerator":2160.5},
      "at_recommended":null,"easier_failed":[],"repetitions_alike":false})");
  json["probes"] = {probe(16, 0.9995), probe(20, 0.9912), probe(20.4, 0.9871, "missed_attainment")};
  return json;
}

std::string text_of(const Json& result) {
  const Result<std::string> text = capacity_text(result.dump(), PlotGlyphs::kUnicode);
  return text ? *text : text.error().to_string();
}

void expect_parts(const Json& result, const std::vector<std::string>& parts) {
  const std::string text = text_of(result);
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(CapacityText, SaysFirstWhatIsCarriedWhatIsNotAndWhatIsRecommended) {
  EXPECT_TRUE(text_of(found()).starts_with(
      "Capacity of chat.yaml (simulated)\n\n"
      "Carries 20 requests/s: in each of 5 repetitions at least 99 % of all arrivals met TTFT 500 "
      "ms and ITL 50 ms, and the queue drained.\n"
      "Not 20.4 requests/s: only 98.71 % met all targets in the worst repetition.\n"
      "Recommended: 16 requests/s, with 20 % headroom.\n"))
      << text_of(found());
}

TEST(CapacityText, ShowsEveryLoadAndWhatTheAnswerAmountsTo) {
  const std::string text = text_of(found());
  EXPECT_NE(
      text.find("        20.4  no       99.50 %   98.7 %  100.0 %     1.23 %          45.5      "
                "4.00      62.0  attainment 3\n"),
      std::string::npos)
      << text;
  expect_parts(found(), {"  output tokens/s                      4321\n",
                         "    per accelerator                    2160\n", "attainment, %",
                         "○ recommended", "◆ capacity", "× worst, not carried"});
  EXPECT_EQ(text.find("Not monotone"), std::string::npos);
  EXPECT_EQ(text.find("Saturated"), std::string::npos);
  EXPECT_EQ(text.find("Short run"), std::string::npos);
  EXPECT_EQ(text.find("Derived workload"), std::string::npos);
}

TEST(CapacityText, NamesTheTargetThatFailsWhenNothingIsCarried) {
  Json none = found();
  none["verdict"] = "never_passed";
  none["carried"] = none["recommended"] = none["at_carried"] = nullptr;
  none["not_carried"] = 0.01;
  Json lowest = probe(0.01, 0, "missed_attainment");
  lowest["itl_met"] = 0.125;
  none["probes"] = {lowest};
  expect_parts(none, {"Carries no load that was tried, down to 0.01 requests/s.\n"
                      "There only 12.50 % met the ITL target of 50 ms.\n"});
  lowest["refused"] = 1000;
  none["probes"] = {lowest};
  expect_parts(none, {"There every request was refused.\n"});
  lowest["not_simulated"] = 5;
  lowest["failures"] = {"chat.yaml: no room"};
  none["probes"] = {lowest};
  expect_parts(none, {"There 5 of 5 runs could not be simulated: chat.yaml: no room.\n",
                      "Not simulated at 0.01 requests/s (5 of 5 runs): chat.yaml: no room\n"});
}

TEST(CapacityText, DoesNotCallTheHighestLoadThatWasTriedTheCapacity) {
  Json all = found();
  all["verdict"] = "never_failed";
  all["not_carried"] = all["recommended"] = nullptr;
  all["probes"] = {probe(16, 0.9995), probe(20, 0.9912)};
  expect_parts(all, {"Carries every load that was tried, up to 20 requests/s",
                     "The capacity is higher than that"});
  EXPECT_EQ(text_of(all).find("◆"), std::string::npos);
}

TEST(CapacityText, DoesNotSayThatALoadIsCarriedWhoseQueueGrewInAShortRun) {
  Json all = found();
  all["verdict"] = "never_failed";
  all["not_carried"] = all["recommended"] = nullptr;
  all["probes"] = {probe(16, 0.9995), probe(20, 0.9912)};
  all["probes"][1]["saturated"] = 5;
  expect_parts(all, {"The runs are too short to show a capacity: at 20 requests/s the backlog grew "
                     "until the last arrival in 5 of 5 repetitions",
                     "Take more workload.requests."});
  EXPECT_EQ(text_of(all).find("Carries"), std::string::npos);
}

TEST(CapacityText, SaysThatALoadCanNotBeJudgedAndWhy) {
  Json open = found();
  open["verdict"] = "not_judged";
  open["carried"] = open["not_carried"] = open["recommended"] = open["at_carried"] = nullptr;
  open["not_judged"] = 10;
  open["probes"] = {probe(10, 0, "not_judged")};
  open["probes"][0]["attainment_worst"] = open["probes"][0]["attainment_mean"] = nullptr;
  expect_parts(open, {"The capacity cannot be judged: at 10 requests/s every request of 3 of 5 "
                      "repetitions came before the end of the warm-up (measurement.warmup_s), so "
                      "none counts.\nTake a shorter warm-up or more workload.requests; with "
                      "study.capacity.keep: window they grow with the rate.\n"});
  EXPECT_EQ(text_of(open).find("Carries"), std::string::npos);
  expect_parts(open, {"          10  ?  "});
  open["carried"] = 5;
  open["keeps"] = "window";
  expect_parts(open, {"more workload.requests.\nCarried among the loads that were judged: 5 "
                      "requests/s.\n"});
  open["not_judged"] = nullptr;
  expect_parts(open, {"key 'verdict'"});
}

TEST(CapacityText, NeverRoundsAMissUpToTheTarget) {
  Json close = found();
  close["probes"] = {probe(16, 0.9995), probe(20, 0.9912),
                     probe(20.4, 0.98996, "missed_attainment")};
  const std::string text = text_of(close);
  expect_parts(close, {"only 98.996 % met all targets in the worst repetition", "  98.996 %  "});
  EXPECT_EQ(text.find("99.0 %"), std::string::npos) << text;
  close["probes"][2]["attainment_worst"] = 0.9897;
  expect_parts(close, {"only 98.97 % met all targets", "  98.97 %  "});
}

TEST(CapacityText, NamesRefusalsWhereTheyAloneRuleTheTargetOut) {
  Json refusing = found();
  Json failed = probe(20.4, 0.9713, "missed_attainment");
  failed["refused"] = 29;
  failed["ttft_met"] = 0.9713;
  refusing["probes"] = {probe(16, 0.9995), probe(20, 0.9912), failed};
  expect_parts(refusing,
               {"Not 20.4 requests/s: 2.90 % of all arrivals were refused, so 99 % cannot "
                "be reached however fast the others are served"});
  for (Json& each : refusing["probes"]) each["refused"] = 29;
  expect_parts(refusing,
               {"2.90 % of all arrivals were refused, as at every load that was tried, so"});
  refusing["probes"][2]["refused"] = 9;
  expect_parts(refusing, {"only 97.13 % met the TTFT target of 500 ms"});
}

TEST(CapacityText, WarnsOfWhatMakesTheFigureDoubtful) {
  Json doubtful = found();
  doubtful["easier_failed"] = {16};
  doubtful["within_tolerance"] = false;
  doubtful["probes"][1]["saturated"] = 2;
  doubtful["probes"][1]["arrival_window_s"] = 49;
  doubtful["repetitions_alike"] = true;
  expect_parts(doubtful,
               {"Not monotone: 16 requests/s failed, though 20 requests/s passed.",
                "Saturated: at 20 requests/s the backlog grew until the last arrival in 2 of 5",
                "Short run: at 20 requests/s requests arrive for 49.0 s, and the longest one takes "
                "5.00 s.",
                "The search ended at max_probes", "All repetitions of a load were the same"});
}

TEST(CapacityText, SaysThatAScaledTraceIsADerivedWorkload) {
  Json scaled = found();
  scaled["load_unit"] = "times the trace's rate";
  scaled["workload_changes"] = {"only the first 10 rows are used",
                                "each load is the trace divided"};
  expect_parts(scaled, {"Carries 20 times the trace's rate",
                        "\nDerived workload: only the first 10 rows are used.\n",
                        "\nDerived workload: each load is the trace divided.\n"});
}

TEST(CapacityText, TellsTheSmallestFleet) {
  Json fleet = found();
  fleet["search"] = "replicas";
  fleet["load_unit"] = "replicas";
  fleet["fixed_load"] = 100;
  fleet["fixed_load_unit"] = "requests/s";
  fleet["carried"] = 2;
  fleet["not_carried"] = 1;
  fleet["recommended"] = 3;
  fleet["probes"] = {probe(1, 0.5, "not_drained"), probe(2, 0.992), probe(3, 1)};
  expect_parts(fleet,
               {"2 replicas carry 100 requests/s: in each of 5 repetitions",
                "Not 1 replica: 4.00 s after the last arrival some requests were still being "
                "served, 62.0 s is the bound.",
                "Recommended: 3 replicas, with 20 % headroom.", "◆ smallest fleet"});
}

Json no_fleet() {
  Json none = found();
  none["search"] = "replicas";
  none["load_unit"] = "replicas";
  none["fixed_load"] = 0.36;
  none["fixed_load_unit"] = "conversations/s";
  none["verdict"] = "never_passed";
  none["carried"] = none["recommended"] = none["at_carried"] = nullptr;
  none["not_carried"] = 64;
  none["best_tried"] = 16;
  none["probes"] = {probe(4, 0.5, "missed_attainment"), probe(16, 0.987, "missed_attainment"),
                    probe(64, 0.965, "missed_attainment")};
  none["probes"][2]["ttft_met"] = 0.967;
  return none;
}

TEST(CapacityText, SaysOfFleetsOnlyWhatWasTriedAndWhereItWasBest) {
  expect_parts(no_fleet(),
               {"No fleet that was tried carries 0.36 conversations/s: 4, 16 and 64 replicas.\n"
                "Best with 16 replicas: only 98.70 % met all targets in the worst repetition.\n"
                "More did worse, with 64 replicas only 96.70 % met the TTFT target of 500 ms. A "
                "router that scatters sessions over more prefix caches does that, for one: try "
                "another deployment.router.\n"});
  Json rising = no_fleet();
  rising["best_tried"] = 64;
  expect_parts(rising, {"Best with 64 replicas: ", "Larger fleets were not tried"});
  EXPECT_EQ(text_of(rising).find("deployment.router"), std::string::npos);
}

TEST(CapacityText, RecommendsNothingThatFailed) {
  Json fallen = found();
  fallen["recommended"] = nullptr;
  expect_parts(fallen, {"None is recommended: what leaves 20 % headroom failed.\n"});
}

TEST(CapacityText, RefusesADamagedResult) {
  Json broken = found();
  broken["probes"][1].erase("drain_s");
  EXPECT_EQ(text_of(broken), "result.json: key 'probes[1].drain_s': missing");
  broken = found();
  broken["carried"] = nullptr;
  EXPECT_NE(text_of(broken).find("verdict"), std::string::npos);
  broken = found();
  broken["easier_failed"] = {"x"};
  EXPECT_NE(text_of(broken).find("easier_failed"), std::string::npos);
}

}  // namespace
}  // namespace inferscale

// The text of sweeps: what it recommends and why, its table, what it says about losses.

#include "report/studies/agents/sweep_text.h"

#include <gtest/gtest.h>

#include "report/json_fields.h"
#include "report/studies/study_texts.h"

namespace inferscale {
namespace {

Json spread(double mean) {
  return {{"mean", mean}, {"sd", nullptr}, {"min", mean}, {"max", mean}};
}

Json point(const std::string& name, const std::string& strategy, double ttft, double kv,
           double found) {
  return {{"name", name},
          {"strategy", strategy},
          {"value", nullptr},
          {"capacity_gb", nullptr},
          {"cache_tokens", nullptr},
          {"is_choice", true},
          {"settings", {{"deployment.engine.retention.ttl_s", 60}}},
          {"failure", nullptr},
          {"on_frontier", true},
          {"sessions_incomplete", 0},
          {"figures",
           {{"turn_ttft_ms_p95", spread(ttft)},
            {"kv_gb_mean", spread(kv)},
            {"history_hit_rate", spread(found)},
            {"turns", spread(440)},
            {"turns_failed", spread(0)},
            {"turns_unreached", spread(0)},
            {"sessions", spread(40)},
            {"turn_attainment", nullptr}}}};
}

Json sweep_of(const std::string& kind, const std::vector<Json>& points) {
  return {
      {"kind", kind},      {"simulated", true},
      {"name", "agents"},  {"slo", {{"ttft_ms", 500}, {"itl_ms", nullptr}, {"e2e_ms", nullptr}}},
      {"repeats", 1},      {"seed", 42},
      {"tolerance", 0.05}, {"against", "kv_gb_mean"},
      {"least_ttft", 1},   {"recommended", 0},
      {"within_slo", 0},   {"notes", Json::array()},
      {"points", points}};
}

Json two_ttls() {
  return sweep_of("ttl_sweep",
                  {point("60 s", "retain", 210, 5, 0.5), point("never", "retain", 205, 20, 0.9)});
}

// On one line: where it wraps is not the point.
std::string flat(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || (!out.empty() && out.back() != ' ')) out += space ? ' ' : c;
  }
  return out;
}

std::string text_of(const Json& result) {
  const Result<std::string> text = sweep_text(result.dump(), PlotGlyphs::kAscii);
  return text ? flat(*text) : "error: " + text.error().to_string();
}

#define EXPECT_SAYS(result, words) \
  EXPECT_NE(text_of(result).find(words), std::string::npos) << "in: " << text_of(result)
#define EXPECT_SILENT(result, words) \
  EXPECT_EQ(text_of(result).find(words), std::string::npos) << "in: " << text_of(result)

TEST(SweepText, RecommendsWithNumbersAndTheOptionsForIt) {
  EXPECT_SAYS(two_ttls(),
              "Recommended 60 s: p95 turn TTFT 210 ms, 5.00 GB of KV in HBM on average, 50.0 % of "
              "the history found. That is within 5 % of the least (205 ms, never), which keeps "
              "20.0 GB of KV in HBM: -75.0 %. --set deployment.engine.retention.ttl_s=60");
  EXPECT_SAYS(two_ttls(),
              "Within the SLO of the points with a p95 turn TTFT within 500 ms the same one keeps "
              "least KV in HBM.");
  EXPECT_SAYS(two_ttls(), "All figures are simulated: one run (seed 42) for every point");
  Json fastest = two_ttls();
  fastest["recommended"] = 1;
  EXPECT_SAYS(fastest, "Recommended never: p95 turn TTFT 205 ms");
  EXPECT_SAYS(fastest, "No point has a lower p95 turn TTFT.");
  fastest["points"][0]["figures"]["turn_ttft_ms_p95"] = spread(100);
  EXPECT_SILENT(fastest, "No point has a lower p95 turn TTFT.");
  EXPECT_SAYS(fastest,
              "Points with a lower p95 turn TTFT leave more sessions incomplete, or fewer");
}

TEST(SweepText, TargetsThatNothingMeetsAreSaid) {
  Json none = two_ttls();
  none["within_slo"] = nullptr;
  EXPECT_SAYS(none, "Within the SLO no point has a p95 turn TTFT within 500 ms.");
  none["slo"]["ttft_ms"] = nullptr;
  EXPECT_SILENT(none, "Within the SLO");
}

TEST(SweepText, LossesAreSaidBesideLatencies) {
  EXPECT_SILENT(two_ttls(), "But");
  Json lossy = two_ttls();
  lossy["points"][1]["figures"]["turns_failed"] = spread(12);
  lossy["points"][1]["sessions_incomplete"] = 3;
  EXPECT_SAYS(lossy,
              "But at 1 of 2 points turns failed or sessions stayed incomplete (at never: 12 of "
              "440 turns failed, 3 of 40 sessions incomplete). Latencies are of the turns and "
              "sessions that finished");
}

TEST(SweepText, NothingToRecommendIsSaid) {
  Json none = two_ttls();
  none["recommended"] = none["least_ttft"] = nullptr;
  EXPECT_SAYS(none, "Recommended none: no turn finished");
}

TEST(SweepText, SaysWhereMoreLocalityStopsBeingWorthIt) {
  Json affinity =
      sweep_of("affinity_sweep", {point("least_load", "least_load", 400, 5, 0.4),
                                  point("slack 200 ms", "bounded_affinity", 200, 5, 0.8),
                                  point("session_affinity", "session_affinity", 600, 5, 0.95)});
  affinity["recommended"] = 1;
  EXPECT_SAYS(affinity,
              "More history session_affinity finds most, 95.0 %, and its p95 turn TTFT is 600 ms "
              "(+200.0 %): beyond the recommended point history is paid for with waiting.");
  EXPECT_SAYS(affinity,
              "The ends least_load has a p95 turn TTFT of 400 ms and finds 40.0 % and "
              "session_affinity has a p95 turn TTFT of 600 ms and finds 95.0 %.");
  affinity["recommended"] = 2;
  EXPECT_SAYS(affinity, "More history no point finds more of it");
}

Json memory_stress() {
  Json small = point("0.5 x peak", "retain", 900, 5, 0.4);
  Json full = point("1 x peak", "retain", 205, 10, 0.9);
  small["value"] = 0.5;
  small["figures"]["turns_failed"] = spread(4);
  small["figures"]["turns_unreached"] = spread(30);
  small["sessions_incomplete"] = 2;
  small["cache_tokens"] = {50000};
  full["cache_tokens"] = {100000};
  small["settings"] = {{"deployment.engine.kv_cache_tokens", 50000}};
  full["value"] = 1;
  full["settings"] = {{"deployment.engine.kv_cache_tokens", 100000}};
  Json unlimited = point("unlimited", "retain", 200, 10, 0.9);
  unlimited["figures"]["kv_gb_peak_replica"] = spread(12.5);
  unlimited["figures"]["kv_tokens_peak_replica"] = spread(100000);
  Json result = sweep_of("memory_stress", {small, full});
  result["against"] = nullptr;
  result["recommended"] = 1;
  result["reference"] = {
      {"peak_tokens", {100000}}, {"configured_tokens", 400000}, {"unlimited", unlimited}};
  return result;
}

TEST(SweepText, OfMemoryTheSmallestBudgetThePeakAndTheFailures) {
  EXPECT_SAYS(
      memory_stress(),
      "Recommended 1 x peak, that is 100000 tokens (12.5 GB) a replica, is the smallest "
      "budget that serves as well as no limit (p95 turn TTFT within 5 %, no more failed "
      "turns and incomplete sessions), and all larger ones do: p95 turn TTFT 205 ms (200 ms "
      "without a limit). --set deployment.engine.kv_cache_tokens=100000");
  EXPECT_SAYS(memory_stress(), "the replica that holds most holds 100000 tokens (12.5 GB)");
  EXPECT_SAYS(memory_stress(),
              "Configured the deployment's own KV cache has 400000 tokens (50.0 GB) a replica, "
              "4.00 x the peak: memory is no limit for these sessions.");
  EXPECT_SAYS(memory_stress(),
              "Failures at 0.5 x peak 4 of 440 turns fail, 30 more are never reached, and 2 of 40 "
              "sessions stay incomplete.");
  EXPECT_SAYS(memory_stress(),
              "Within the SLO of the budgets with a p95 turn TTFT within 500 ms, 0.5 x peak is the "
              "smallest: p95 turn TTFT 900 ms");
  Json none = memory_stress();
  none["recommended"] = nullptr;
  EXPECT_SAYS(none, "Recommended none: the largest budget does not serve as well as no limit");
  for (Json& one : none["points"]) one["failure"] = "more than there can be";
  none["within_slo"] = nullptr;
  EXPECT_SAYS(none, "Recommended none: no budget could be simulated.");
  EXPECT_SILENT(none, "Failures");
  EXPECT_SAYS(none, "Within the SLO no budget has a p95 turn TTFT within 500 ms.");
}

TEST(SweepText, ABudgetAboveTheDeploymentsMemoryIsSaid) {
  EXPECT_SILENT(memory_stress(), "That is more than the deployment has");
  Json little = memory_stress();
  little["reference"]["configured_tokens"] = 60000;
  EXPECT_SAYS(little,
              "without a limit). That is more than the deployment has (60000 tokens (7.50 GB) a "
              "replica): it takes more memory, or fewer sessions a replica. --set");
  EXPECT_SAYS(little, "0.6 x the peak: it has to evict");
}

// 1 x peak of 80,000 and of 120,000 tokens: what is called the budget has to be what the peak is.
TEST(SweepText, RepetitionsHaveBudgetsAndPeaksOfTheirOwn) {
  Json result = memory_stress();
  result["repeats"] = 2;
  result["reference"]["peak_tokens"] = {80000, 120000};
  result["points"][1]["cache_tokens"] = {80000, 120000};
  result["points"][1]["settings"] = {{"deployment.engine.kv_cache_tokens", 80000}};
  const std::string range = "80000 tokens (10.0 GB) to 120000 tokens (15.0 GB) (by repetition)";
  EXPECT_SAYS(result, "Recommended 1 x peak, that is " + range + " a replica, is the smallest");
  EXPECT_SAYS(result, "--set deployment.engine.kv_cache_tokens=120000");
  EXPECT_SAYS(result, "the replica that holds most holds " + range + " of running and idle");
  EXPECT_SAYS(result, "3.33 x the largest peak");
  EXPECT_SAYS(result, "1 x peak 100000 0 0 0 205");
}

TEST(SweepText, OfTheHostTierFromWhichBandwidthItWins) {
  Json slow = point("offload 5 GB/s", "offload", 400, 4, 0.9);
  Json fast = point("offload 25 GB/s", "offload", 220, 3, 0.9);
  slow["value"] = 5;
  fast["value"] = 25;
  slow["capacity_gb"] = fast["capacity_gb"] = 128;
  Json host = sweep_of("host_sweep", {point("recompute", "recompute", 480, 2, 0),
                                      point("retain", "retain", 205, 30, 0.9), slow, fast});
  fast["is_choice"] = false;
  host["points"][3] = fast;
  host["crossovers"] = Json::array(
      {{{"capacity_gb", 128}, {"beats_recompute_gb_s", 5}, {"beats_retain_gb_s", nullptr}}});
  host["configured_bandwidth_gb_s"] = 5;
  host["answers"] =
      Json::array({{{"capacity_gb", 128}, {"bandwidth_gb_s", 5}, {"strategy", "retain"}},
                   {{"capacity_gb", 128}, {"bandwidth_gb_s", 25}, {"strategy", "offload"}}});
  EXPECT_SAYS(host,
              "Offload with 128 GB of host memory a replica its p95 turn TTFT beats recomputing "
              "(480 ms) from 5 GB/s on (400 ms) and keeping it in HBM (205 ms) at no bandwidth "
              "that was tried.");
  EXPECT_SAYS(host,
              "Retain keeping idle KV in HBM takes 30.0 GB of it on average, for a p95 turn TTFT "
              "of 205 ms; recompute 2.00 GB, 480 ms; offload 5 GB/s 4.00 GB, 400 ms.");
  EXPECT_SAYS(host,
              "Bandwidth host memory has 5 GB/s as configured. With 128 GB of it a replica the "
              "answer is retain up to 5 GB/s and offload from 25 GB/s on.");
  host["answers"][1]["strategy"] = "retain";
  EXPECT_SAYS(host, "the answer is retain with every bandwidth that was tried (5 to 25 GB/s).");
}

TEST(SweepText, PointsThatWereNotSimulatedHaveTheirReason) {
  Json result = two_ttls();
  result["points"].push_back({{"name", "9 s"},
                              {"strategy", "retain"},
                              {"value", 9},
                              {"capacity_gb", nullptr},
                              {"cache_tokens", nullptr},
                              {"is_choice", true},
                              {"settings", Json::object()},
                              {"failure", "does not fit"}});
  EXPECT_SAYS(result, "1 of 3 points could not be simulated: 9 s: does not fit");
  result["recommended"] = 2;
  EXPECT_SAYS(result, "error: result.json: key 'recommended': expected the index of a point");
}

TEST(SweepText, AbsentFiguresAreDashesAndSpreadsAreShown) {
  Json result = two_ttls();
  result["repeats"] = 3;
  result["points"][0]["figures"]["turn_ttft_ms_p95"]["sd"] = 12;
  result["points"][1]["figures"]["turn_ttft_ms_p95"] = nullptr;
  result["least_ttft"] = 0;
  EXPECT_SAYS(result, "60 s * 210 ± 12.0");
  EXPECT_SAYS(result, "never * - ");
  EXPECT_SAYS(result, "means of 3 repetitions (seeds 42 to 44)");
  EXPECT_SAYS(result, "Spread its p95 turn TTFT is 210 ± 12.0 ms over the repetitions, more than");
  result["points"][0]["figures"]["turn_ttft_ms_p95"]["sd"] = 10;  // 4.8 %
  EXPECT_SILENT(result, "Spread");
}

TEST(SweepText, AllKindsAreAmongTheTextsOfStudies) {
  for (const char* kind : {"ttl_sweep", "affinity_sweep"}) {
    Json result = two_ttls();
    result["kind"] = kind;
    EXPECT_TRUE(study_text(kind, result.dump(), PlotGlyphs::kUnicode)) << kind;
  }
  EXPECT_TRUE(study_text("memory_stress", memory_stress().dump(), PlotGlyphs::kUnicode));
  Json host = two_ttls();
  host["kind"] = "host_sweep";
  host["crossovers"] = host["answers"] = Json::array();
  host["configured_bandwidth_gb_s"] = 25;
  EXPECT_TRUE(study_text("host_sweep", host.dump(), PlotGlyphs::kUnicode));
}

TEST(SweepText, DamagedResultsAreErrors) {
  for (const char* key : {"kind", "name", "slo", "repeats", "seed", "tolerance", "least_ttft",
                          "recommended", "within_slo", "notes", "points"}) {
    Json result = two_ttls();
    result.erase(key);
    EXPECT_FALSE(sweep_text(result.dump(), PlotGlyphs::kAscii)) << key;
    result[key] = Json::array({Json::array()});
    EXPECT_FALSE(sweep_text(result.dump(), PlotGlyphs::kAscii)) << key;
  }
  for (const char* key : {"peak_tokens", "configured_tokens", "unlimited"}) {
    Json result = memory_stress();
    result["reference"].erase(key);
    EXPECT_FALSE(sweep_text(result.dump(), PlotGlyphs::kAscii)) << key;
    result["reference"][key] = Json::array();
    EXPECT_FALSE(sweep_text(result.dump(), PlotGlyphs::kAscii)) << key;
  }
  Json result = two_ttls();
  result["points"][0]["figures"]["kv_gb_mean"] = 3;
  EXPECT_FALSE(sweep_text(result.dump(), PlotGlyphs::kAscii));
}

}  // namespace
}  // namespace inferscale

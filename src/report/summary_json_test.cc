#include "report/summary_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/sample_run.h"

namespace inferscale {
namespace {

using nlohmann::json;

TEST(SummaryJson, HoldsTheFiguresUnderTheirDocumentedNames) {
  RunSummary summary;
  summary.arrived = 10;
  summary.finished = 7;
  summary.refused = 2;
  summary.unfinished = 1;
  summary.refused_by[static_cast<std::size_t>(Reason::kQueueFull)] = 2;
  summary.offered_rps = 4.5;
  summary.ttft_ms = {.count = 7, .mean = 1.5, .p50 = 1, .p90 = 2, .p95 = 3, .p99 = 4, .max = 5};
  summary.slo_met = 6;
  summary.ttft_met = 7;
  summary.goodput = 0.6;
  summary.counted = 10;
  summary.admitted = 8;
  summary.attainment_admitted = 0.75;
  summary.accelerator_hours_per_million_output_tokens = 0.25;
  Slo slo;
  slo.ttft = Duration::from_millis(500);
  slo.itl_rule = ItlRule::kMax;
  const json read = json::parse(summary_json(summary, slo).text());
  EXPECT_EQ(read["requests"], json::parse(
                                  R"({"arrived":10,"finished":7,"refused":2,"unfinished":1,"lost":0,
      "deferred":0,"abandoned":0,
      "refused_by_reason":{"exceeds_kv_cache":0,"exceeds_max_model_len":0,"queue_full":2}})"));
  EXPECT_EQ(read["ttft_ms"], json::parse(R"({"count":7,"mean":1.5,"p50":1.0,"p90":2.0,"p95":3.0,
      "p99":4.0,"max":5.0})"));
  EXPECT_EQ(read["slo"], json::parse(R"({"ttft_ms":500.0,"itl_ms":null,"e2e_ms":null,
      "itl_rule":"max","met":6,"ttft_met":7,"itl_met":null,"e2e_met":null,"goodput":0.6,
      "goodput_rps":0.0,"attainment_admitted":0.75})"));
  EXPECT_EQ(read["throughput"]["offered_rps"], 4.5);
  EXPECT_EQ(read["itl_ms"]["relative_error"], 0.004);
  EXPECT_EQ(read["accelerator_hours_per_million_output_tokens"], 0.25);
}

TEST(SummaryJson, SaysHowSteadyTheRunWas) {
  RunSummary summary;
  summary.backlog = {.verdict = BacklogVerdict::kSaturated,
                     .doubt = BacklogDoubt::kNone,
                     .arrivals = 500,
                     .arrivals_rps = 5,
                     .growth_rps = 2,
                     .growth_rps_low = 1.5,
                     .growth_rps_high = 2.5};
  EXPECT_EQ(json::parse(summary_json(summary, Slo()).text())["backlog"],
            json::parse(R"({"verdict":"saturated","doubt":null,"arrivals":500,"arrivals_rps":5.0,
                "growth_rps":2.0,"growth_rps_low":1.5,"growth_rps_high":2.5,"level":0.99})"));
  EXPECT_EQ(json::parse(summary_json(summary, Slo()).text())["steady"], false);
  summary.backlog.verdict = BacklogVerdict::kStable;
  EXPECT_EQ(json::parse(summary_json(summary, Slo()).text())["steady"], true);
  summary.backlog = {.arrivals = 7};
  const json read = json::parse(summary_json(summary, Slo()).text());
  EXPECT_TRUE(read["steady"].is_null());
  EXPECT_EQ(read["backlog"]["doubt"], "few_arrivals");
  EXPECT_TRUE(read["backlog"]["growth_rps"].is_null());
}

TEST(SummaryJson, HoldsWarmupIntervalsAndPools) {
  RunSummary summary;
  summary.arrived = 10;
  summary.counted = 7;
  summary.warmup_excluded = 3;
  summary.warmup_s = 1.5;
  summary.confidence.e2e_ms_p95 = {.batches = 33, .lag1 = 0.25, .low = 1, .high = 2};
  summary.prefix_hit_rate = 0.5;
  summary.fleet = {.replicas = 3,
                   .pools = {{.name = "decode",
                              .replicas = 3,
                              .finished = 9,
                              .up_hours = 6,
                              .accelerator_hours = 12,
                              .busy_fraction = 0.5,
                              .busy_imbalance = 1.25}}};
  json read = json::parse(summary_json(summary, Slo()).text());
  EXPECT_EQ(read["warmup"], json::parse(R"({"end_s":1.5,"auto":false,"found":null,"excluded":3,
      "counted":7})"));
  EXPECT_EQ(read["itl_ms"]["warmup_included"], true);
  EXPECT_EQ(read["confidence"]["level"], 0.95);
  EXPECT_EQ(read["confidence"]["e2e_ms_p95"],
            json::parse(R"({"low":1.0,"high":2.0,"batches":33,"lag1":0.25})"));
  EXPECT_TRUE(read["confidence"]["ttft_ms_mean"].is_null());
  EXPECT_EQ(read["prefix_hit_rate"], 0.5);
  EXPECT_EQ(read["fleet"], json::parse(R"({"replicas":3,"pools":[{"pool":"decode","replicas":3,
      "finished":9,"up_hours":6.0,"accelerator_hours":12.0,"busy_fraction":0.5,
      "busy_imbalance":1.25,"finished_imbalance":null}]})"));
  summary.warmup_auto = true;
  summary.warmup_found = false;
  read = json::parse(summary_json(summary, Slo()).text());
  EXPECT_EQ(read["warmup"]["found"], false);
}

TEST(SummaryJson, FiguresThatDoNotExistAreNull) {
  const json read = json::parse(summary_json(RunSummary(), Slo()).text());
  EXPECT_TRUE(read["slo"].is_null());
  EXPECT_EQ(read["e2e_ms"]["count"], 0);
  for (const char* key : {"mean", "p50", "p90", "p95", "p99", "max"}) {
    EXPECT_TRUE(read["e2e_ms"][key].is_null()) << key;
  }
  EXPECT_TRUE(read["throughput"]["offered_rps"].is_null());
  EXPECT_TRUE(read["prefix_hit_rate"].is_null());
  EXPECT_TRUE(read["fleet"].is_null());
  EXPECT_TRUE(read["accelerator_hours_per_million_output_tokens"].is_null());
}

}  // namespace
}  // namespace inferscale

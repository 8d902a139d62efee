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
  summary.refused_queue_full = 2;
  summary.offered_rps = 4.5;
  summary.ttft_ms = {.count = 7, .mean = 1.5, .p50 = 1, .p90 = 2, .p95 = 3, .p99 = 4, .max = 5};
  summary.slo_met = 6;
  summary.ttft_met = 7;
  summary.goodput = 0.6;
  summary.attainment_admitted = 0.75;
  summary.accelerator_hours_per_million_output_tokens = 0.25;
  Slo slo;
  slo.ttft = Duration::from_millis(500);
  slo.itl_rule = ItlRule::kMax;
  const json read = json::parse(summary_json(summary, slo).text());
  EXPECT_EQ(read["requests"], json::parse(R"({"arrived":10,"finished":7,"refused":2,"unfinished":1,
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

TEST(SummaryJson, FiguresThatDoNotExistAreNull) {
  const json read = json::parse(summary_json(RunSummary(), Slo()).text());
  EXPECT_TRUE(read["slo"].is_null());
  EXPECT_EQ(read["e2e_ms"]["count"], 0);
  for (const char* key : {"mean", "p50", "p90", "p95", "p99", "max"}) {
    EXPECT_TRUE(read["e2e_ms"][key].is_null()) << key;
  }
  EXPECT_TRUE(read["throughput"]["offered_rps"].is_null());
  EXPECT_TRUE(read["accelerator_hours_per_million_output_tokens"].is_null());
}

}  // namespace
}  // namespace inferscale

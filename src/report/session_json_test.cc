// The `sessions` part of a summary: every figure of it, and null for what does not exist.

#include "report/session_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace inferscale {
namespace {

using nlohmann::json;

TEST(SessionJson, HoldsTheFigures) {
  SessionSummary s;
  s.sessions = 40;
  s.complete = 36;
  s.failed = 3;
  s.unfinished = 1;
  s.turns = 440;
  s.turns_finished = 400;
  s.turns_failed = 12;
  s.turns_unreached = 20;
  s.attempts = 450;
  s.turn_ttft_ms = {.count = 400, .mean = 1.5, .p95 = 7};
  s.turns_met = 330;
  s.turn_attainment = 0.75;
  s.sessions_met = 20;
  s.session_attainment = 0.5;
  s.history_hit_rate = 0.875;
  s.hbm_gb_seconds = 1000;
  s.idle_gb_seconds = 800;
  s.times = {.last_begin_s = 3,
             .after_share = 0.75,
             .after_sessions_mean = 1.5,
             .most_turns = Instant::nanos(5'000'000'000),
             .most_turns_output_tokens_per_s = 70};
  s.retention = {.resident_peak = 9000,
                 .evicted_ttl = 11,
                 .evictions_pressure = 4,
                 .restored = 70,
                 .exposed_ns = 5e8,
                 .host_token_ns = 3e15};
  SessionFacts facts{.end = Instant::nanos(1), .kv_bytes_per_token = 1e5, .host_tier = true};
  facts.slo.ttft = Duration::from_millis(500);
  facts.makespan = Duration::from_seconds(90);
  const json all = json::parse(session_json(s, facts).text());
  EXPECT_EQ(all["begun"], 40);
  EXPECT_EQ(all["turns"]["unfinished"], 8);
  EXPECT_EQ(all["turns"]["attempts"], 450);
  EXPECT_EQ(all["turn_ttft_ms"]["p95"], 7);
  EXPECT_EQ(all["slo"], json::parse(R"({"turns_met":330,"turn_attainment":0.75,"makespan_s":90,
                                        "sessions_met":20,"session_attainment":0.5})"));
  EXPECT_EQ(all["reuse"]["history_hit_rate"], 0.875);
  EXPECT_EQ(all["kv"]["tokens_peak_replica"], 9000);
  EXPECT_EQ(all["kv"]["hbm_gb_seconds_a_session"], 25);
  EXPECT_EQ(all["kv"]["idle_gb_seconds_a_session"], 20);
  EXPECT_EQ(all["times"], json::parse(R"({"last_begin_s":3,"after_share":0.75,
                                          "after_sessions_mean":1.5,"most_turns_s":5,
                                          "most_turns_output_tokens_per_s":70})"));
  EXPECT_EQ(all["kv"]["evicted"]["ttl_tokens"], 11);
  EXPECT_EQ(all["kv"]["evicted"]["pressure_times"], 4);
  EXPECT_EQ(all["host"]["restored_tokens"], 70);
  EXPECT_EQ(all["host"]["exposed_s"], 0.5);
  EXPECT_EQ(all["host"]["gb_seconds"], 300);
}

TEST(SessionJson, WhatDoesNotExistIsNull) {
  const json none = json::parse(session_json({}, {}).text());
  EXPECT_EQ(none["begun"], 0);
  EXPECT_TRUE(none["turn_ttft_ms"]["p95"].is_null());
  for (const char* key : {"turns_met", "turn_attainment", "makespan_s", "session_attainment"}) {
    EXPECT_TRUE(none["slo"][key].is_null()) << key;
  }
  for (const char* key : {"history_hit_rate", "prompt_hit_rate", "routing_locality"}) {
    EXPECT_TRUE(none["reuse"][key].is_null()) << key;
  }
  EXPECT_TRUE(none["fairness"]["jain"].is_null());
  EXPECT_TRUE(none["kv"]["gb_mean"].is_null());
  EXPECT_EQ(none["kv"]["gb_peak_replica"], 0);
  EXPECT_TRUE(none["kv"]["hbm_gb_seconds_a_session"].is_null());
  for (const auto& [key, value] : none["times"].items()) EXPECT_TRUE(value.is_null()) << key;
  EXPECT_TRUE(none["host"].is_null());
}

}  // namespace
}  // namespace inferscale

// The `admission` part of a summary: the documented keys, and nothing where there is nothing.

#include "report/admission_json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace inferscale {
namespace {

using nlohmann::json;

AdmissionSummary full_summary() {
  AdmissionSummary s{.policy = "queue_depth", .requests = 10, .attempts = 14};
  s.amplification = 1.4;
  s.has_slo = true;
  s.counted = 10;
  s.met = 4;
  s.admitted = 7;
  s.goodput = 0.4;
  s.attainment_admitted = 0.5;
  s.sessions = 4;
  s.sessions_complete = 1;
  s.completion = 0.25;
  s.threshold = SignalThreshold{.signal = Signal::kQueueDepth, .value = 8};
  s.signal_reached = Liveness::kLive;
  s.signal_headroom = -0.5;
  s.policy_acted = Liveness::kLive;
  s.tokens.worked = {.prompt = 804, .output = 63};
  s.tokens.useful = {.prompt = 400, .output = 40};
  DecisionFigures decisions;
  decisions.presented = 14;
  decisions.by_reason[static_cast<std::size_t>(Reason::kQueueDepth)] = {.deferred = 3, .held = 1};
  decisions.signals.push_back(
      {.signal = Signal::kQueueDepth, .decisions = 4, .known = 2, .max = 12});
  decisions.signals.push_back({.signal = Signal::kKvUsedFraction, .decisions = 4});
  s.decisions = decisions;
  for (std::uint32_t i = 0; i < 40; ++i) {
    s.fairness.tenants.push_back({.tenant = i, .requests = i == 39 ? 100 : 5, .met = 1});
  }
  s.fairness.tokens_jain = 0.5;
  return s;
}

TEST(AdmissionJson, HoldsTheFiguresUnderTheirDocumentedNames) {
  const std::vector<std::string> names = {"chat", "batch"};
  const json read = json::parse(admission_json(full_summary(), names).text());
  EXPECT_EQ(read["policy"], "queue_depth");
  EXPECT_EQ(read["requests"]["arrived"], 10);
  EXPECT_EQ(read["attempts"]["made"], 14);
  EXPECT_EQ(read["attempts"]["amplification"], 1.4);
  EXPECT_EQ(read["slo"]["goodput"], 0.4);
  EXPECT_EQ(read["slo"]["attainment_admitted"], 0.5);
  EXPECT_TRUE(read["slo"]["goodput_of_arrivals_rps"].is_null());
  EXPECT_EQ(read["tokens"]["wasted"], json::parse(R"({"prompt":404,"output":23})"));
  EXPECT_EQ(read["decisions"]["by_reason"], json::parse(R"({"queue_depth":{"deferred":3,
      "rejected":0,"held":1,"shadow_deferred":0,"shadow_rejected":0}})"));
  EXPECT_TRUE(read["decisions"]["defer_s"]["p95"].is_null());
  EXPECT_EQ(read["signals"][0]["known_share"], 0.5);
  EXPECT_EQ(read["signals"][0]["max"], 12);
  EXPECT_EQ(read["signals"][1]["known_share"], 0);
  EXPECT_TRUE(read["signals"][1]["max"].is_null());
  EXPECT_EQ(read["liveness"], json::parse(R"({"threshold":{"signal":"queue_depth","value":8.0,
      "below":false,"headroom":-0.5},"signal_reached":"live","policy_acted":"live",
      "admits_all":false})"));
  EXPECT_EQ(read["sessions"]["completion"], 0.25);
}

TEST(AdmissionJson, TenantsWithTheMostRequestsAreNamed) {
  const std::vector<std::string> names = {"chat", "batch"};
  const json fairness = json::parse(admission_json(full_summary(), names).text())["fairness"];
  EXPECT_EQ(fairness["tenants"], 40);
  ASSERT_EQ(fairness["rows"].size(), kMostTenantRows);
  EXPECT_EQ(fairness["rows"][0]["tenant"], "39");
  EXPECT_EQ(fairness["rows"][1]["tenant"], "chat");
  EXPECT_TRUE(fairness["goodput_jain"].is_null());
}

TEST(AdmissionJson, WhatIsNotThereIsNull) {
  const json read = json::parse(admission_json({}, {}).text());
  EXPECT_TRUE(read["decisions"].is_null());
  EXPECT_TRUE(read["fairness"].is_null());
  EXPECT_TRUE(read["sessions"].is_null());
  EXPECT_TRUE(read["attempts"]["amplification"].is_null());
  EXPECT_TRUE(read["slo"]["met"].is_null());
  EXPECT_TRUE(read["liveness"]["threshold"].is_null());
  EXPECT_EQ(read["liveness"]["policy_acted"], "unknown");
  EXPECT_EQ(read["signals"], json::array());
}

// The keys of an object, those of what it holds behind them.
void collect_keys(const json& value, std::vector<std::string>& keys) {
  for (const auto& [key, member] : value.items()) {
    if (value.is_object()) keys.push_back(key);
    if (member.is_structured()) collect_keys(member, keys);
  }
}

TEST(AdmissionJson, EveryKeyIsDocumented) {
  std::ifstream page(INFERSCALE_DOCS "/formats/run_folder.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  ASSERT_NE(text, "");
  std::vector<std::string> keys;
  collect_keys(json::parse(admission_json(full_summary(), {}).text()), keys);
  EXPECT_GT(keys.size(), 80U);
  for (const std::string& key : keys) {
    if (reason_of(key)) continue;
    EXPECT_NE(text.find('`' + key + '`'), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace inferscale

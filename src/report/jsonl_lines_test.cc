#include "report/jsonl_lines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

using nlohmann::json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Outcome documented_outcome() {
  Outcome outcome;
  outcome.arrival = Instant::nanos(81324011);
  outcome.start = Instant::nanos(81324011);
  outcome.first_token = Instant::nanos(104310122);
  outcome.finish = Instant::nanos(1930332215);
  outcome.itl_max = Duration::nanos(30120441);
  outcome.prompt_tokens = 402;
  outcome.output_tokens = 233;
  outcome.status = OutcomeStatus::kFinished;
  return outcome;
}

Slo half_second() {
  Slo slo;
  slo.ttft = Duration::from_millis(500);
  return slo;
}

std::string line_of(const Outcome& outcome, const Slo& slo, const CarriedColumns& carried = {},
                    std::uint64_t id = 0) {
  std::string out;
  append_outcome_line(out, id, outcome, slo, carried);
  return out;
}

TEST(OutcomeLine, IsTheLineOfTheFormatDocument) {
  EXPECT_EQ(line_of(documented_outcome(), half_second()),
            R"({"id":0,"status":"finished","arrival_ns":81324011,"start_ns":81324011,)"
            R"("first_token_ns":104310122,"finish_ns":1930332215,"prompt_tokens":402,)"
            R"("output_tokens":233,"queue_ms":0.0,"ttft_ms":22.986111,"tpot_ms":7.870785,)"
            R"("e2e_ms":1849.008204,"itl_ms_max":30.120441,"gaps_over_limit":0,"preemptions":0,)"
            R"("slo_met":true})"
            "\n");
}

TEST(OutcomeLine, WithoutATargetThereIsNoVerdict) {
  EXPECT_TRUE(json::parse(line_of(documented_outcome(), Slo()))["slo_met"].is_null());
}

TEST(OutcomeLine, ARefusalHasItsReasonAndNoTimes) {
  Outcome outcome;
  outcome.arrival = Instant::nanos(5);
  outcome.prompt_tokens = 9;
  outcome.output_tokens = 4;
  outcome.status = OutcomeStatus::kRefused;
  outcome.reason = Reason::kExceedsKvCache;
  EXPECT_EQ(json::parse(line_of(outcome, half_second(), {}, 7)),
            json::parse(R"({"id":7,"status":"refused","reason":"exceeds_kv_cache","arrival_ns":5,
              "start_ns":null,"first_token_ns":null,"finish_ns":null,"prompt_tokens":9,
              "output_tokens":4,"queue_ms":null,"ttft_ms":null,"tpot_ms":null,"e2e_ms":null,
              "itl_ms_max":null,"gaps_over_limit":0,"preemptions":0,"slo_met":false})"));
}

TEST(OutcomeLine, AnInterruptedRequestKeepsTheTimesThatCame) {
  Outcome outcome = documented_outcome();
  outcome.status = OutcomeStatus::kUnfinished;
  outcome.finish = Instant::never();
  const json line = json::parse(line_of(outcome, half_second()));
  EXPECT_EQ(line["ttft_ms"], 22.986111);
  EXPECT_EQ(line["queue_ms"], 0.0);
  for (const char* key : {"finish_ns", "tpot_ms", "e2e_ms", "itl_ms_max"}) {
    EXPECT_TRUE(line[key].is_null()) << key;
  }
  EXPECT_EQ(line["slo_met"], false);
}

TEST(OutcomeLine, OneTokenHasNoTimeBetweenTokens) {
  Outcome outcome = documented_outcome();
  outcome.output_tokens = 1;
  outcome.finish = outcome.first_token;
  const json line = json::parse(line_of(outcome, Slo()));
  EXPECT_TRUE(line["tpot_ms"].is_null());
  EXPECT_TRUE(line["itl_ms_max"].is_null());
  EXPECT_EQ(line["e2e_ms"], 22.986111);
}

TEST(OutcomeLine, CarriesTheColumnsOfTheTrace) {
  const std::vector<std::uint32_t> tenant = {0, CarriedColumns::kNoName};
  const std::vector<std::string> tenant_names = {"acme \"</script>\n\xFF"};
  const std::vector<std::uint32_t> session = {1, 0};
  const std::vector<std::string> session_names = {"s-0", "s-1"};
  const std::vector<std::int64_t> priority = {-3, CarriedColumns::kNoPriority};
  const std::vector<double> deadline_ms = {1849.0, kNaN};
  const CarriedColumns carried = {.tenant = tenant,
                                  .tenant_names = tenant_names,
                                  .session = session,
                                  .session_names = session_names,
                                  .priority = priority,
                                  .deadline_ms = deadline_ms};
  const json full = json::parse(line_of(documented_outcome(), Slo(), carried, 0));
  EXPECT_EQ(full["tenant"], "acme \"</script>\n\xEF\xBF\xBD");
  EXPECT_EQ(full["session"], "s-1");
  EXPECT_EQ(full["priority"], -3);
  EXPECT_EQ(full["deadline_ms"], 1849.0);
  EXPECT_EQ(full["deadline_met"], false);  // 1849.008204 ms end to end
  const json empty = json::parse(line_of(documented_outcome(), Slo(), carried, 1));
  for (const char* key : {"tenant", "priority", "deadline_ms", "deadline_met"}) {
    EXPECT_TRUE(empty.contains(key) && empty[key].is_null()) << key;
  }
  EXPECT_EQ(empty["session"], "s-0");
}

TEST(OutcomeLine, ADeadlineIsMetOnTheInstantAndMayBeFarAway) {
  for (const auto& [deadline_ms, met] :
       {std::pair(1849.008204, true), {1849.008203, false}, {1e300, true}, {-1.0, false}}) {
    const std::vector<double> column = {deadline_ms};
    const json line =
        json::parse(line_of(documented_outcome(), Slo(), CarriedColumns{.deadline_ms = column}));
    EXPECT_EQ(line["deadline_met"], met) << deadline_ms;
  }
}

TEST(OutcomeLine, AnyOutcomeReadsBackToTheNanosecond) {
  RandomStream random(3, "test");
  const auto below = [&](std::int64_t limit) {
    return Duration::nanos(
        static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(limit)));
  };
  for (std::uint64_t id = 0; id < 2000; ++id) {
    Outcome outcome;
    outcome.arrival = Instant() + below(1'000'000'000'000'000);
    outcome.start = outcome.arrival + below(100'000'000'000);
    outcome.first_token = outcome.start + below(1'000'000'000);
    outcome.finish = outcome.first_token + below(1'000'000'000'000);
    outcome.output_tokens = static_cast<std::uint32_t>(random.next() % 1000 + 2);
    outcome.preemptions = static_cast<std::uint16_t>(random.next());
    outcome.gaps_over_limit = static_cast<std::uint32_t>(random.next());
    outcome.status = OutcomeStatus::kFinished;
    const json line = json::parse(line_of(outcome, Slo(), {}, id));
    const auto nanos = [&](const char* key) { return std::llround(line[key].get<double>() * 1e6); };
    EXPECT_EQ(line["id"], id);
    EXPECT_EQ(line["finish_ns"], outcome.finish.ns());
    EXPECT_EQ(nanos("queue_ms"), outcome.queue_time().ns());
    EXPECT_EQ(nanos("ttft_ms"), outcome.ttft().ns());
    EXPECT_EQ(nanos("e2e_ms"), outcome.e2e().ns());
    EXPECT_NEAR(line["tpot_ms"].get<double>() * 1e6, outcome.tpot_ns(), 0.51);
    EXPECT_EQ(line["preemptions"], outcome.preemptions);
    EXPECT_EQ(line["gaps_over_limit"], outcome.gaps_over_limit);
  }
}

TEST(OutcomeLine, ColumnsThatNotEveryRunHasStandOnRequest) {
  Outcome outcome = documented_outcome();
  outcome.cached_tokens = 384;
  outcome.replica = 3;
  EXPECT_FALSE(json::parse(line_of(outcome, Slo())).contains("cached_tokens"));
  EXPECT_FALSE(json::parse(line_of(outcome, Slo())).contains("replica"));
  std::string out;
  append_outcome_line(out, 0, outcome, Slo(), {}, {.cached_tokens = true, .replica = true});
  EXPECT_NE(out.find(R"("preemptions":0,"cached_tokens":384,"replica":3,"slo_met":null})"),
            std::string::npos)
      << out;
}

TEST(OutcomeLine, ALostRequestHasNoFinish) {
  Outcome outcome = documented_outcome();
  outcome.status = OutcomeStatus::kLost;
  outcome.finish = Instant::never();
  const json line = json::parse(line_of(outcome, half_second()));
  EXPECT_EQ(line["status"], "lost");
  EXPECT_TRUE(line["finish_ns"].is_null());
  EXPECT_TRUE(line["e2e_ms"].is_null());
  EXPECT_TRUE(line["itl_ms_max"].is_null());
  EXPECT_EQ(line["ttft_ms"], 22.986111);
  EXPECT_EQ(line["slo_met"], false);
}

TEST(ReplicaLine, IsTheLineOfTheFormatDocument) {
  const ReplicaReport replica = {.index = 1,
                                 .pool = "decode",
                                 .accelerators = 2,
                                 .up = Duration::from_seconds(120),
                                 .busy_ns = 90e9,
                                 .finished = 310,
                                 .preemptions = 2,
                                 .kv_block_ns = 30'000e9,
                                 .kv_blocks = 1000,
                                 .kv_blocks_peak = 750,
                                 .queue_peak = 4};
  std::string out;
  append_replica_line(out, replica);
  EXPECT_EQ(out,
            R"({"replica":1,"pool":"decode","accelerators":2,"up_s":120.0,"busy_s":90,)"
            R"("busy_fraction":0.75,"finished":310,"preemptions":2,"prompt_tokens_looked_up":0,)"
            R"("prompt_tokens_cached":0,"prefix_hit_rate":null,"kv_blocks":1000,)"
            R"("kv_blocks_peak":750,"kv_used_mean":0.25,"kv_used_peak":0.75,"queue_peak":4})"
            "\n");
}

TEST(SignalLine, IsTheLineOfTheFormatDocument) {
  const SignalSample sample = {.at = Instant::nanos(1'000'000'000),
                               .running = 12,
                               .kv_blocks_used = 410,
                               .kv_used_fraction = 0.0151,
                               .arrived = 14,
                               .finished = 2};
  std::string out;
  append_signal_line(out, sample);
  EXPECT_EQ(out,
            R"({"t_s":1.0,"replica":0,"queue_depth":0,"running":12,"kv_blocks_used":410,)"
            R"("kv_used_fraction":0.0151,"arrived":14,"finished":2,"refused":0,"preemptions":0})"
            "\n");
}

TEST(SignalLine, WithoutKvBlocksTheFractionIsNull) {
  std::string out;
  append_signal_line(out, {.at = Instant::nanos(1), .kv_used_fraction = kNaN});
  EXPECT_TRUE(json::parse(out)["kv_used_fraction"].is_null());
  EXPECT_EQ(json::parse(out)["t_s"], 1e-9);
}

}  // namespace
}  // namespace inferscale

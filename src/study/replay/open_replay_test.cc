// Replays against the runs that were recorded, and against logs written by hand.

#include "study/replay/open_replay.h"

#include <gtest/gtest.h>

#include <set>

#include "admission/policy_test_support.h"
#include "admission/registry.h"
#include "study/replay/replay_test_support.h"

namespace inferscale {
namespace {

// Two small engines with more than they can take, from four tenants.
std::string run_with(const std::string& admission, const std::string& more = {}, int replicas = 2) {
  return "deployment:\n"
         "  model: llama-3.1-8b\n"
         "  hardware: h100-sxm\n"
         "  replicas: " +
         std::to_string(replicas) +
         "\n"
         "  engine: {max_num_seqs: 6, kv_cache_tokens: 12000, prefix_caching: true}\n"
         "workload:\n"
         "  requests: 250\n"
         "  arrivals: {process: gamma, cv: 2, rate_rps: 12}\n"
         "  prompt_tokens: {distribution: lognormal, mean: 900, cv: 1}\n"
         "  output_tokens: {distribution: lognormal, mean: 200, cv: 1}\n"
         "  prefixes:\n"
         "    tenants: 4\n"
         "    system_prompt_tokens: {distribution: constant, value: 256}\n"
         "  conversations:\n"
         "    turns: {distribution: constant, value: 2}\n"
         "    think_time: {distribution: constant, mean_s: 1}\n"
         "slo: {ttft_ms: 1500, itl_ms: 100}\n"
         "admission: " +
         admission + "\n" + more;
}

// Parameters with which a policy acts on this load, where its defaults do not.
std::string parameters_of(std::string_view policy) {
  if (policy == "equal_volume_shed") return "rate: 0.3";
  if (policy == "fixed_concurrency") return "limit: 3, per: tenant";
  if (policy == "kv_threshold" || policy == "dual_gate") return "threshold: 0.5";
  if (policy == "probabilistic_shed") return "signal: in_flight, low: 2, high: 12";
  if (policy == "queue_age") return "max_age_s: 0.2";
  if (policy == "queue_depth") return "max_waiting: 1, each: replica";
  if (policy == "rate_limit") return "requests: 2, window_s: 1";
  if (policy == "rules") {
    return "rules: [{when: {signal: in_flight, above: 10}, then: defer, reason: pool_full}]";
  }
  if (policy == "saturation") return "shed_below_priority: 1";
  if (policy == "token_bucket") return "capacity: 4000, refill_per_s: 500";
  if (policy == "token_budget") return "budget: 9000";
  if (policy == "wcrt") return "safety_factor: 20";
  return {};
}

std::string policy_text(std::string_view policy, const std::string& more = {}) {
  return "{policy: " + std::string(policy) + ", parameters: {" + parameters_of(policy) + "}" +
         more + "}";
}

// The same that defers where it can: held at the door, or answered to clients that come again; half
// of the traffic governed, pages that get too old.
std::string hard_text(std::string_view policy) {
  static const std::set<std::string_view> kDefer = {
      "dual_gate",  "fixed_concurrency", "kv_threshold", "queue_age", "queue_depth",
      "rate_limit", "token_bucket",      "token_budget", "wcrt"};
  const std::string parameters = parameters_of(policy);
  const std::string then =
      kDefer.contains(policy) ? (parameters.empty() ? "then: defer" : ", then: defer") : "";
  return "{policy: " + std::string(policy) + ", parameters: {" + parameters + then +
         "}, enforce: 0.5, enforce_by: session, request_ids: true, hold: {most: 20, longest_s: "
         "0.8, "
         "look_past: 4}}";
}
constexpr const char* kLate =
    "clients: {profile: openai_sdk}\n"
    "signals: {scrape_interval_s: 0.9, delay_s: 0.2, max_age_s: 0.7}\n";

// What only outcomes, ticks or single replicas of several tell.
const std::set<std::string_view> kNotInALog = {"adaptive_gradient", "aimd",
                                               "fluid_wait",        "oracle.deadline",
                                               "session_window",    "virtual_queue"};

// Replays `recorded` with its own policy: all must come out again.
OpenReplayFigures expect_repeats(const RecordedForTest& recorded, std::string_view what) {
  const Result<OpenReplayFigures> figures = replay_for_test(recorded, recorded.run);
  if (!figures) {
    ADD_FAILURE() << what << ": " << figures.error().to_string();
    return {};
  }
  EXPECT_EQ(figures->differ, 0) << what;
  EXPECT_EQ(figures->differ_else, 0) << what;
  EXPECT_EQ(figures->recorded_stale, figures->replayed_stale) << what;
  EXPECT_EQ(figures->decisions + figures->of_the_gate + figures->partly_old,
            static_cast<std::int64_t>(recorded.decisions.size()))
      << what;
  return *figures;
}

TEST(OpenReplay, TheSamePolicyDecidesTheSame) {
  std::set<std::string_view> that_refused;
  for (const PolicyEntry& entry : all_policies()) {
    const std::string_view name = entry.card.name;
    if (name == "none" || kNotInALog.contains(name)) continue;
    const int replicas = name == "saturation" ? 1 : 2;
    const RecordedForTest recorded = record_for_test(run_with(policy_text(name), {}, replicas));
    EXPECT_EQ(recorded.decisions.size(), 250U) << name;
    if (expect_repeats(recorded, name).recorded_duty.refusing > 0) that_refused.insert(name);
  }
  // A policy that never acts would be replayed alike by anything.
  for (const char* name :
       {"dual_gate", "eight_signals", "equal_volume_shed", "fixed_concurrency", "kv_threshold",
        "probabilistic_shed", "queue_age", "queue_depth", "rate_limit", "reject_all", "rules",
        "saturation", "token_bucket", "token_budget", "wcrt"}) {
    EXPECT_TRUE(that_refused.contains(name)) << name;
  }
}

TEST(OpenReplay, TheSamePolicyDecidesTheSameForTheHeldTheShadowAndOldPages) {
  std::int64_t held_again = 0;
  std::int64_t of_the_gate = 0;
  std::int64_t stale = 0;
  for (const PolicyEntry& entry : all_policies()) {
    const std::string_view name = entry.card.name;
    if (name == "none" || kNotInALog.contains(name)) continue;
    const int replicas = name == "saturation" ? 1 : 2;
    const RecordedForTest recorded = record_for_test(run_with(hard_text(name), kLate, replicas));
    const OpenReplayFigures figures = expect_repeats(recorded, name);
    EXPECT_GT(figures.shadow, 0) << name;
    EXPECT_LT(figures.shadow, figures.decisions) << name;
    held_again += figures.held_again;
    of_the_gate += figures.of_the_gate;
    stale += figures.recorded_stale;
    EXPECT_LT(figures.partly_old, figures.decisions / 10) << name;
  }
  EXPECT_GT(held_again, 100);
  EXPECT_GT(of_the_gate, 10);
  EXPECT_GT(stale, 100);
}

TEST(OpenReplay, EveryStaleRuleAndTheFallbackComeOutAgain) {
  for (const char* rule : {"ledger_fallback", "open", "closed", "last_good"}) {
    const RecordedForTest recorded = record_for_test(run_with(
        policy_text("queue_depth",
                    ", fallback: {policy: fixed_concurrency, parameters: "
                    "{limit: 7}}"),
        std::string("signals: {scrape_interval_s: 1, max_age_s: 0.5, on_stale: ") + rule + "}\n"));
    const Result<OpenReplayFigures> figures = replay_for_test(recorded, recorded.run);
    ASSERT_TRUE(figures.has_value());
    EXPECT_GT(figures->recorded_stale, 50) << rule;
    EXPECT_EQ(figures->replayed_stale, figures->recorded_stale) << rule;
    EXPECT_EQ(figures->differ + figures->differ_else, 0) << rule;
  }
}

TEST(OpenReplay, CallersWhoLeftTheHoldWereNotDecidedAbout) {
  const RecordedForTest recorded = record_for_test(
      run_with("{policy: fixed_concurrency, parameters: {limit: 3, then: defer}, hold: {most: 50}, "
               "trend: {window_s: 0}}",
               "clients: {timeout_s: 2}\n"));
  EXPECT_GT(expect_repeats(recorded, "fixed_concurrency").of_the_gate, 0);
}

TEST(OpenReplay, WhatTheTenantsLimitKeptOutWasNotAdmitted) {
  const RecordedForTest recorded =
      record_for_test(run_with(policy_text("rate_limit"), "tenants: {tenant_0: {in_flight: 2}}\n"));
  std::int64_t leased = 0;
  for (const DecisionRecord& record : recorded.decisions) {
    leased += record.decided.admitted() && !record.effective.admitted() ? 1 : 0;
  }
  ASSERT_GT(leased, 0);
  const Result<OpenReplayFigures> figures = replay_for_test(recorded, recorded.run);
  ASSERT_TRUE(figures.has_value());
  EXPECT_EQ(figures->differ + figures->differ_else, 0);
}

TEST(OpenReplay, GatesOfReplicasAreReplayedEachByItself) {
  const RecordedForTest recorded =
      record_for_test(run_with(policy_text("rate_limit", ", at: replica")));
  std::set<std::uint32_t> gates;
  for (const DecisionRecord& record : recorded.decisions) gates.insert(record.gate);
  ASSERT_EQ(gates.size(), 2U);
  const Result<OpenReplayFigures> figures = replay_for_test(recorded, recorded.run);
  ASSERT_TRUE(figures.has_value());
  EXPECT_GT(figures->recorded_duty.refusing, 0);
  EXPECT_EQ(figures->differ + figures->differ_else, 0);
}

// Logs by hand, of one signal.
struct Line {
  double in_flight = 0;
  Decision decided;
  double at_s = 0;
};

DecisionRecord record_of(const Line& line, std::uint64_t sequence) {
  DecisionRecord record{.sequence = sequence,
                        .at = Instant() + Duration::from_seconds(line.at_s),
                        .decided = line.decided,
                        .effective = line.decided,
                        .enforced = true};
  record.request.request = sequence;
  record.needed.add(Signal::kInFlight);
  record.readings[static_cast<std::size_t>(Signal::kInFlight)] = {.value = line.in_flight,
                                                                  .observed_at = record.at};
  return record;
}

GateOptions gate_of(std::string_view policy, const WrittenParameters& parameters) {
  GateOptions gate;
  gate.policy_name = policy;
  gate.policy = *read_policy_for_test(policy, parameters);
  gate.on_stale = StaleRule::kClosed;
  return gate;
}

void expect_refused(const Error& error, std::string_view policy) {
  EXPECT_NE(error.message.find("policy " + std::string(policy) + " needs "), std::string::npos)
      << error.message;
  EXPECT_NE(error.message.find("--closed-loop"), std::string::npos) << error.message;
}

TEST(OpenReplay, PoliciesThatNeedMoreThanALogAreRefused) {
  for (const std::string_view name : kNotInALog) {
    const Result<OpenReplay> replay = OpenReplay::create(gate_of(name, {}), 1);
    ASSERT_FALSE(replay.has_value()) << name;
    expect_refused(replay.error(), name);
  }
  // One that asks for single replicas only when it decides.
  const RecordedForTest recorded = record_for_test(run_with(policy_text("kv_threshold")));
  const Result<OpenReplayFigures> figures =
      replay_for_test(recorded, prepared_for_test(run_with(policy_text("saturation"))));
  ASSERT_FALSE(figures.has_value());
  expect_refused(figures.error(), "saturation");
}

TEST(OpenReplay, EveryOtherPolicyDecidesAnyLog) {
  const RecordedForTest recorded = record_for_test(run_with(policy_text("kv_threshold")));
  for (const PolicyEntry& entry : all_policies()) {
    const std::string_view name = entry.card.name;
    if (name == "none" || name == "saturation" || kNotInALog.contains(name)) continue;
    const Result<OpenReplayFigures> figures =
        replay_for_test(recorded, prepared_for_test(run_with(policy_text(name))));
    ASSERT_TRUE(figures.has_value()) << name << ": " << figures.error().to_string();
    EXPECT_EQ(figures->decisions, 250) << name;
  }
}

TEST(OpenReplay, AnEstimateThatTheRunLearnedIsNotInALog) {
  const RecordedForTest recorded = record_for_test(run_with(policy_text("kv_threshold")));
  const PreparedRun run =
      prepared_for_test(run_with(policy_text("wcrt"), "predictor: {service: fitted}\n"));
  const Result<OpenReplayFigures> figures = replay_for_test(recorded, run);
  ASSERT_FALSE(figures.has_value());
  EXPECT_NE(figures.error().message.find("service estimate"), std::string::npos);
}

TEST(OpenReplay, ATableOfRecordedAndReplayedDecisions) {
  Result<OpenReplay> replay = OpenReplay::create(gate_of("fixed_concurrency", {{"limit", "4"}}), 1);
  ASSERT_TRUE(replay.has_value());
  const Decision refused = Decision::reject(Reason::kQueueDepth);
  const std::vector<Line> lines = {{1, Decision::admit(), 0.0}, {4, Decision::admit(), 0.1},
                                   {9, refused, 0.2},           {2, refused, 0.3},
                                   {3, Decision::admit(), 0.4}, {7, Decision::admit(), 0.5}};
  std::vector<DecisionRecord> records;
  for (const Line& line : lines) records.push_back(record_of(line, records.size()));
  // Put off when it came, then decided about again, and answered by the gate in the end.
  records[5].held = true;
  records.push_back(record_of({8, Decision::admit(), 0.6}, 6));
  records.back().cause = DecisionCause::kHeld;
  records.push_back(record_of({8, Decision::defer(Reason::kHoldExpired), 0.7}, 7));
  records.back().cause = DecisionCause::kHeld;
  for (const DecisionRecord& record : records) replay->on_decision(record);
  const Result<OpenReplayFigures> figures = replay->finish();
  ASSERT_TRUE(figures.has_value());

  const DecisionKind admit;
  const DecisionKind was{Verdict::kReject, Reason::kQueueDepth};
  const DecisionKind is{Verdict::kReject, Reason::kConcurrency};
  EXPECT_EQ(figures->decisions, 7);
  EXPECT_EQ(figures->held_again, 1);
  EXPECT_EQ(figures->of_the_gate, 1);
  // 1 and 3 are admitted still; 4, 7 and the held one are not any more; 9 for another reason; 2 is
  // let in.
  const std::map<std::pair<DecisionKind, DecisionKind>, std::int64_t> table = {
      {{admit, admit}, 2}, {{admit, is}, 3}, {{was, is}, 1}, {{was, admit}, 1}};
  EXPECT_EQ(figures->table, table);
  EXPECT_EQ(figures->differ, 5);
  ASSERT_EQ(figures->first.size(), 5U);
  EXPECT_EQ(figures->first[0].recorded.sequence, 1U);
  // Of the six arrivals.
  EXPECT_EQ(figures->recorded_duty.samples, 6);
  EXPECT_EQ(figures->recorded_duty.refusing, 2);
  EXPECT_EQ(figures->replayed_duty.samples, 6);
  EXPECT_EQ(figures->replayed_duty.refusing, 3);
}

TEST(OpenReplay, APageThatWasTooOldIsNoReading) {
  GateOptions gate = gate_of("queue_depth", {{"max_waiting", "3"}});
  gate.max_age = Duration::from_seconds(1);
  Result<OpenReplay> replay = OpenReplay::create(gate, 1);
  ASSERT_TRUE(replay.has_value());
  DecisionRecord young = record_of({1, Decision::admit(), 10}, 0);
  Reading& queue = young.readings[static_cast<std::size_t>(Signal::kQueueDepth)];
  queue = {.value = 9, .observed_at = young.at - Duration::from_seconds(1)};
  DecisionRecord old = record_of({1, Decision::admit(), 10}, 1);
  old.readings[static_cast<std::size_t>(Signal::kQueueDepth)] = {
      .value = 9, .observed_at = old.at - Duration::nanos(1'000'000'001)};
  replay->on_decision(young);
  replay->on_decision(old);
  const Result<OpenReplayFigures> figures = replay->finish();
  ASSERT_TRUE(figures.has_value());
  EXPECT_EQ(figures->replayed_stale, 1);
  ASSERT_EQ(figures->first.size(), 2U);
  EXPECT_EQ(figures->first[0].replayed.reason, Reason::kQueueDepth);
  EXPECT_EQ(figures->first[1].replayed.reason, Reason::kNoSignal);
  EXPECT_EQ(figures->replayed_duty.samples, 1);
}

TEST(OpenReplay, ADecisionByThePagesOfSomeReplicasAloneIsLeftOut) {
  GateOptions gate = gate_of("queue_depth", {{"max_waiting", "3"}});
  gate.max_age = Duration::from_seconds(1);
  DecisionRecord record = record_of({1, Decision::reject(Reason::kQueueDepth), 10}, 0);
  record.needed = {Signal::kQueueDepth};
  record.readings[static_cast<std::size_t>(Signal::kQueueDepth)] = {
      .value = 0, .observed_at = record.at - Duration::from_seconds(2)};
  const auto left_out = [&](GateOptions with) {
    Result<OpenReplay> replay = OpenReplay::create(std::move(with), 2);
    CHECK(replay.has_value());
    replay->on_decision(record);
    const Result<OpenReplayFigures> figures = replay->finish();
    CHECK(figures.has_value());
    EXPECT_EQ(figures->decisions + figures->partly_old, 1);
    return figures->partly_old;
  };
  EXPECT_EQ(left_out(gate), 1);
  // The ledger's signals are never old.
  EXPECT_EQ(left_out(gate_of("fixed_concurrency", {{"limit", "4"}})), 0);
  // Pages that were too old everywhere are the stale rule's.
  record.stale = StaleRule::kClosed;
  EXPECT_EQ(left_out(gate), 0);
}

}  // namespace
}  // namespace inferscale

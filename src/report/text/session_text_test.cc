// What the text of an agents run says, and what it does not claim.

#include "report/text/session_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace inferscale {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::int64_t count_of(const std::string& text, char c) {
  return std::count(text.begin(), text.end(), c);
}

PopulationSummary population(std::int64_t count, double mean) {
  return {.count = count,
          .mean = mean,
          .p50 = mean - 1,
          .p90 = mean + 1,
          .p95 = mean + 2,
          .p99 = mean + 3,
          .max = mean + 4};
}

// All 40 sessions complete.
SessionSummary good_summary() {
  SessionSummary s;
  s.sessions = s.complete = s.sessions_met = 40;
  s.turns = s.turns_finished = s.attempts = 440;
  s.turns_met = 396;
  s.turn_attainment = 0.9;
  s.session_attainment = 1;
  s.turn_ttft_ms = population(440, 120);
  s.turn_e2e_ms = population(440, 2000);
  s.makespan_s = population(40, 300);
  s.stretch = population(40, 5);
  s.turns_with_history = 400;
  s.turns_hit = 390;
  s.history_tokens = 1'000'000;
  s.history_recomputed = 35'000;
  s.history_hit_rate = 0.965;
  s.prompt_hit_rate = 0.931;
  s.locality = 0.75;
  s.jain = 0.93;
  s.starved = 2;
  s.queue_s_max = 12.5;
  s.hbm_gb_seconds = 600;
  s.idle_gb_seconds = 200;
  s.kv_gb_peak_replica = 9.5;
  s.retention = {.resident_peak = 77'000,
                 .evicted_ttl = 1600,
                 .evicted_pressure = 3200,
                 .dropped_ended = 64'000,
                 .evictions_ttl = 3,
                 .evictions_pressure = 5};
  return s;
}

SessionFacts facts() {
  SessionFacts facts{.end = Instant() + Duration::from_seconds(100)};
  facts.slo.ttft = Duration::from_millis(500);
  return facts;
}

TEST(SessionText, BeginsWithTheVerdict) {
  SessionFacts with_budget = facts();
  with_budget.makespan = Duration::from_seconds(600);
  const std::string text =
      session_text(good_summary(), with_budget, {.title = "t", .workload = "w"});
  EXPECT_EQ(text.find("t\nw\n\n"
                      "Sessions   40 of 40 complete\n"
                      "Turns      440 of 440 finished\n"
                      "SLO        of a turn: TTFT <= 500 ms\n"
                      "           met by 90.0 % of all 440 turns\n"
                      "Budget     600 s for a session: 100.0 % of all 40 were complete within it\n"
                      "\n"),
            0U)
      << text;
  EXPECT_TRUE(says(session_text(good_summary(), facts(), {.sessions_cut = 17}),
                   "Sessions   40 of 40 complete\n           17 of them were made to end before a "
                   "call that would be too long\n"));
  EXPECT_FALSE(says(text, "latencies are of"));
  EXPECT_FALSE(says(text, "attempts"));
}

TEST(SessionText, SaysWhatLatenciesAreConditionalOn) {
  SessionSummary s = good_summary();
  s.complete = 36;
  s.failed = 3;
  s.unfinished = 1;
  s.turns_finished = 400;
  s.turns_failed = 12;
  s.turns_unreached = 25;
  const std::string text = session_text(s, facts(), {});
  EXPECT_TRUE(says(text,
                   "Sessions   36 of 40 complete, 3 failed, 1 unfinished at the end\n"
                   "Turns      400 of 440 finished, 12 failed, 3 unfinished at the end, 25 never "
                   "reached\n"
                   "           latencies are of the 400 turns that finished, makespan and stretch "
                   "of the 36 complete sessions\n"))
      << text;
  EXPECT_TRUE(says(text, "of all 440 turns: those that did not finish count against it\n"));
  EXPECT_TRUE(says(text, "           440 attempts in all; latencies count from a turn's first\n"));
}

TEST(SessionText, TablesHoldTheFigures) {
  const std::string text = session_text(good_summary(), facts(), {.replicas = 2});
  for (const char* row : {
           "  turn TTFT, ms         120   119   121   122   123   124\n",
           "  session stretch      5.00  4.00  6.00  7.00  8.00  9.00\n",
           "  KV in HBM   mean GB of all  GB x s  GB x s a session  peak GB of a replica  peak "
           "tokens\n",
           "  resident              6.00     600              15.0                  9.50        "
           "77000\n",
           "  of it idle            2.00     200              5.00\n",
           "  TTL                 1600      3\n",
           "  pressure            3200      5\n",
           "  end of its chain   64000\n",
           "Reuse      96.5 % of history tokens were found (390 of 400 turns found some); 35000 "
           "computed again\n           (dropped, left on another replica, or of a last block that "
           "was not "
           "full)\n           93.1 % of all prompt tokens, what sessions share included\n",
           "Routing    75.0 % of turns with a history went where their chain's last turn had "
           "been\n",
           "Fairness   Jain's index 0.93 of progress, 2 starved (stretch over 10 times the "
           "median), "
           "longest wait of a turn 12.5 s\n",
       }) {
    EXPECT_TRUE(says(text, row)) << row << "is not in:\n" << text;
  }
  EXPECT_FALSE(says(text, "host tier"));
  EXPECT_FALSE(says(text, "not retained"));
  // With one replica there is nowhere else to go.
  EXPECT_FALSE(says(session_text(good_summary(), facts(), {}), "Routing"));
}

TEST(SessionText, AHostTierHasATableOfItsOwn) {
  SessionSummary s = good_summary();
  s.host_gb_peak = 12;
  s.retention.offloads = 30;
  s.retention.offloaded = 480;
  s.retention.offload_ns = 2e9;
  s.retention.exposed_ns = 0.5e9;
  s.retention.restores = 20;
  s.retention.restored = 320;
  s.retention.restore_ns = 1e9;
  s.retention.dropped_recompute = 11;
  SessionFacts with_host = facts();
  with_host.host_tier = true;
  const std::string text = session_text(s, with_host, {});
  for (const char* row : {"  host tier      times  tokens     s  waited for, s\n",
                          "  offload           30     480  2.00            0.5\n",
                          "  restore           20     320  1.00           1.00\n",
                          "  peak 12.0 GB of a replica's host memory\n", "  not retained"}) {
    EXPECT_TRUE(says(text, row)) << row << "is not in:\n" << text;
  }
}

TEST(SessionText, WhatDoesNotExistIsADash) {
  SessionSummary s;
  s.sessions = s.failed = 3;
  s.turns = 12;
  s.turns_failed = 3;
  s.turns_unreached = 9;
  s.attempts = 3;
  const std::string text = session_text(s, {}, {.replicas = 2});
  EXPECT_TRUE(says(text, "Sessions   0 of 3 complete, 3 failed\n")) << text;
  EXPECT_TRUE(says(text, "latencies are of the 0 turns that finished")) << text;
  EXPECT_TRUE(says(text, "SLO        none set: turns are not judged\n"));
  EXPECT_TRUE(says(text, "  session makespan, s     -    -    -    -    -    -\n")) << text;
  EXPECT_TRUE(says(text, "Reuse      no turn that finished had a history\n"));
  EXPECT_TRUE(says(text, "Routing    - of turns"));
  EXPECT_TRUE(says(text, "Fairness   longest wait of a turn 0 s\n"));
  EXPECT_FALSE(says(text, "Jain"));
  EXPECT_FALSE(says(text, "Budget"));
  EXPECT_FALSE(says(text, "nan"));
  EXPECT_EQ(session_text({}, {}, {.title = "t", .workload = "w"}),
            "t\nw\n\nSessions   none began\n");
}

// 400 s, 300 of which come after the last session has begun.
RunSummary run_summary() {
  RunSummary run;
  run.backlog = {.verdict = BacklogVerdict::kStable, .arrivals_rps = 2};
  run.duration_s = 400;
  run.kv_used_mean = 0.003;
  run.kv_used_peak = 0.493;
  run.running_mean = 0.75;
  run.running_peak = 9;
  run.utilisation = 0.125;
  run.output_tokens = 800'000;
  run.output_tokens_per_s = 2000;
  run.accelerator_hours = 0.5;
  run.accelerator_hours_per_million_output_tokens = 0.625;
  return run;
}

TEST(SessionDeployment, SaysWhatItHasAndHowBusyItWas) {
  SessionSummary s = good_summary();
  s.prompt_tokens = 4'000'000;
  s.cached_tokens = 3'600'000;
  SessionFacts with_kv = facts();
  with_kv.kv_bytes_per_token = 131072;
  SessionContext context{.replicas = 4, .kv_tokens = 100'000, .cost_per_hour = 9};
  EXPECT_EQ(session_deployment_text(run_summary(), s, with_kv, context),
            "Time       400 s\n"
            "Steady     yes: sessions in progress grew by 0 to 0 sessions/s of 2.00 that began\n"
            "KV cache   13.1 GB, 100000 tokens a replica\n"
            "           turns that run hold 0.3 % of it on average, 49.3 % at most; with idle KV "
            "77.0 % at most\n"
            "Batch      mean 0.75 turns in all, peak 9 in a replica; replicas busy 12.5 % of the "
            "time\n"
            "Throughput 1.10 turns/s, 2000 output tokens/s; prompts of 10000 tokens/s, 1000 of "
            "them computed\n"
            "Cost       0.5 accelerator-hours, 0.625 for a million output tokens; price 9.00 an "
            "hour, 1.00 in all, 1.25 for a million output tokens\n");
  context = {.kv_of_fleet = "fast 10 blocks; slow 7 blocks"};
  const std::string text = session_deployment_text(run_summary(), s, with_kv, context);
  EXPECT_TRUE(says(text, "KV cache   fast 10 blocks; slow 7 blocks\n")) << text;
  EXPECT_TRUE(says(text, "Batch      mean 0.75 turns, peak 9; busy 12.5 % of the time\n")) << text;
  EXPECT_FALSE(says(text, "price"));
  EXPECT_FALSE(says(text, "with idle KV"));
}

TEST(SessionDeployment, SaysWhenMostOfTheTimeIsATail) {
  SessionSummary s = good_summary();
  s.times = {.last_begin_s = 100, .after_share = 0.75, .after_sessions_mean = 1.3};
  EXPECT_TRUE(says(session_deployment_text(run_summary(), s, facts(), {}),
                   "Time       400 s; 75.0 % of it lies after the last session began, with 1.30 "
                   "sessions in progress on average: rates, costs and means over time are of that "
                   "too\nSteady     yes"));
  s.times.most_turns = Instant() + Duration::from_seconds(120);
  s.times.most_turns_output_tokens_per_s = 6500;
  EXPECT_TRUE(says(session_deployment_text(run_summary(), s, facts(), {}),
                   "\n           99 % of the turns had finished by 120 s: 6500 output tokens/s\n"));
  RunSummary run = run_summary();
  run.backlog = {.verdict = BacklogVerdict::kSaturated,
                 .arrivals_rps = 2,
                 .growth_rps_low = 0.25,
                 .growth_rps_high = 0.75};
  EXPECT_TRUE(
      says(session_deployment_text(run, s, facts(), {}),
           "\nSteady     no: sessions in progress grew by 0.25 to 0.75 sessions/s of 2.00 that "
           "began, so with more sessions latencies are longer\nKV"));
  run.backlog = {.doubt = BacklogDoubt::kFewArrivals, .arrivals = 60};
  EXPECT_TRUE(says(session_deployment_text(run, s, facts(), {}),
                   "\nSteady     undecided: 60 sessions are too few to judge\nKV"));
  run.backlog.doubt = BacklogDoubt::kFilling;
  EXPECT_TRUE(says(session_deployment_text(run, s, facts(), {}),
                   "\nSteady     undecided: more sessions at the same rate would tell\nKV"));
  s.times.after_share = 0.5;
  EXPECT_TRUE(says(session_deployment_text(run_summary(), s, facts(), {}), "Time       400 s\n"));
}

TEST(SessionPlots, DrawWhatThereIs) {
  ProgramRecords records;
  std::vector<Outcome> outcomes;
  const auto at = [](double s) { return Instant() + Duration::from_seconds(s); };
  for (std::uint32_t i = 0; i < 10; ++i) {
    records.sessions.push_back({.begin = at(i), .end = at(i + 20), .calls = 1, .finished = 1});
    records.calls.push_back({.session = i,
                             .chain = i,
                             .attempts = 1,
                             .request = i,
                             .ready = at(i),
                             .status = CallStatus::kFinished});
    outcomes.push_back({.arrival = at(i), .first_token = at(i + 0.5), .finish = at(i + 5)});
  }
  const std::string text = session_plots(records, outcomes, at(28), PlotGlyphs::kAscii);
  EXPECT_TRUE(says(text, "Share of finished turns with at most this TTFT\n")) << text;
  EXPECT_TRUE(says(text, "500 ms"));
  EXPECT_TRUE(says(text, "Share of complete sessions with at most this makespan\n"));
  EXPECT_TRUE(says(text, "Over 28.0 s, left to right\n"));
  EXPECT_TRUE(says(text, "  sessions in progress  ."));
  EXPECT_TRUE(says(text, " highest mean 10.0\n")) << text;
  EXPECT_TRUE(says(text, " highest mean 5.00\n")) << text;
  EXPECT_EQ(count_of(text, '\n'), 2 * (1 + 5 + 1 + 1) + 3);
  EXPECT_EQ(session_plots({}, {}, Instant(), PlotGlyphs::kAscii), "");
  // All turns have finished by 14 s.
  EXPECT_TRUE(says(session_plots(records, outcomes, at(100), PlotGlyphs::kAscii),
                   "Over the first 14.0 of 100 s, when 99 % of the turns had finished, left to "
                   "right\n"));
}

}  // namespace
}  // namespace inferscale

// What a summary says to people besides its figures: steadiness, warm-up, trust, losses.

#include "report/text/summary_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "report/text/measurement_text.h"

namespace inferscale {
namespace {

RunSummary quiet_summary() {
  RunSummary summary;
  summary.arrived = 1000;
  summary.counted = 1000;
  summary.admitted = 1000;
  summary.finished = 1000;
  summary.ttft_ms = {
      .count = 1000, .mean = 12, .p50 = 10, .p90 = 20, .p95 = 25, .p99 = 30, .max = 31};
  summary.backlog = {.verdict = BacklogVerdict::kStable,
                     .doubt = BacklogDoubt::kNone,
                     .arrivals = 1000,
                     .arrivals_rps = 10,
                     .growth_rps = 0.01,
                     .growth_rps_low = -0.05,
                     .growth_rps_high = 0.07};
  return summary;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(SummaryText, ASteadyRunSaysSoAndHasNoMarks) {
  const std::string text = summary_text(quiet_summary(), {});
  EXPECT_TRUE(says(text,
                   "Steady     yes: the backlog grew by -0.05 to 0.07 requests/s of 10.0 "
                   "that arrived\n"))
      << text;
  EXPECT_FALSE(says(text, "*"));
  EXPECT_FALSE(says(text, "Warm-up"));
  EXPECT_FALSE(says(text, "lost"));
  EXPECT_FALSE(says(text, "Prefixes"));
  EXPECT_TRUE(measurement_notes(quiet_summary()).empty());
}

TEST(SummaryText, ASaturatedRunMarksItsFigures) {
  RunSummary summary = quiet_summary();
  summary.backlog.verdict = BacklogVerdict::kSaturated;
  summary.backlog.growth_rps_low = 1.5;
  summary.backlog.growth_rps_high = 2.5;
  const std::string text = summary_text(summary, {});
  for (const char* head : {" mean*", " p50*", " p95*", " p99*", " max*"}) {
    EXPECT_TRUE(says(text, head)) << text;
  }
  EXPECT_TRUE(says(text, "Steady*    no: the backlog grew by 1.50 to 2.50 requests/s of 10.0"));
  EXPECT_FALSE(says(text, "95 % CI"));
  const std::vector<std::string> notes = measurement_notes(summary);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(says(notes[0],
                   "Requests came faster than they were served: the backlog grew by 1.50 "
                   "to 2.50 requests/s of 10.0 that arrived."));
}

TEST(SummaryText, AnUndecidedRunSaysWhy) {
  RunSummary summary = quiet_summary();
  summary.backlog.verdict = BacklogVerdict::kUndecided;
  const auto text_with = [&](BacklogDoubt doubt) {
    summary.backlog.doubt = doubt;
    return summary_text(summary, {});
  };
  EXPECT_TRUE(says(text_with(BacklogDoubt::kFewArrivals),
                   "Steady     undecided: 1000 arrivals in the window: too few to judge\n"));
  EXPECT_TRUE(says(text_with(BacklogDoubt::kLongRequests), "undecided: the window is too short"));
  EXPECT_TRUE(says(text_with(BacklogDoubt::kFilling), "undecided: the system filled up"));
  EXPECT_TRUE(says(text_with(BacklogDoubt::kWideInterval), "grew by -0.05 to 0.07 requests/s"));
  EXPECT_FALSE(says(text_with(BacklogDoubt::kFilling), "*"));
}

TEST(SummaryText, IntervalsStandWhereTheyAreJustified) {
  RunSummary summary = quiet_summary();
  EXPECT_TRUE(says(summary_text(summary, {}), "95 % CI    none: "));
  summary.confidence.ttft_ms_mean = {.batches = 99, .low = 11.5, .high = 12.5};
  summary.confidence.ttft_ms_p95 = {.batches = 33, .low = 24, .high = 27};
  summary.confidence.e2e_ms_p95 = {.batches = 33, .low = 240, .high = 270};
  summary.confidence.goodput = {.batches = 11, .low = 0.85, .high = 0.95};
  summary.has_slo = true;
  summary.goodput = 0.9;
  const std::string text = summary_text(summary, {});
  EXPECT_TRUE(says(text,
                   "95 % CI    TTFT mean 11.5 to 12.5, p95 24.0 to 27.0 ms\n"
                   "           E2E p95 240 to 270 ms\n"))
      << text;
  EXPECT_TRUE(
      says(text, "Goodput    90.0 % of all 1000 arrivals met it (95 % CI 85.0 % to 95.0 %)"));
}

TEST(SummaryText, SaysWhatWasLeftOutAndWhatWasLost) {
  RunSummary summary = quiet_summary();
  summary.warmup_s = 12.5;
  summary.warmup_auto = true;
  summary.warmup_excluded = 100;
  summary.counted = 900;
  summary.lost = 3;
  summary.prefix_hit_rate = 0.25;
  summary.has_slo = true;
  const std::string text = summary_text(summary, {});
  EXPECT_TRUE(says(text, "Warm-up    100 that arrived before 12.5 s are left out"));
  EXPECT_TRUE(says(text, "of all 900 arrivals after the warm-up met it"));
  EXPECT_TRUE(says(text, "1000 arrived, 1000 finished, 3 lost with a replica\n"));
  EXPECT_TRUE(says(text, "Prefixes   25.0 % of the prompt tokens"));
  summary.warmup_found = false;
  ASSERT_EQ(measurement_notes(summary).size(), 1U);
  EXPECT_TRUE(says(measurement_notes(summary)[0], "auto found no end of the warm-up"));
}

TEST(SummaryPlots, AddUpTheReplicasOfAnInstant) {
  std::vector<SignalSample> signals;
  for (const double t_s : {1.0, 2.0, 3.0}) {
    for (const std::uint32_t replica : {0U, 1U, 2U}) {
      signals.push_back({.at = Instant() + Duration::from_seconds(t_s),
                         .replica = replica,
                         .queue_depth = 2,
                         .running = 10 + replica,
                         .kv_used_fraction = replica == 2 ? std::nan("") : 0.25 * (1 + replica)});
    }
  }
  const std::string text = summary_plots({}, signals, PlotGlyphs::kAscii);
  EXPECT_TRUE(says(text, "queue   ### sampled peak 6")) << text;
  EXPECT_TRUE(says(text, "batch   ### sampled peak 33"));
  EXPECT_TRUE(says(text, "sampled peak 37.5 %"));  // of the two that keep a KV cache
}

}  // namespace
}  // namespace inferscale

// What the text on admission says, and what it does not claim.

#include "report/text/admission_text.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

DecisionFigures decisions() {
  DecisionFigures d{.decisions = 1600,
                    .presented = 1500,
                    .admitted = 900,
                    .deferred = 100,
                    .rejected = 490,
                    .left = 10,
                    .held = 40,
                    .policy_decisions = 1600,
                    .policy_refusals = 700};
  d.by_reason[static_cast<std::size_t>(Reason::kQueueDepth)] = {
      .deferred = 100, .rejected = 480, .held = 40};
  d.by_reason[static_cast<std::size_t>(Reason::kLease)] = {.rejected = 10};
  d.defer_s = {.count = 120, .mean = 1.35, .p50 = 0.5, .p90 = 2, .p95 = 2.25, .p99 = 4, .max = 5};
  d.signals.push_back({.signal = Signal::kQueueDepth,
                       .decisions = 1600,
                       .known = 1200,
                       .min = 0,
                       .p50 = 4,
                       .p95 = 21,
                       .max = 23});
  return d;
}

AdmissionSummary summary() {
  AdmissionSummary s{.policy = "queue_depth", .requests = 1000, .attempts = 1500};
  s.amplification = 1.5;
  s.gave_up = 100;
  s.has_slo = true;
  s.counted = 1000;
  s.met = 612;
  s.admitted = 695;
  s.goodput = 0.612;
  s.attainment_admitted = 612.0 / 695;
  s.offered_rps = 5;
  s.goodput_rps = 3.06;
  s.arrival_window_s = 200;
  s.tokens = {.worked = {800, 200}, .useful = {600, 150}, .missed = {150, 40}, .gone = {50, 10}};
  s.decisions = decisions();
  s.threshold = SignalThreshold{.signal = Signal::kQueueDepth, .value = 8};
  s.signal_reached = Liveness::kLive;
  s.policy_acted = Liveness::kLive;
  return s;
}

TEST(AdmissionText, ShowsAttainmentOnlyBesideGoodput) {
  EXPECT_TRUE(says(admission_text(summary(), {}),
                   "Goodput    61.2 % of all 1000 requests that arrived; 88.1 % of the 695 that "
                   "were admitted\n"
                   "           3.06 requests/s of 5.00 offered, over the 200 s of arrivals\n"));
  AdmissionSummary unjudged = summary();
  unjudged.has_slo = false;
  unjudged.goodput = unjudged.attainment_admitted = unjudged.goodput_rps = std::nullopt;
  const std::string text = admission_text(unjudged, {});
  EXPECT_TRUE(says(text, "Goodput    not judged: no SLO is set\n"));
  EXPECT_FALSE(says(text, "that were admitted"));
}

TEST(AdmissionText, CountsByReasonInATable) {
  const std::string text = admission_text(summary(), {});
  EXPECT_TRUE(
      text.starts_with("Admission  policy queue_depth, simulated\n"
                       "Decisions  1500 attempts presented: 900 admitted, 100 deferred, "
                       "490 rejected, 10 left while held\n"
                       "  attempts     deferred  rejected  held\n"
                       "  queue_depth       100       480    40\n"
                       "  lease                        10\n"))
      << text;
  EXPECT_TRUE(says(text,
                   "Attempts   1500 of 1000 requests: 1.50 a request\n"
                   "           of the requests 100 gave up\n"));
  EXPECT_TRUE(says(text,
                   "Wasted     25.0 % of all tokens: 200 prompt and 50 output tokens\n"
                   "           190 of answers that missed the SLO, 60 of clients that had "
                   "gone\n"));
  EXPECT_TRUE(says(text,
                   "Put off    mean 1.35 s, p50 0.5, p95 2.25, max 5.00 (120 requests, "
                   "from the first defer on)\n"));
  EXPECT_TRUE(says(text,
                   "Signal     live: queue_depth reached its threshold of 8.00\n"
                   "Policy     live: put off or refused in 700 of its 1600 enforced "
                   "decisions\n"));
}

TEST(AdmissionText, F12_AShadowedPolicyIsNotSaidToHaveActed) {
  AdmissionSummary s = summary();
  s.enforce = 0;
  s.policy_acted = Liveness::kUnknown;
  DecisionFigures d{.presented = 50, .admitted = 50, .shadow = 50, .shadow_refusals = 20};
  d.by_reason[static_cast<std::size_t>(Reason::kQueueDepth)] = {.shadow_rejected = 20};
  s.decisions = d;
  const std::string text = admission_text(s, {});
  EXPECT_TRUE(says(text, "in shadow: nothing was enforced"));
  EXPECT_TRUE(says(text, "in shadow: 50 attempts, of which the policy would have refused 20\n"));
  EXPECT_TRUE(says(text, "Policy     unknown: no decision of its own was enforced\n"));
}

TEST(AdmissionText, APolicyThatNeverActedIsSaidToShowNothing) {
  AdmissionSummary s = summary();
  s.signal_reached = Liveness::kMarginal;
  s.policy_acted = Liveness::kInert;
  s.decisions->policy_refusals = 0;
  const std::string text = admission_text(s, {});
  EXPECT_TRUE(says(text, "Signal     marginal: queue_depth came within a tenth of its threshold"));
  EXPECT_TRUE(says(text,
                   "Policy     inert: refused nobody in 1600 enforced decisions, so this run "
                   "does not show what it does\n"));
  s.admits_all = true;
  EXPECT_TRUE(says(admission_text(s, {}), "Policy     admits everybody, by design\n"));
}

TEST(AdmissionText, ClientsWithoutADoorHaveAttemptsAndNoDecisions) {
  AdmissionSummary s = summary();
  s.decisions = std::nullopt;
  s.threshold = std::nullopt;
  const std::string text = admission_text(s, {.simulated = false});
  EXPECT_TRUE(text.starts_with("Admission  policy queue_depth\nGoodput"));
  EXPECT_TRUE(says(text, "Attempts   1500"));
  EXPECT_FALSE(says(text, "Decisions"));
  EXPECT_FALSE(says(text, "Policy "));
}

TEST(AdmissionText, FairnessIsOfTenantsAndAgents) {
  AdmissionSummary s = summary();
  s.fairness.tenants = {{.tenant = 0, .requests = 5}, {.tenant = 1, .requests = 5}};
  s.fairness.goodput_jain = 0.5;
  s.fairness.tokens_jain = 0.75;
  s.fairness.without_latency = 1;
  s.sessions = 4;
  s.sessions_complete = 1;
  s.completion = 0.25;
  EXPECT_TRUE(says(admission_text(s, {}),
                   "Fairness   Jain's index over 2 tenants: goodput 0.5, served tokens 0.75\n"
                   "           nothing finished of 1 tenant\n"
                   "Agents     1 of 4 sessions complete: 25.0 %\n"));
}

}  // namespace
}  // namespace inferscale

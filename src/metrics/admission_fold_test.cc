// From attempts to requests, worked by hand.

#include "metrics/admission_fold.h"

#include <gtest/gtest.h>

#include <cstring>

#include "metrics/admission_test_support.h"

namespace inferscale {
namespace {

const Slo kSlo = {.ttft = Duration::from_seconds(1), .itl = Duration::from_millis(100)};

Outcome folded_one(const AttemptedRequests& run) {
  const std::vector<Outcome> folded = fold_attempts(run.attempts, run.clients, kSlo);
  EXPECT_EQ(folded.size(), run.clients.requests.size());
  return folded.front();
}

TEST(AdmissionFold, RequestsOfOneAttemptAreTheirAttempts) {
  AttemptedRequests run;
  run.add(0, finished_at(0, 0.1, 0.2, 3));
  run.add(1, attempt_at(1, OutcomeStatus::kRefused, Reason::kQueueDepth));
  run.add(2, attempt_at(2, OutcomeStatus::kDeferred, Reason::kQueueAge));
  run.add(3, attempt_at(3));
  run.of(1).status = run.of(2).status = RequestStatus::kGaveUp;
  const std::vector<Outcome> folded = fold_attempts(run.attempts, run.clients, kSlo);
  ASSERT_EQ(folded.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::memcmp(&folded[i], &run.attempts[i], sizeof(Outcome)), 0) << i;
  }
}

TEST(AdmissionFold, ARetriedRequestCountsFromItsFirstAttempt) {
  AttemptedRequests run;
  run.add(0, attempt_at(1, OutcomeStatus::kDeferred, Reason::kQueueDepth));
  run.add(0, attempt_at(2, OutcomeStatus::kRefused, Reason::kQueueFull));
  run.add(0, finished_at(4, 4.1, 4.5, 6));
  const Outcome request = folded_one(run);
  EXPECT_EQ(request.status, OutcomeStatus::kFinished);
  EXPECT_EQ(request.reason, Reason::kNone);
  EXPECT_EQ(request.queue_time(), Duration::from_seconds(3.1));
  EXPECT_EQ(request.ttft(), Duration::from_seconds(3.5));
  EXPECT_EQ(request.e2e(), Duration::from_seconds(5));
  EXPECT_FALSE(slo_met(kSlo, request));
  EXPECT_TRUE(slo_met(kSlo, run.attempts[2]));  // what the engine alone would claim
}

TEST(AdmissionFold, AResumedStreamIsOneAnswerWithAStallInIt) {
  AttemptedRequests run;
  Outcome broken = finished_at(1, 1.1, 1.2, 1.5);
  broken.output_tokens = 4;
  broken.itl_max = Duration::from_millis(150);
  broken.gaps_over_limit = 1;
  broken.cached_tokens = 32;
  broken.preemptions = 65535;
  run.add(0, broken);
  Outcome resumed = finished_at(2, 2.1, 2.3, 2.9);
  resumed.prompt_tokens = 104;
  resumed.output_tokens = 6;
  resumed.itl_max = Duration::from_millis(90);
  resumed.cached_tokens = 96;
  resumed.preemptions = 1;
  run.add(0, resumed);
  run.of(0).first_token = at(1.2);
  run.of(0).resumed_tokens = 4;
  const Outcome request = folded_one(run);
  EXPECT_TRUE(request.finished());
  EXPECT_EQ(request.start, at(1.1));
  EXPECT_EQ(request.first_token, at(1.2));
  EXPECT_EQ(request.finish, at(2.9));
  EXPECT_EQ(request.prompt_tokens, 100U);
  EXPECT_EQ(request.cached_tokens, 32U);
  EXPECT_EQ(request.output_tokens, 10U);
  EXPECT_EQ(request.itl_max, Duration::from_millis(800));  // from 1.5 s to 2.3 s
  EXPECT_EQ(request.gaps_over_limit, 2U);                  // its own, and the break
  EXPECT_EQ(request.preemptions, 65535U);
}

TEST(AdmissionFold, ABrokenStreamThatIsTriedAnewCountsItsLastFirstToken) {
  AttemptedRequests run;
  Outcome broken = finished_at(1, 1.1, 1.2, 1.5);
  broken.output_tokens = 4;
  broken.itl_max = Duration::from_millis(700);
  run.add(0, broken);
  run.add(0, finished_at(2, 2.1, 2.3, 2.9));
  const Outcome request = folded_one(run);
  EXPECT_EQ(request.ttft(), Duration::from_seconds(1.3));
  EXPECT_EQ(request.output_tokens, 10U);
  EXPECT_EQ(request.itl_max, Duration());
}

TEST(AdmissionFold, WhatAnEngineFinishedForNobodyIsAbandoned) {
  AttemptedRequests run;  // the client left without closing: the engine went on
  run.add(0, finished_at(1, 1.1, 60, 70));
  run.of(0).status = RequestStatus::kTimedOut;
  Outcome request = folded_one(run);
  EXPECT_EQ(request.status, OutcomeStatus::kAbandoned);
  EXPECT_EQ(request.reason, Reason::kClientGone);
  EXPECT_EQ(request.finish, Instant::never());
  EXPECT_FALSE(slo_met({.e2e = Duration::from_seconds(100)}, request));
  run.of(0).status = RequestStatus::kGaveUp;  // its stream broke, and it did not come again
  request = folded_one(run);
  EXPECT_EQ(request.status, OutcomeStatus::kAbandoned);
  EXPECT_EQ(request.reason, Reason::kStreamBroken);
}

TEST(AdmissionFold, TheLateEndOfAnAttemptThatWasLeftIsNotTheRequests) {
  AttemptedRequests run;
  run.add(0, finished_at(1, 1.1, 9, 20));  // left at 5 s without closing
  run.add(0, finished_at(5, 5.5, 5.8, 8));
  const Outcome request = folded_one(run);
  EXPECT_EQ(request.first_token, at(5.8));
  EXPECT_EQ(request.finish, at(8));
}

TEST(AdmissionFold, WhoWentElsewhereOrWaitsStillIsNotFinished) {
  AttemptedRequests run;
  run.add(0, attempt_at(1, OutcomeStatus::kRefused, Reason::kPoolFull));
  run.of(0).status = RequestStatus::kElsewhere;
  run.add(1, attempt_at(2, OutcomeStatus::kDeferred, Reason::kQueueDepth));  // will come again
  run.add(2, attempt_at(3, OutcomeStatus::kLost, Reason::kReplicaFailed));
  run.of(2).status = RequestStatus::kGaveUp;
  const std::vector<Outcome> folded = fold_attempts(run.attempts, run.clients, kSlo);
  EXPECT_EQ(folded[0].status, OutcomeStatus::kRefused);
  EXPECT_EQ(folded[0].reason, Reason::kPoolFull);
  EXPECT_EQ(folded[1].status, OutcomeStatus::kUnfinished);
  EXPECT_EQ(folded[1].reason, Reason::kNone);
  EXPECT_EQ(folded[2].status, OutcomeStatus::kLost);
}

// Calls of two sessions: the second session's is ready first.
TEST(AdmissionFold, CallsOfProgramsAreRequests) {
  ProgramRecords programs;
  programs.calls.resize(3);
  programs.calls[0].ready = at(2);
  programs.calls[0].request = 2;
  programs.calls[0].status = CallStatus::kFinished;
  programs.calls[2].ready = at(1);  // calls[1] was never reached
  programs.calls[2].request = 1;
  programs.calls[2].status = CallStatus::kFailed;
  programs.call_of = {2, 2, 0};
  const std::vector<Outcome> attempts = {
      attempt_at(1, OutcomeStatus::kDeferred, Reason::kQueueDepth),
      attempt_at(1.5, OutcomeStatus::kRefused, Reason::kQueueDepth), finished_at(3, 3.1, 3.2, 4)};
  const ClientRecords clients = client_records_of(programs, attempts);
  EXPECT_EQ(clients.request_of, (std::vector<std::uint32_t>{0, 0, 1}));
  ASSERT_EQ(clients.requests.size(), 2U);
  EXPECT_EQ(clients.requests[0].attempts, 2U);
  EXPECT_EQ(clients.requests[0].deferred, 1U);
  EXPECT_EQ(clients.requests[0].rejected, 1U);
  EXPECT_EQ(clients.requests[0].status, RequestStatus::kGaveUp);
  const std::vector<Outcome> folded = fold_attempts(attempts, clients, kSlo);
  EXPECT_EQ(folded[0].arrival, at(1));
  EXPECT_EQ(folded[0].status, OutcomeStatus::kRefused);
  EXPECT_EQ(folded[1].ttft(), Duration::from_seconds(1.2));  // from ready, not from its attempt
}

}  // namespace
}  // namespace inferscale

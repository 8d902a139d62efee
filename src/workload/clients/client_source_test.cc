// Clients around a workload, worked by hand.

#include "workload/clients/client_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "workload/clients/clients_test_support.h"

namespace inferscale {
namespace {

constexpr std::int64_t kNever = Instant::never().ns();
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr Answer kOverloaded{.status = 529, .retry_after = {}};
constexpr Answer kTooMany{.status = 429, .retry_after = {}};

// Clients that wait `wait_ns` before each retry.
ClientOptions steady(std::int64_t most, std::int64_t wait_ns) {
  ClientOptions options;
  options.most_retries = most;
  const double wait_s = static_cast<double>(wait_ns) * 1e-9;
  options.backoff = {.base_s = wait_s, .factor = 1, .cap_s = wait_s, .jitter = {}};
  return options;
}

ClientOptions named(const std::string& profile) {
  const SourcePosition here{"run.yaml", 1};
  ConfigNode node = ConfigNode::map(here);
  EXPECT_TRUE(node.set_path("clients.profile", ConfigNode::scalar(profile, false, here)));
  ConfigSession session;
  ConfigReader root(node, session);
  ClientOptions options = read_clients(root);
  EXPECT_FALSE(session.failed());
  return options;
}

TEST(ClientSource, ARequestIsPresentedAgainUntilItIsServed) {
  ClientDoor door({request_at(10), request_at(1000)}, steady(3, 50));
  EXPECT_EQ(door.source().size(), 2U);
  Request request = door.take();
  EXPECT_EQ(request.arrival.ns(), 10);
  EXPECT_EQ(request.attempt, 0U);
  EXPECT_EQ(request.first_attempt, 0U);
  door.answer(0, 20, kOverloaded);
  request = door.take();
  EXPECT_EQ(request.arrival.ns(), 70);
  EXPECT_EQ(request.attempt, 1U);
  EXPECT_EQ(request.first_attempt, 0U);
  EXPECT_EQ(request.prompt_tokens, 100U);
  EXPECT_EQ(request.output_tokens, 8U);
  door.answer(1, 75, {.status = 503, .retry_after = {}});
  request = door.take();
  EXPECT_EQ(request.arrival.ns(), 125);
  EXPECT_EQ(request.id, 2U);
  EXPECT_EQ(request.first_attempt, 0U);
  door.finish(2, 400, 300);
  request = door.take();
  EXPECT_EQ(request.arrival.ns(), 1000);
  EXPECT_EQ(request.first_attempt, 3U);
  EXPECT_EQ(door.next_at(), kNever);

  const ClientRecords records = door.records(2000);
  EXPECT_EQ(records.request_of, (std::vector<std::uint32_t>{0, 0, 0, 1}));
  ASSERT_EQ(records.requests.size(), 2U);
  const RequestRecord& first = records.requests[0];
  EXPECT_EQ(first.first_arrival.ns(), 10);
  EXPECT_EQ(first.last_attempt, 2U);
  EXPECT_EQ(first.attempts, 3U);
  EXPECT_EQ(first.rejected, 1U);
  EXPECT_EQ(first.deferred, 1U);
  EXPECT_EQ(first.waited.ns(), 50 + 50);
  EXPECT_EQ(first.first_token.ns(), 300);
  EXPECT_EQ(first.status, RequestStatus::kFinished);
  EXPECT_EQ(records.requests[1].status, RequestStatus::kUnfinished);
}

TEST(ClientSource, TheTimeToADeadlineIsTheSameOverAllAttempts) {
  ClientDoor door({request_at(10)}, steady(5, 37));
  std::int64_t now = 0;
  for (RequestId id = 0; id < 6; ++id) {
    const Request request = door.take();
    EXPECT_EQ((request.arrival - request.spent).ns(), 10);
    now = request.arrival.ns() + 5 * id;
    door.answer(id, now, kOverloaded);
  }
  EXPECT_EQ(door.next_at(), kNever);
  const RequestRecord record = door.records(now).requests[0];
  EXPECT_EQ(record.status, RequestStatus::kGaveUp);
  EXPECT_EQ(record.attempts, 6U);
}

TEST(ClientSource, ArrivalsOfTheWorkloadKeepTheirSchedule) {
  std::vector<Request> requests;
  for (std::int64_t i = 0; i < 20; ++i) requests.push_back(request_at(10 * i));
  ClientDoor door(requests, steady(2, 13));
  std::vector<std::int64_t> first_arrivals;
  while (door.next_at() != kNever) {
    const Request request = door.take();
    if (request.attempt == 0) first_arrivals.push_back(request.arrival.ns());
    door.answer(request.id, request.arrival.ns(), kOverloaded);
  }
  ASSERT_EQ(first_arrivals.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(first_arrivals[i], requests[i].arrival.ns());
}

// A call of an agent launches 40 sub-calls at once. Each is refused once, then served.
struct Burst {
  std::vector<std::int64_t> retries;  // when
  std::size_t attempts = 0;
};

Burst play_burst(const ClientOptions& options, std::optional<Duration> retry_after) {
  ClientDoor door(std::vector<Request>(40, request_at(0)), options);
  Burst burst;
  while (door.next_at() != kNever) {
    const Request request = door.take();
    ++burst.attempts;
    if (request.attempt == 0) {
      door.answer(request.id, request.arrival.ns(), {.status = 529, .retry_after = retry_after});
    } else {
      burst.retries.push_back(request.arrival.ns());
      door.finish(request.id, request.arrival.ns());
    }
  }
  EXPECT_EQ(door.records(100 * kSecond).requests.size(), 40U);
  return burst;
}

TEST(ClientSource, ABurstOf40BecomesOneOf80WithImmediateRetries) {
  const Burst burst = play_burst(named("immediate_retry"), Duration::from_seconds(2));
  EXPECT_EQ(burst.attempts, 80U);
  EXPECT_EQ(burst.retries, std::vector<std::int64_t>(40, 0)) << "all within the same instant";
}

TEST(ClientSource, RetryAfterWithoutJitterMovesTheBurst) {
  const Burst burst = play_burst(named("retry_after"), Duration::from_seconds(2));
  EXPECT_EQ(burst.retries, std::vector<std::int64_t>(40, 2 * kSecond));
}

TEST(ClientSource, RetryAfterWithJitterSpreadsTheBurstOverTheWindow) {
  const Burst burst = play_burst(named("retry_after_jitter"), Duration::from_seconds(2));
  EXPECT_EQ(burst.attempts, 80U);
  ASSERT_EQ(burst.retries.size(), 40U);
  EXPECT_TRUE(std::is_sorted(burst.retries.begin(), burst.retries.end()));
  EXPECT_GE(burst.retries.front(), 2 * kSecond) << "nobody comes before it was told";
  EXPECT_LE(burst.retries.back(), 4 * kSecond);
  // Kolmogorov-Smirnov against the uniform distribution on [2 s, 4 s], at 1 %: 1.63 / sqrt(40).
  double distance = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    const double expected = static_cast<double>(burst.retries[i] - 2 * kSecond) / (2.0 * kSecond);
    distance = std::max({distance, std::abs(static_cast<double>(i + 1) / 40 - expected),
                         std::abs(static_cast<double>(i) / 40 - expected)});
  }
  EXPECT_LT(distance, 1.63 / std::sqrt(40.0));
}

// Nothing is ever served: how many attempts a call becomes.
std::uint32_t attempts_of_a_call(const ClientOptions& options, int status) {
  ClientDoor door({request_at(0)}, options);
  while (door.next_at() != kNever) {
    const Request request = door.take();
    door.answer(request.id, request.arrival.ns(), {.status = status, .retry_after = {}});
  }
  return door.records(1000 * kSecond).requests[0].attempts;
}

TEST(ClientSource, AnSdkBehindARouterMultipliesACallBy15) {
  ClientOptions options = named("openai_sdk");
  EXPECT_EQ(attempts_of_a_call(options, 503), 3U);
  options.router = RouterRetryOptions{.attempts = 5, .backoff = {.base_s = 0.05, .factor = 1.5}};
  EXPECT_EQ(attempts_of_a_call(options, 503), 15U);
  EXPECT_EQ(attempts_of_a_call(options, 529), 3U) << "the router passes it on";
  EXPECT_EQ(attempts_of_a_call(named("router_5_attempts"), 503), 5U);
}

TEST(ClientSource, A429EndsATurnOfCodex) {
  EXPECT_EQ(attempts_of_a_call(named("codex_cli"), 429), 1U);
  EXPECT_EQ(attempts_of_a_call(named("codex_cli"), 503), 5U);
  EXPECT_EQ(attempts_of_a_call(named("cline"), 429), 3U);
  EXPECT_EQ(attempts_of_a_call(named("cline"), 503), 1U);
  EXPECT_EQ(attempts_of_a_call(named("openhands"), 429), 5U);
  EXPECT_EQ(attempts_of_a_call(named("claude_code"), 529), 11U);
  EXPECT_EQ(attempts_of_a_call(named("gives_up"), 503), 1U);
}

TEST(ClientSource, ARouterTriesAgainOnlyWithinItsClientsPatience) {
  ClientOptions options = steady(1, 40);
  options.timeout = Duration::nanos(100);
  options.router = RouterRetryOptions{
      .attempts = 3, .backoff = {.base_s = 60e-9, .factor = 1, .cap_s = 60e-9, .jitter = {}}};
  ClientDoor door({request_at(0)}, options);
  door.take();
  EXPECT_EQ(door.next_leave(), 100);
  door.answer(0, 20, kTooMany);
  EXPECT_EQ(door.next_leave(), kNever);
  EXPECT_EQ(door.next_at(), 80) << "the router's";
  EXPECT_EQ(door.take().attempt, 1U);
  EXPECT_EQ(door.next_leave(), 100) << "the client knows of one try, since 0";
  door.answer(1, 90, kTooMany);
  // The router would come at 150: its client leaves at 100, and tries again at 140.
  EXPECT_EQ(door.next_at(), 140);
  door.take();
  EXPECT_EQ(door.next_leave(), 240);
  door.answer(2, 150, kTooMany);
  EXPECT_EQ(door.take().arrival.ns(), 210);
  EXPECT_EQ(door.next_leave(), 240);
  EXPECT_EQ(door.take_leaver(), 3U);
  door.end(3, 241, OutcomeStatus::kAbandoned);
  EXPECT_EQ(door.next_at(), kNever);
  const RequestRecord record = door.records(300).requests[0];
  EXPECT_EQ(record.status, RequestStatus::kTimedOut);
  EXPECT_EQ(record.left, 1U);
  EXPECT_EQ(record.waited.ns(), 60 + 50 + 60);
}

TEST(ClientSource, AClientThatClosesComesAgainBehindItsTimeout) {
  ClientOptions options = steady(1, 30);
  options.timeout = Duration::nanos(100);
  ClientDoor door({request_at(0)}, options);
  door.take();
  EXPECT_EQ(door.next_at(), kNever);
  EXPECT_EQ(door.next_leave(), 100);
  EXPECT_EQ(door.take_leaver(), 0U);
  EXPECT_EQ(door.next_leave(), kNever);
  door.end(0, 112, OutcomeStatus::kAbandoned);  // at the end of its step
  EXPECT_EQ(door.next_at(), 130);
  const Request again = door.take();
  EXPECT_EQ(again.spent.ns(), 130);
  door.finish(1, 229);
  const RequestRecord record = door.records(300).requests[0];
  EXPECT_EQ(record.status, RequestStatus::kFinished);
  EXPECT_EQ(record.left, 1U);
  EXPECT_EQ(record.waited.ns(), 30);
}

TEST(ClientSource, AClientThatDoesNotCloseHasTwoAttemptsInFlight) {
  ClientOptions options = steady(1, 30);
  options.timeout = Duration::nanos(100);
  options.closes = false;
  ClientDoor door({request_at(0)}, options);
  door.take();
  EXPECT_EQ(door.next_leave(), kNever);
  EXPECT_EQ(door.next_at(), 130);
  door.take();
  EXPECT_EQ(door.next_at(), kNever);
  door.finish(0, 180);  // for nobody
  door.finish(1, 190, 170);
  const RequestRecord record = door.records(300).requests[0];
  EXPECT_EQ(record.status, RequestStatus::kFinished);
  EXPECT_EQ(record.last_attempt, 1U);
  EXPECT_EQ(record.first_token.ns(), 170);
  EXPECT_EQ(record.left, 1U);
}

TEST(ClientSource, AnAnswerInTimeUndoesARetryBehindATimeout) {
  ClientOptions options = steady(1, 30);
  options.timeout = Duration::nanos(100);
  options.closes = false;
  ClientDoor door({request_at(0), request_at(0), request_at(0)}, options);
  for (int i = 0; i < 3; ++i) door.take();
  door.finish(0, 99);
  door.finish(1, 100);  // too late: its client goes at this instant
  door.finish(2, 101);
  EXPECT_EQ(door.take().first_attempt, 1U);
  EXPECT_EQ(door.take().first_attempt, 2U);
  EXPECT_EQ(door.next_at(), kNever);
  const ClientRecords records = door.records(200);
  EXPECT_EQ(records.requests[0].status, RequestStatus::kFinished);
  EXPECT_EQ(records.requests[0].left, 0U);
  EXPECT_EQ(records.requests[1].status, RequestStatus::kUnfinished);
  EXPECT_EQ(records.requests[1].left, 1U);
}

TEST(ClientSource, ABudgetCapsTheRetries) {
  // Half as many retries as requests, and one more: of 8 refused calls of a tenant, 5 come again.
  ClientOptions options = steady(10, 1000);
  options.budget = RetryBudgetOptions{.share = 0.5, .reserve = 1};
  std::vector<Request> requests(8, request_at(0));
  requests.push_back(request_at(0));
  requests.back().tenant = 3;  // has a budget of its own: 1.5
  ClientDoor door(requests, options);
  std::vector<std::uint32_t> retries;
  while (door.next_at() != kNever) {
    const Request request = door.take();
    if (request.attempt > 0) retries.push_back(request.first_attempt);
    door.answer(request.id, request.arrival.ns(), kOverloaded);
  }
  EXPECT_EQ(retries, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 8}));
  for (const RequestRecord& record : door.records(9999).requests) {
    EXPECT_EQ(record.status, RequestStatus::kGaveUp);
  }
}

TEST(ClientSource, AClientMayParkOrGoElsewhereAfter529) {
  ClientOptions options = steady(2, 10);
  options.after_529 = After529::kPark;
  options.park = Duration::nanos(700);
  ClientDoor parking({request_at(0)}, options);
  parking.take();
  parking.answer(0, 5, {.status = 529, .retry_after = Duration::nanos(3)});
  EXPECT_EQ(parking.take().arrival.ns(), 705);
  parking.answer(1, 710, kTooMany);
  EXPECT_EQ(parking.next_at(), 720);

  options.after_529 = After529::kElsewhere;
  ClientDoor going({request_at(0)}, options);
  going.take();
  going.answer(0, 5, kTooMany);
  going.take();
  going.answer(1, 20, kOverloaded);
  EXPECT_EQ(going.next_at(), kNever);
  EXPECT_EQ(going.records(30).requests[0].status, RequestStatus::kElsewhere);
}

ClientOptions breaking(AfterBrokenStream then) {
  ClientOptions options = steady(50, 10);
  options.stream_failures = {.probability = 1, .then = then};
  return options;
}

TEST(ClientSource, AResumedStreamKeepsItsTokens) {
  ClientDoor door({request_at(0, 64)}, breaking(AfterBrokenStream::kResume));
  std::uint32_t kept = 0;
  std::int64_t now = 0;
  RequestId last = 0;
  while (door.next_at() != kNever) {
    const Request request = door.take();
    EXPECT_EQ(request.prompt_tokens, 100 + kept);
    EXPECT_EQ(request.max_tokens, 65 - kept);
    now = request.arrival.ns() + request.output_tokens;
    kept += request.output_tokens;
    last = request.id;
    door.finish(request.id, now, request.arrival.ns() + 1);
  }
  EXPECT_EQ(kept, 64U) << "each token is made once";
  ASSERT_GT(last, 1U);
  const RequestRecord record = door.records(now).requests[0];
  EXPECT_EQ(record.status, RequestStatus::kFinished);
  EXPECT_EQ(record.broken, last);
  EXPECT_EQ(record.attempts, last + 1);
  EXPECT_EQ(record.first_token.ns(), 1) << "of the stream that broke first";
  EXPECT_LT(record.resumed_tokens, 64U);
  EXPECT_GT(record.resumed_tokens, 0U);
}

TEST(ClientSource, ARetriedStreamMakesItsTokensAgain) {
  ClientDoor door({request_at(0, 64)}, breaking(AfterBrokenStream::kRetry));
  Request request;
  for (int i = 0; i < 51; ++i) {
    request = door.take();
    EXPECT_EQ(request.prompt_tokens, 100U);
    EXPECT_LT(request.output_tokens, 64U);
    EXPECT_EQ(request.max_tokens, 65U);
    door.finish(request.id, request.arrival.ns() + 5, request.arrival.ns() + 1);
  }
  EXPECT_EQ(door.next_at(), kNever);
  const RequestRecord record = door.records(9999).requests[0];
  EXPECT_EQ(record.status, RequestStatus::kGaveUp);
  EXPECT_EQ(record.broken, 51U);
  EXPECT_EQ(record.resumed_tokens, 0U);
  EXPECT_EQ(record.first_token, request.arrival + Duration::nanos(1)) << "of the last one";
}

TEST(ClientSource, ABrokenStreamIsNotThePieceOfALaterPrompt) {
  std::vector<Request> requests = {request_at(0, 64)};
  requests[0].output_is_content = true;
  ClientDoor door(requests, breaking(AfterBrokenStream::kResume));
  while (true) {
    const Request request = door.take();
    const bool whole = request.prompt_tokens + request.output_tokens == 164;
    EXPECT_EQ(request.output_is_content, whole);
    if (whole) break;
    door.finish(request.id, request.arrival.ns() + 1);
  }
}

TEST(ClientSource, ALostReplicaIsABrokenConnection) {
  ClientOptions options = steady(1, 10);
  ClientDoor door({request_at(0)}, options);
  door.take();
  door.end(0, 5, OutcomeStatus::kLost);
  EXPECT_EQ(door.next_at(), 15);
  options.retried.on_broken = false;
  ClientDoor other({request_at(0)}, options);
  other.take();
  other.end(0, 5, OutcomeStatus::kLost);
  EXPECT_EQ(other.next_at(), kNever);
  EXPECT_EQ(other.records(10).requests[0].broken, 1U);
}

// A session of 8 calls at once, of which some are answered with 429.
TEST(ClientSource, ASessionHalvesItsCallsInFlightAfter429AndRecovers) {
  ClientOptions options = steady(5, 10);
  options.halve_after_429 = true;
  std::vector<Request> requests(8, request_at(0, 8, 4));
  requests.push_back(request_at(12, 8, 5));  // of another session: as ever
  ClientDoor door(requests, options);
  for (int i = 0; i < 8; ++i) door.take();
  door.answer(0, 1, kTooMany);  // 8 in flight: at most 4 from now on
  door.answer(1, 2, kTooMany);  // of the same burst: no news
  EXPECT_EQ(door.take().first_attempt, 8U) << "not the two retries, due at 11 and 12";
  EXPECT_EQ(door.next_at(), kNever) << "6 in flight";
  door.answer(2, 13, kOverloaded);
  door.answer(3, 13, kOverloaded);
  EXPECT_EQ(door.next_at(), kNever) << "4 in flight, at most 4";
  door.finish(4, 20);  // 3 in flight, at most 5
  EXPECT_EQ(door.take().first_attempt, 0U);
  EXPECT_EQ(door.take().first_attempt, 1U);
  EXPECT_EQ(door.next_at(), kNever) << "5 in flight, and the retries of 2 and 3 wait";
  door.finish(5, 30);  // 4 in flight, at most 6
  const Request freed = door.take();
  EXPECT_EQ(freed.first_attempt, 2U);
  EXPECT_EQ(freed.arrival.ns(), 30);
  EXPECT_EQ(freed.spent.ns(), 30);
  EXPECT_EQ(door.take().first_attempt, 3U);
  door.answer(9, 31, kTooMany);  // 6 in flight, presented behind the last halving: at most 3
  EXPECT_EQ(door.next_at(), kNever);
  door.finish(6, 32);  // 4 in flight, at most 4
  EXPECT_EQ(door.next_at(), kNever);
  door.finish(7, 33);  // 3 in flight, at most 5
  EXPECT_EQ(door.next_at(), 41);
}

TEST(ClientSource, AttemptsThatTheirClientHasLeftCountForItsLimitUntilTheyEnd) {
  ClientOptions options = steady(1, 1);
  options.halve_after_429 = true;
  options.timeout = Duration::nanos(50);
  options.closes = false;
  ClientDoor door({request_at(0, 8, 0), request_at(0, 8, 0), request_at(60, 8, 0)}, options);
  door.take();
  door.take();
  door.answer(0, 1, kTooMany);  // at most 1, and one is in flight
  EXPECT_EQ(door.next_at(), kNever);
  door.finish(1, 100);  // for nobody since 50
  const Request request = door.take();
  EXPECT_EQ(request.first_attempt, 0U);
  EXPECT_EQ(request.arrival.ns(), 100);
  EXPECT_EQ(door.next_at(), kNever);
  door.finish(request.id, 110);  // one in flight less, at most 2
  EXPECT_EQ(door.take().first_attempt, 1U);
  EXPECT_EQ(door.take().arrival.ns(), 110) << "the one that was to arrive at 60";
  EXPECT_EQ(door.records(120).requests[1].left, 1U);
}

TEST(ClientSourceDeathTest, RefusesWhatCannotBe) {
  ClientDoor door({request_at(0)}, steady(0, 1));
  EXPECT_DEATH(door.finish(0, 5), "never made");
  door.take();
  EXPECT_DEATH(door.answer(0, 5, {}), "status 200");
  EXPECT_DEATH(door.take_leaver(), "nobody leaves");
  door.finish(0, 5);
  EXPECT_DEATH(door.finish(0, 6), "ended twice");
}

}  // namespace
}  // namespace inferscale

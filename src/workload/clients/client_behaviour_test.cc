// What clients do next, against waits reckoned by hand.

#include "workload/clients/client_behaviour.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace inferscale {
namespace {

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

Outcome refused() {
  Outcome outcome;
  outcome.status = OutcomeStatus::kRefused;
  outcome.reason = Reason::kQueueDepth;
  return outcome;
}

constexpr Instant kNow = Instant::nanos(7'000);

struct Waits {
  std::vector<double> seconds;  // before each retry, until it gives up
  std::vector<double> millis() const {
    std::vector<double> rounded;
    for (const double wait : seconds) rounded.push_back(std::round(wait * 1e6) / 1e3);
    return rounded;
  }
  double total = 0;
};

Waits waits_of(const ClientOptions& options, int status, std::uint64_t request = 0,
               std::optional<Duration> retry_after = std::nullopt) {
  const ClientBehaviour behaviour(options, 5);
  Waits waits;
  ClientProgress progress{.request = request};
  while (true) {
    const ClientStep step = behaviour.after_end(
        progress, refused(), {.status = status, .retry_after = retry_after}, kNow);
    if (step.next != NextStep::kRetry) return waits;
    waits.seconds.push_back((step.at - kNow).seconds());
    waits.total += waits.seconds.back();
    ++progress.attempt;
    ++progress.retries;
  }
}

TEST(ClientBehaviour, BacksOffByHalfASecondDoubledUpTo8AsTheSdksDo) {
  ClientOptions options = named("openai_sdk");
  options.most_retries = 6;
  std::vector<double> least(6, 100);
  std::vector<double> most(6, 0);
  for (std::uint64_t request = 0; request < 500; ++request) {
    const Waits waits = waits_of(options, 503, request);
    ASSERT_EQ(waits.seconds.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) {
      least[i] = std::min(least[i], waits.seconds[i]);
      most[i] = std::max(most[i], waits.seconds[i]);
    }
  }
  // 0.5 x 2^n, at most 8 s, x (0.75..1): both ends are nearly reached.
  const std::vector<double> full = {0.5, 1, 2, 4, 8, 8};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_GE(least[i], 0.75 * full[i]);
    EXPECT_LT(least[i], 0.76 * full[i]);
    EXPECT_LE(most[i], full[i]);
    EXPECT_GT(most[i], 0.99 * full[i]);
  }
}

TEST(ClientBehaviour, CodexGivesUpAfterAbout3Seconds) {
  double sum = 0;
  for (std::uint64_t request = 0; request < 400; ++request) {
    const Waits waits = waits_of(named("codex_cli"), 503, request);
    ASSERT_EQ(waits.seconds.size(), 4U);
    EXPECT_GE(waits.total, 0.9 * 3.0);
    EXPECT_LE(waits.total, 1.1 * 3.0);
    sum += waits.total;
  }
  EXPECT_NEAR(sum / 400, 3.0, 0.03);
  EXPECT_TRUE(waits_of(named("codex_cli"), 429).seconds.empty()) << "its turn is over";
}

TEST(ClientBehaviour, AiderDoublesFromAnEighthOfASecondWithoutJitter) {
  EXPECT_EQ(waits_of(named("aider"), 429).millis(),
            (std::vector<double>{125, 250, 500, 1000, 2000, 4000, 8000, 16'000, 32'000}));
  EXPECT_EQ(waits_of(named("openhands"), 503).millis(),
            (std::vector<double>{8'000, 16'000, 32'000, 64'000}));
  EXPECT_EQ(waits_of(named("router_5_attempts"), 429).millis(),
            (std::vector<double>{50, 75, 112.5, 168.75}));
}

TEST(ClientBehaviour, TakesARetryAfterUpToItsLongest) {
  const auto first_ms = [](const ClientOptions& options, double told_s) {
    const Waits waits = waits_of(options, 503, 0, Duration::from_seconds(told_s));
    return waits.seconds.empty() ? -1 : waits.millis()[0];
  };
  EXPECT_EQ(first_ms(named("openai_sdk"), 60), 60'000);
  EXPECT_LE(first_ms(named("openai_sdk"), 60.001), 500) << "its own back-off";
  ClientOptions newest = named("openai_sdk");
  newest.retry_after.longest = Duration::from_seconds(120);
  newest.retry_after.gives_up_beyond = true;
  EXPECT_EQ(first_ms(newest, 120), 120'000);
  EXPECT_EQ(first_ms(newest, 121), -1) << "no retry at all";
  EXPECT_EQ(first_ms(named("claude_code"), 3600), 3'600'000);
  EXPECT_EQ(first_ms(named("aider"), 60), 125) << "ignored";
}

TEST(ClientBehaviour, OnlyARetriedStatusIsTriedAgain) {
  ClientOptions options = named("retry_after");
  EXPECT_TRUE(waits_of(options, 400).seconds.empty()) << "it can never be served";
  EXPECT_FALSE(waits_of(options, 500).seconds.empty());
  EXPECT_FALSE(waits_of(options, 0).seconds.empty()) << "a broken connection";
  options.retried.on_other_5xx = false;
  EXPECT_TRUE(waits_of(options, 502).seconds.empty());
  EXPECT_FALSE(waits_of(options, 503).seconds.empty());
  EXPECT_FALSE(waits_of(options, 529).seconds.empty());
  options.retried.on_503 = false;
  options.retried.on_529 = false;
  EXPECT_TRUE(waits_of(options, 503).seconds.empty());
  EXPECT_TRUE(waits_of(options, 529).seconds.empty());
}

// Whatever becomes of other attempts, an attempt's draw is its own.
TEST(ClientBehaviour, DrawsAreKeyedByRequestAndAttempt) {
  const ClientBehaviour behaviour(named("backoff"), 5);
  const auto at = [&](const ClientBehaviour& of, std::uint64_t request, std::uint32_t attempt) {
    // The number of retries is the same, so that only the draw differs.
    return of
        .after_end({.request = request, .attempt = attempt}, refused(),
                   {.status = 503, .retry_after = {}}, kNow)
        .at;
  };
  std::set<Instant> waits;
  for (std::uint64_t request = 0; request < 50; ++request) {
    for (std::uint32_t attempt = 0; attempt < 50; ++attempt) {
      waits.insert(at(behaviour, request, attempt));
    }
  }
  EXPECT_GT(waits.size(), 2490U) << "of 2,500 draws of whole nanoseconds below a second";
  EXPECT_EQ(at(behaviour, 3, 4), at(ClientBehaviour(named("backoff"), 5), 3, 4));
  EXPECT_NE(at(behaviour, 3, 4), at(ClientBehaviour(named("backoff"), 6), 3, 4));
}

TEST(ClientBehaviour, StreamsBreakAsOftenAsTheySay) {
  ClientOptions options = named("gives_up");
  EXPECT_EQ(ClientBehaviour(options, 1).breaks_after(0, 0, 100), 0U);
  options.stream_failures.probability = 0.2;
  const ClientBehaviour behaviour(options, 1);
  int broken = 0;
  double tokens = 0;
  for (std::uint64_t request = 0; request < 20'000; ++request) {
    const std::uint32_t after = behaviour.breaks_after(request, 0, 101);
    ASSERT_LT(after, 101U);
    broken += after > 0 ? 1 : 0;
    tokens += after;
  }
  // Means with their deviations: 4,000 +- 57 of them, 50.5 +- 0.46 tokens.
  EXPECT_NEAR(broken, 4000, 4 * 57);
  EXPECT_NEAR(tokens / broken, 50.5, 4 * 0.46);
  options.stream_failures.probability = 1;
  EXPECT_EQ(ClientBehaviour(options, 1).breaks_after(0, 0, 1), 0U) << "there is no half of it";
  EXPECT_EQ(ClientBehaviour(options, 1).breaks_after(0, 0, 2), 1U);
}

TEST(ClientBehaviour, AfterAFullQueueOrALossOnly) {
  ClientOptions options;
  options.most_retries = 1;
  options.only_full_queue_or_lost = true;
  const ClientBehaviour behaviour(options, 1);
  const auto next = [&](OutcomeStatus status, Reason reason) {
    Outcome outcome;
    outcome.status = status;
    outcome.reason = reason;
    return behaviour.after_end({}, outcome, {}, kNow).next;
  };
  EXPECT_EQ(next(OutcomeStatus::kRefused, Reason::kQueueFull), NextStep::kRetry);
  EXPECT_EQ(next(OutcomeStatus::kLost, Reason::kNone), NextStep::kRetry);
  EXPECT_EQ(next(OutcomeStatus::kRefused, Reason::kExceedsModelLen), NextStep::kGiveUp);
  EXPECT_EQ(next(OutcomeStatus::kRefused, Reason::kRateLimit), NextStep::kGiveUp);
}

}  // namespace
}  // namespace inferscale

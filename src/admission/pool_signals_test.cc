// The signals of a pool: aggregation, age, windows, and how the ledger corrects a page.

#include "admission/pool_signals.h"

#include <gtest/gtest.h>

#include <vector>

namespace inferscale {
namespace {

Instant at(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

class Pool {
 public:
  explicit Pool(std::uint32_t replicas = 1, bool corrections = true)
      : signals_({.replicas = replicas,
                  .max_age = Duration::from_seconds(5),
                  .rate_window = Duration::from_seconds(2),
                  .corrections = corrections,
                  .service = {}}) {}

  PoolSignals& signals() { return signals_; }
  Reading read(Signal signal, double now, CallerKey tenant = kNoCaller) const {
    return signals_.read(signal, {.tenant = tenant}, {}, at(now), false);
  }
  double value(Signal signal, double now) const {
    const Reading reading = read(signal, now);
    EXPECT_TRUE(reading.is_known()) << spec_of(signal).name;
    return reading.value;
  }
  std::uint64_t dispatch(double now, TokenCount prompt = 100, std::uint32_t replica = 0) {
    const std::uint64_t ticket =
        signals_.ledger().admit({.prompt_tokens = prompt}, at(now), false, true);
    signals_.dispatched(ticket, replica, at(now));
    return ticket;
  }

 private:
  PoolSignals signals_;
};

EngineReading page(double observed_at, double queue, double running, double kv,
                   TokenCount capacity = 10'000) {
  return {.observed_at = at(observed_at),
          .queue_depth = queue,
          .running = running,
          .kv_used_fraction = kv,
          .kv_capacity_tokens = capacity};
}

TEST(PoolSignals, F2FractionsOfReplicasAreAveragedNotSummed) {
  Pool pool(2);
  pool.signals().observe(0, page(1, 3, 8, 0.6));
  pool.signals().observe(1, page(1, 5, 8, 0.6));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kKvUsedFraction, 1), 0.6);  // a sum of 1.2 would be unknown
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1), 8);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kRunning, 1), 16);
}

TEST(PoolSignals, FreeTokensAreThoseOfTheEmptiestReplica) {
  Pool pool(2);
  pool.signals().observe(0, page(1, 0, 8, 0.9));
  pool.signals().observe(1, page(1, 0, 8, 0.25));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kKvFreeTokens, 1), 7500);
}

TEST(PoolSignals, UnknownIsNeverZero) {
  Pool pool;
  for (const SignalSpec& spec : all_signals()) {
    if (spec.origin == SignalOrigin::kLedger) continue;
    EXPECT_FALSE(pool.read(spec.signal, 1).is_known()) << spec.name;
  }
  // The ledger's: nothing waits, so nobody has an age; nobody came, so there is no rate.
  EXPECT_FALSE(pool.read(Signal::kQueueAgeS, 1).is_known());
  EXPECT_FALSE(pool.read(Signal::kArrivalRate, 1).is_known());
  EXPECT_FALSE(pool.read(Signal::kTenantInFlight, 1).is_known());  // no tenant, no count
  EXPECT_DOUBLE_EQ(pool.value(Signal::kInFlight, 1), 0);           // counted, and none
}

TEST(PoolSignals, R2_5_OutOfRangeIsUnknownNotClamped) {
  Pool pool;
  pool.signals().observe(0, page(1, -1, 8, 57.0));  // a page in percent
  EXPECT_FALSE(pool.read(Signal::kKvUsedFraction, 1).is_known());
  EXPECT_FALSE(pool.read(Signal::kKvFreeTokens, 1).is_known());
  EXPECT_FALSE(pool.read(Signal::kQueueDepth, 1).is_known());
  EXPECT_TRUE(pool.read(Signal::kRunning, 1).is_known());
}

TEST(PoolSignals, AgeIsJudgedForEachReplica) {
  Pool pool(2);
  pool.signals().observe(0, page(0, 10, 8, 0.2));
  pool.signals().observe(1, page(4, 3, 8, 0.8));
  // At 6 s the first page is 6 s old: the pool is judged by the other one, scaled to both.
  EXPECT_DOUBLE_EQ(pool.value(Signal::kKvUsedFraction, 6), 0.8);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 6), 6);
  EXPECT_TRUE(pool.signals().is_fresh(Signal::kQueueDepth, at(6)));
  EXPECT_FALSE(pool.signals().is_fresh(Signal::kQueueDepth, at(9.5)));
  EXPECT_FALSE(pool.read(Signal::kQueueDepth, 9.5).is_known());
  EXPECT_TRUE(pool.signals().is_fresh(Signal::kInFlight, at(1e6)));  // the ledger is never old
}

TEST(PoolSignals, F4AWindowedRateMovesWhereALifetimeRatioDoesNot) {
  Pool pool;
  const auto counters = [](double observed_at, double queries, double hits) {
    EngineReading reading = page(observed_at, 0, 0, 0);
    reading.prefix_queries = queries;
    reading.prefix_hits = hits;
    return reading;
  };
  pool.signals().observe(0, counters(0, 1e9, 0.9e9));             // a long good past
  EXPECT_FALSE(pool.read(Signal::kPrefixHitRate, 0).is_known());  // one page makes no rate
  pool.signals().observe(0, counters(1, 1e9 + 1000, 0.9e9 + 100));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kPrefixHitRate, 1), 0.1);  // the lifetime ratio is 0.9
  pool.signals().observe(0, counters(2, 500, 450));              // the engine began anew
  EXPECT_DOUBLE_EQ(pool.value(Signal::kPrefixHitRate, 2), 550.0 / 1500.0);
}

TEST(PoolSignals, NobodyLookedUpIsNoHitRate) {
  Pool pool;
  for (const double time : {0.0, 1.0}) {
    EngineReading reading = page(time, 0, 0, 0);
    reading.prefix_queries = 1000;
    reading.prefix_hits = 500;
    pool.signals().observe(0, reading);
  }
  EXPECT_FALSE(pool.read(Signal::kPrefixHitRate, 1).is_known());
}

TEST(PoolSignals, CallsInsideOneScrapeIntervalSeeEachOther) {
  Pool pool;
  pool.signals().observe(0, page(1, 0, 0, 0.1));
  for (int i = 0; i < 40; ++i) {
    EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.01), i);
    EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1.01), 0.1 + 0.01 * i, 1e-12);
    pool.dispatch(1.01);
  }
}

TEST(PoolSignals, ThoseOnTheirWayToAReplicaAreSeenToo) {
  Pool pool(2);
  pool.signals().observe(0, page(1, 3, 8, 0.2));
  pool.signals().observe(1, page(1, 2, 8, 0.2));
  std::vector<std::uint64_t> tickets;
  for (int i = 0; i < 4; ++i) {
    tickets.push_back(pool.signals().ledger().admit({.prompt_tokens = 500}, at(1.01), false, true));
  }
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.01), 9);
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1.01), 0.2 + 2000 / 20'000.0, 1e-12);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kKvFreeTokens, 1.01), 6000);
  pool.signals().dispatched(tickets[0], 0, at(1.02));  // counted once, wherever it is
  pool.signals().end(tickets[1], 0, at(1.02));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.02), 8);
}

TEST(PoolSignals, WithoutCorrectionsTheyDoNot) {
  Pool pool(1, false);
  pool.signals().observe(0, page(1, 0, 0, 0.1));
  for (int i = 0; i < 40; ++i) pool.dispatch(1.01);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.02), 0);
}

TEST(PoolSignals, ThePageThatShowsADispatchIsNotCorrectedByIt) {
  Pool pool;
  pool.signals().observe(0, page(1, 0, 0, 0));
  pool.dispatch(1.05);
  pool.signals().observe(0, page(1.1, 1, 0, 0));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.15), 1);
}

TEST(PoolSignals, APageOnItsWayDoesNotHideWhatCameMeanwhile) {
  Pool pool;
  pool.signals().observe(0, page(1, 0, 0, 0));
  pool.dispatch(1.05);
  pool.dispatch(1.2);
  pool.signals().observe(0, page(1.1, 1, 0, 0));  // known at 1.3 only
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.3), 2);
}

TEST(PoolSignals, FirstTokensTakeFromTheQueueOnceThePrefillsAreThrough) {
  Pool pool;
  const std::uint64_t in_prefill = pool.dispatch(0.5);
  const std::uint64_t queued = pool.dispatch(0.6);
  pool.signals().observe(0, page(1, 1, 1, 0));  // one in its prefill, one behind it
  pool.signals().first_token(in_prefill, at(1.1));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.1), 1);
  pool.signals().first_token(queued, at(1.2));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.2), 0);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kRunning, 1.2), 2);
  pool.signals().end(in_prefill, 10, at(1.3));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kRunning, 1.3), 1);
}

TEST(PoolSignals, WhatEndedGivesItsKvBack) {
  Pool pool;
  const std::uint64_t ticket = pool.dispatch(0.5, 1000);
  pool.signals().first_token(ticket, at(0.6));
  pool.signals().observe(0, page(1, 0, 1, 0.5));
  pool.signals().end(ticket, 200, at(1.1));
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1.1), 0.5 - 1200 / 10'000.0, 1e-12);
  // One that came and went between two pages leaves no trace.
  const std::uint64_t brief = pool.dispatch(1.2, 300);
  pool.signals().first_token(brief, at(1.3));
  pool.signals().end(brief, 50, at(1.4));
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1.4), 0.38, 1e-12);
}

TEST(PoolSignals, WhatWaitsInTheEngineWillTakeKv) {
  Pool pool;
  const std::uint64_t in_prefill = pool.dispatch(0.5, 400);
  const std::uint64_t first = pool.dispatch(0.6, 400);
  const std::uint64_t second = pool.dispatch(0.7, 400);
  pool.signals().observe(0, page(1, 2, 1, 0.04));  // holds the first prompt; two are behind it
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1), 0.04 + 2 * 0.04, 1e-12);
  pool.dispatch(1.1, 500);
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1.1), 0.17, 1e-12);
  pool.signals().first_token(in_prefill, at(1.2));  // it moves from the queue to the batch
  pool.signals().first_token(first, at(1.3));
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1.3), 0.17, 1e-12);
  pool.signals().end(first, 0, at(1.4));
  pool.signals().end(second, 0, at(1.4));  // given up before it began
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1.4), 0.09, 1e-12);
}

// A page on its way: who waited when it was written is not who waits when it comes.
TEST(PoolSignals, TheQueueOfALatePageIsThatOfItsInstant) {
  Pool pool;
  pool.signals().observe(0, page(0.1, 0, 0, 0));
  const std::uint64_t early = pool.dispatch(0.5, 1000);
  pool.dispatch(1.2, 3000);                     // not on the page
  pool.signals().first_token(early, at(1.25));  // was on it
  pool.signals().observe(0, page(1, 1, 0, 0));
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1.3), 0.1 + 0.3, 1e-12);
}

TEST(PoolSignals, AQueueOfOthersIsTakenToBeLikeOurs) {
  Pool pool;
  pool.dispatch(0.5, 100);
  pool.signals().observe(0, page(1, 5, 0, 0.1));
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1), 0.1 + 5 * 0.01, 1e-12);
}

TEST(PoolSignals, NobodyOfOursWaitsNothingIsKnownOfTheQueue) {
  Pool pool;
  pool.signals().observe(0, page(1, 5, 0, 0.1));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kKvUsedFraction, 1), 0.1);
}

TEST(PoolSignals, OneThatIsNotStreamedLeavesTheQueueWhenItEnds) {
  Pool pool;
  pool.signals().observe(0, page(1, 0, 2, 0.1));
  RequestView whole{.prompt_tokens = 500, .streamed = false};
  const std::uint64_t ticket = pool.signals().ledger().admit(whole, at(1.1), false, true);
  pool.signals().dispatched(ticket, 0, at(1.1));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.1), 1);
  pool.signals().end(ticket, 20, at(1.2));
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1.2), 0);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kRunning, 1.2), 2);
  EXPECT_NEAR(pool.value(Signal::kKvUsedFraction, 1.2), 0.1, 1e-12);
}

TEST(PoolSignals, QueueAgeIsLessTheEstimatedPrefill) {
  Pool pool;
  pool.signals().service() = {
      .step_ns = 5e6, .prefill_ns_per_token = 1e5, .provenance = ServiceProvenance::kCatalogue};
  pool.dispatch(1, 2000);  // 2000 x 0.1 ms + 5 ms
  EXPECT_NEAR(pool.value(Signal::kQueueAgeS, 1.5), 0.5 - 0.205, 1e-9);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueAgeS, 1.1), 0);
}

TEST(PoolSignals, ArrivalRateIsOfTheWindow) {
  Pool pool;
  for (int i = 0; i < 100; ++i) pool.signals().arrived(at(0.1 * i));  // 10 a second
  EXPECT_NEAR(pool.value(Signal::kArrivalRate, 9.95), 10, 1.1);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kArrivalRate, 30), 0);
}

TEST(PoolSignals, AReplicaThatIsAwayIsNotRead) {
  Pool pool(2);
  pool.signals().observe(0, page(1, 4, 0, 0.2));
  pool.signals().observe(1, page(1, 9, 0, 0.9));
  pool.signals().set_available(1, false);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kQueueDepth, 1), 4);
  EXPECT_DOUBLE_EQ(pool.value(Signal::kKvUsedFraction, 1), 0.2);
}

TEST(PoolSignals, FullReplicasAreThoseWithAQueueOrWithoutKv) {
  Pool pool(4);
  pool.signals().observe(0, page(1, 0, 8, 0.5));
  pool.signals().observe(1, page(1, 2, 8, 0.5));
  pool.signals().observe(2, page(1, 0, 8, 0.99));
  EXPECT_NEAR(pool.value(Signal::kReplicasFullFraction, 1), 2 / 3.0, 1e-12);  // one is unknown
}

TEST(GateViewDeathTest, ReadingWhatWasNotDeclaredStops) {
  Pool pool;
  const GateView view(pool.signals(), {}, {Signal::kInFlight}, at(1), false);
  EXPECT_TRUE(view.read(Signal::kInFlight).is_known());
  EXPECT_DEATH((void)view.read(Signal::kQueueDepth), "queue_depth");
}

}  // namespace
}  // namespace inferscale

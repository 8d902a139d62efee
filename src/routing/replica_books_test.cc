// Each scenario is worked through by hand from the table in replica_books.h.

#include "routing/replica_books.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace inferscale {
namespace {

Request request_of(RequestId id, std::uint32_t prompt_tokens = 100, std::uint32_t max_tokens = 50) {
  return {.id = id, .prompt_tokens = prompt_tokens, .max_tokens = max_tokens};
}

Instant at(std::int64_t seconds) {
  return Instant::nanos(seconds * 1'000'000'000);
}

ReplicaBooks books_of(const BooksOptions& options, const ReplicaTraits& traits = {}) {
  ReplicaBooks books(options);
  books.add_replica(traits);
  return books;
}

ReplicaSignals queue_reading(Instant observed_at, std::int64_t queue_depth, std::int64_t running) {
  return {.observed_at = observed_at, .queue_depth = queue_depth, .running = running};
}

double load(ReplicaBooks& books) {
  return books.key(0).load;
}

TEST(ReplicaBooks, CountsWhatIsInFlightWhileNothingWasRead) {
  ReplicaBooks books = books_of({});
  EXPECT_EQ(load(books), 0);
  books.dispatched(0, request_of(1), at(1));
  books.dispatched(0, request_of(2), at(2));
  books.finished(0, 1, at(3));
  EXPECT_EQ(load(books), 1);
}

TEST(ReplicaBooks, DividesByTheWeight) {
  ReplicaBooks books = books_of({}, {.weight = 4});
  for (RequestId id = 0; id < 6; ++id) books.dispatched(0, request_of(id), at(1));
  EXPECT_EQ(load(books), 1.5);
}

TEST(ReplicaBooks, CorrectsAReadingByWhatHappenedAfterItWasObserved) {
  ReplicaBooks books = books_of({.readings_have_age = true});
  books.dispatched(0, request_of(1), at(1));
  books.dispatched(0, request_of(2), at(3));
  books.dispatched(0, request_of(3), at(4));
  books.finished(0, 1, at(5));
  // Observed at 3 and arrived now: dispatches at 1 and at the very instant 3 are in it.
  books.observe(0, queue_reading(at(3), 5, 2));
  EXPECT_EQ(load(books), 5 + 2 + 1 - 1);
  books.dispatched(0, request_of(4), at(6));
  EXPECT_EQ(load(books), 8);
  books.observe(0, queue_reading(at(6), 1, 1));
  EXPECT_EQ(load(books), 2);
}

TEST(ReplicaBooks, TakesAFreshReadingAsOfItsArrival) {
  ReplicaBooks books = books_of({});
  books.dispatched(0, request_of(1), at(1));
  books.observe(0, queue_reading(at(1), 0, 3));
  EXPECT_EQ(load(books), 3);
  books.dispatched(0, request_of(2), at(1));
  EXPECT_EQ(load(books), 4);
}

TEST(ReplicaBooks, LeavesReadingsAloneWithoutCorrections) {
  ReplicaBooks books = books_of({.corrections = false, .readings_have_age = true});
  books.dispatched(0, request_of(1), at(1));
  EXPECT_EQ(load(books), 1) << "without a reading the books count";
  books.observe(0, queue_reading(at(2), 4, 4));
  books.dispatched(0, request_of(2), at(3));
  EXPECT_EQ(load(books), 8);
}

TEST(ReplicaBooks, NeverFallsBelowNothing) {
  ReplicaBooks books = books_of({});
  books.dispatched(0, request_of(1), at(1));
  books.observe(0, queue_reading(at(2), 0, 0));
  books.finished(0, 1, at(3));
  EXPECT_EQ(load(books), 0);
}

TEST(ReplicaBooks, GoesByTheBooksWhereASignalIsUnknownOrOutOfRange) {
  ReplicaBooks books = books_of({});
  books.dispatched(0, request_of(1), at(1));
  books.observe(0, {.observed_at = at(2), .queue_depth = 9});
  EXPECT_EQ(load(books), 1) << "running is unknown";
  books.observe(0, queue_reading(at(2), -1, 5));
  EXPECT_EQ(load(books), 1) << "a negative queue is no queue";
  books.observe(0, queue_reading(at(2), 9, 5));
  EXPECT_EQ(load(books), 14);
  books.observe(0, {});
  EXPECT_EQ(load(books), 1) << "the reading is too old";
}

TEST(ReplicaBooks, AReadingOlderThanTheKeptEventsIsCorrectedByThoseOnly) {
  ReplicaBooks books = books_of({.readings_have_age = true});
  const auto events = static_cast<RequestId>(ReplicaBooks::kMostEvents);
  for (RequestId id = 0; id < events + 100; ++id) books.dispatched(0, request_of(id), at(2));
  books.observe(0, queue_reading(at(1), 0, 0));
  EXPECT_EQ(load(books), static_cast<double>(events));
}

TEST(ReplicaBooks, TokensOfARequestFromBeforeTheReadingLeaveWithItsShare) {
  ReplicaBooks books = books_of({.measure = LoadMeasure::kTokens, .readings_have_age = true});
  books.dispatched(0, request_of(1, 100, 50), at(1));
  books.dispatched(0, request_of(2, 300, 50), at(1));
  EXPECT_EQ(load(books), 500);
  ReplicaSignals reading = queue_reading(at(2), 1, 1);
  reading.tokens_in_flight = 240;
  books.observe(0, reading);
  EXPECT_EQ(load(books), 240);
  books.dispatched(0, request_of(3, 10, 5), at(3));
  EXPECT_EQ(load(books), 255);
  books.finished(0, 3, at(4));
  EXPECT_EQ(load(books), 240) << "dispatched after the reading: as much as it had added";
  books.finished(0, 1, at(5));
  EXPECT_EQ(load(books), 120) << "there at the reading: half of 240";
  books.finished(0, 2, at(6));
  EXPECT_EQ(load(books), 0);
}

TEST(ReplicaBooks, ALateReadingKnowsWhichRequestsItCounted) {
  ReplicaBooks books = books_of({.measure = LoadMeasure::kTokens, .readings_have_age = true});
  books.dispatched(0, request_of(1, 100, 50), at(1));
  books.dispatched(0, request_of(2, 300, 50), at(3));
  books.finished(0, 1, at(4));
  books.finished(0, 2, at(5));
  // Observed at 2, when only request 1 was there, with 90 tokens to go.
  ReplicaSignals reading = queue_reading(at(2), 0, 1);
  reading.tokens_in_flight = 90;
  books.observe(0, reading);
  EXPECT_EQ(load(books), 0) << "90 + 350 - 90 - 350";
}

TEST(ReplicaBooks, AWaitIsTokensTimesTheTimeOfOne) {
  ReplicaBooks books = books_of({.measure = LoadMeasure::kWait}, {.weight = 8, .token_ns = 1000});
  books.dispatched(0, request_of(1, 100, 50), at(1));
  EXPECT_EQ(load(books), 150'000) << "the weight is no part of a wait";
}

TEST(ReplicaBooks, CorrectsTheKvCacheByPromptsOverItsSize) {
  ReplicaBooks books =
      books_of({.measure = LoadMeasure::kKv}, {.weight = 2, .kv_cache_tokens = 1000});
  books.dispatched(0, request_of(1, 100), at(1));
  EXPECT_EQ(load(books), 0.1) << "nothing was read: the prompts in flight";
  books.observe(0, {.observed_at = at(2), .kv_used_fraction = 0.5});
  EXPECT_EQ(load(books), 0.5);
  books.dispatched(0, request_of(2, 250), at(3));
  EXPECT_EQ(load(books), 0.75);
  books.finished(0, 1, at(4));
  EXPECT_EQ(load(books), 0.5 + 0.15);
  EXPECT_EQ(books.key(0).next_load, 0.5) << "ties go by requests over weight";
}

TEST(ReplicaBooks, AKvCacheOfWhichNothingIsKnownComesBehindAllOthers) {
  ReplicaBooks books(BooksOptions{.measure = LoadMeasure::kKv});
  books.add_replica({});
  books.add_replica({});
  books.observe(1, {.observed_at = at(1), .kv_used_fraction = 0.99});
  EXPECT_EQ(books.key(0).load, std::numeric_limits<double>::infinity());
  EXPECT_EQ(books.least(), 1u);
  books.observe(1, {.observed_at = at(2), .kv_used_fraction = 1.01});
  EXPECT_EQ(books.least(), 0u) << "more than everything is unknown";
  books.observe(1, {.observed_at = at(2), .kv_used_fraction = std::nan("")});
  EXPECT_EQ(books.least(), 0u);
  books.observe(1, {.observed_at = at(3), .kv_used_fraction = 0.3});
  books.dispatched(1, request_of(1, 100), at(4));
  EXPECT_EQ(books.key(1).load, 0.3) << "prompts can't be turned into a part of an unknown size";
}

TEST(ReplicaBooks, StartsAnewWhenToldTo) {
  ReplicaBooks books = books_of({.readings_have_age = true});
  books.dispatched(0, request_of(1), at(1));
  books.observe(0, queue_reading(at(2), 7, 1));
  books.finished(0, 1, at(3));
  books.forget(0);
  EXPECT_EQ(load(books), 0);
  books.dispatched(0, request_of(1), at(4));
  EXPECT_EQ(load(books), 1) << "the same request may be dispatched again";
}

TEST(ReplicaBooks, LeavesOutReplicasThatAreNotAvailable) {
  ReplicaBooks books(BooksOptions{});
  for (int i = 0; i < 3; ++i) books.add_replica({});
  books.set_available(0, false);
  EXPECT_EQ(books.least(), 1u);
  books.dispatched(1, request_of(1), at(1));
  books.dispatched(2, request_of(2), at(1));
  books.dispatched(0, request_of(3), at(1));
  books.finished(0, 3, at(2));
  EXPECT_EQ(books.least(), 1u) << "a change of its load does not bring it back";
  books.set_available(0, true);
  EXPECT_EQ(books.least(), 0u);
}

TEST(ReplicaBooksDeathTest, StopsAtBooksThatCannotBeRight) {
  ReplicaBooks requests = books_of({});
  EXPECT_DEATH(requests.finished(0, 1, at(1)), "more requests ended on replica 0");
  EXPECT_DEATH(requests.observe(1, {}), "no replica 1 of 1");
  requests.dispatched(0, request_of(1), at(1));
  EXPECT_DEATH(requests.forget(0), "1 requests are in flight on replica 0");
  EXPECT_DEATH(requests.add_replica({.weight = 0}), "a replica of weight 0");
  ReplicaBooks tokens(BooksOptions{.measure = LoadMeasure::kTokens});
  tokens.add_replica({});
  tokens.add_replica({});
  tokens.dispatched(0, request_of(1), at(1));
  EXPECT_DEATH(tokens.dispatched(1, request_of(1), at(1)), "the key 1 is in the table already");
  EXPECT_DEATH(tokens.finished(1, 1, at(1)), "dispatched to replica 0 and ended on 1");
  EXPECT_DEATH(tokens.finished(0, 2, at(1)), "request 2 ended without having been dispatched");
  EXPECT_DEATH(books_of({.measure = LoadMeasure::kWait}), "the time of a token is 0 ns");
}

}  // namespace
}  // namespace inferscale

// Which requests are refused at arrival, at the very edges of each rule (docs/schedulers).

#include <gtest/gtest.h>

#include "replica/replica.h"

namespace inferscale {
namespace {

Request request(std::uint32_t prompt, std::uint32_t output) {
  return {.prompt_tokens = prompt, .output_tokens = output, .max_tokens = output};
}

constexpr auto kNone = Reason::kNone;
constexpr auto kModelLen = Reason::kExceedsModelLen;
constexpr auto kKvCache = Reason::kExceedsKvCache;
constexpr auto kQueueFull = Reason::kQueueFull;

TEST(Refusal, ModelLenCountsPromptAndRequestedOutput) {
  const ReplicaOptions options{.kv_blocks = 1000, .max_model_len = 100};
  EXPECT_EQ(refusal_of(options, request(60, 40), 0), kNone);
  EXPECT_EQ(refusal_of(options, request(60, 41), 0), kModelLen);
  EXPECT_EQ(refusal_of(options, request(61, 40), 0), kModelLen);
}

TEST(Refusal, RequestedOutputCountsNotTheActualOne) {
  const ReplicaOptions options{.kv_blocks = 10, .max_model_len = 100};  // 160 tokens
  Request asks_for_more = request(60, 10);
  asks_for_more.max_tokens = 41;
  EXPECT_EQ(refusal_of(options, asks_for_more, 0), kModelLen);
}

TEST(Refusal, TheLastTokenNeedsNoPlaceInAGrowingCache) {
  // 5 blocks of 16 are 80 tokens; of 50 + 31 tokens the last is never written.
  const ReplicaOptions options{.kv_blocks = 5, .max_model_len = 1000};
  EXPECT_EQ(refusal_of(options, request(50, 31), 0), kNone);
  EXPECT_EQ(refusal_of(options, request(50, 32), 0), kKvCache);
  EXPECT_EQ(refusal_of(options, request(80, 1), 0), kNone);
  EXPECT_EQ(refusal_of(options, request(81, 1), 0), kKvCache);
}

TEST(Refusal, AStaticBatchReservesThePlaceOfTheLastToken) {
  const ReplicaOptions options{
      .scheduler = SchedulerKind::kStaticFcfs, .kv_blocks = 5, .max_model_len = 1000};
  EXPECT_EQ(refusal_of(options, request(50, 30), 0), kNone);
  EXPECT_EQ(refusal_of(options, request(50, 31), 0), kKvCache);
}

TEST(Refusal, QueueIsFullWhenSoManyWaitAlready) {
  const ReplicaOptions options{.kv_blocks = 100, .max_model_len = 1000, .max_queued = 2};
  EXPECT_EQ(refusal_of(options, request(10, 10), 1), kNone);
  EXPECT_EQ(refusal_of(options, request(10, 10), 2), kQueueFull);
  EXPECT_EQ(refusal_of(options, request(10, 10), 3), kQueueFull);
  const ReplicaOptions unlimited{.kv_blocks = 100, .max_model_len = 1000};
  EXPECT_EQ(refusal_of(unlimited, request(10, 10), 1'000'000), kNone);
}

TEST(Refusal, TheFirstReasonThatHoldsIsGiven) {
  const ReplicaOptions options{.kv_blocks = 5, .max_model_len = 100, .max_queued = 0};
  EXPECT_EQ(refusal_of(options, request(90, 90), 0), kModelLen);  // all three hold
  EXPECT_EQ(refusal_of(options, request(90, 5), 0), kKvCache);    // the last two
  EXPECT_EQ(refusal_of(options, request(10, 5), 0), kQueueFull);
}

TEST(Refusal, LongestTokenCountsDoNotOverflow) {
  const ReplicaOptions options{.kv_blocks = 5, .max_model_len = 100};
  EXPECT_EQ(refusal_of(options, request(UINT32_MAX, UINT32_MAX), 0), kModelLen);
}

}  // namespace
}  // namespace inferscale

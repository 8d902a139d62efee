// Generated requests: numbering, order, and streams that do not shift each other.

#include "workload/generated_source.h"

#include <gtest/gtest.h>

#include <vector>

namespace inferscale {
namespace {

GeneratedOptions chat(std::uint64_t requests) {
  return {.requests = requests,
          .arrivals = PoissonArrivals{.rate_rps = 10},
          .prompt_tokens = {LognormalLength{512, 0.7}},
          .output_tokens = {LognormalLength{256, 0.8}}};
}

std::vector<Request> all_of(const GeneratedOptions& options, std::uint64_t seed) {
  GeneratedSource source(options, seed);
  EXPECT_EQ(source.size(), options.requests);
  std::vector<Request> requests;
  Request request;
  while (source.next(request)) requests.push_back(request);
  EXPECT_FALSE(source.next(request)) << "the end is not the end";
  return requests;
}

TEST(GeneratedSource, NumbersItsRequestsInTheOrderOfArrival) {
  const auto requests = all_of(chat(1000), 7);
  ASSERT_EQ(requests.size(), 1000U);
  Instant last;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].id, i);
    EXPECT_GE(requests[i].arrival, last);
    EXPECT_EQ(requests[i].max_tokens, requests[i].output_tokens);
    last = requests[i].arrival;
  }
}

TEST(GeneratedSource, AnotherDistributionLeavesTheOtherDrawsAsTheyWere) {
  const auto before = all_of(chat(500), 7);
  GeneratedOptions changed = chat(500);
  changed.prompt_tokens = {ConstantLength{100}};
  const auto without_prompts = all_of(changed, 7);
  changed = chat(500);
  changed.arrivals = GammaArrivals{.rate_rps = 10, .cv = 3};
  const auto other_arrivals = all_of(changed, 7);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].arrival, without_prompts[i].arrival);
    EXPECT_EQ(before[i].output_tokens, without_prompts[i].output_tokens);
    EXPECT_EQ(before[i].prompt_tokens, other_arrivals[i].prompt_tokens);
    EXPECT_EQ(before[i].output_tokens, other_arrivals[i].output_tokens);
  }
}

TEST(GeneratedSource, ALongerRunBeginsLikeAShorterOne) {
  const auto shorter = all_of(chat(100), 7);
  const auto longer = all_of(chat(200), 7);
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    EXPECT_EQ(shorter[i].arrival, longer[i].arrival);
    EXPECT_EQ(shorter[i].prompt_tokens, longer[i].prompt_tokens);
  }
}

TEST(GeneratedSource, SeedsDiffer) {
  EXPECT_NE(all_of(chat(1), 1).front().arrival, all_of(chat(1), 2).front().arrival);
}

// Prompt and output lengths come from streams of their own, so they must not go together.
TEST(GeneratedSource, PromptsAndAnswersAreIndependent) {
  const auto requests = all_of(chat(100'000), 3);
  double ranks = 0;
  for (const Request& request : requests) {
    // 512 / sqrt(1.49) and 256 / sqrt(1.64) are the medians.
    ranks += (request.prompt_tokens > 419) == (request.output_tokens > 200) ? 1 : -1;
  }
  EXPECT_NEAR(ranks / 100'000, 0, 5 / 316.2);
}

}  // namespace
}  // namespace inferscale

// The shared prefix: hits as often as asked, on a trace that does not change.

#include "workload/shared_prefix_source.h"

#include <gtest/gtest.h>

#include <cmath>

#include "workload/workload_source.h"

namespace inferscale {
namespace {

WorkloadOptions chat(std::optional<SharedPrefixOptions> prefix) {
  return {.generated = {.requests = 10'000,
                        .arrivals = PoissonArrivals{.rate_rps = 10},
                        .prompt_tokens = {LognormalLength{512, 0.7}},
                        .output_tokens = {LognormalLength{256, 0.8}}},
          .shared_prefix = prefix};
}

// Every request beside the one without the prefix; how many hits there were.
int hits(const SharedPrefixOptions& prefix) {
  const auto plain = make_request_source(chat(std::nullopt), nullptr, 3);
  const auto shared = make_request_source(chat(prefix), nullptr, 3);
  EXPECT_EQ(shared->size(), 10'000U);
  Request before;
  Request request;
  int count = 0;
  while (plain->next(before)) {
    EXPECT_TRUE(shared->next(request));
    EXPECT_EQ(request.arrival, before.arrival);
    EXPECT_EQ(request.prompt_tokens, before.prompt_tokens);
    EXPECT_EQ(request.output_tokens, before.output_tokens);
    EXPECT_EQ(before.shared_prefix_tokens, 0U);
    if (request.shared_prefix_tokens == 0) continue;
    ++count;
    EXPECT_EQ(request.shared_prefix_tokens, std::min(prefix.tokens, request.prompt_tokens));
  }
  EXPECT_FALSE(shared->next(request));
  return count;
}

TEST(SharedPrefix, HitsAsOftenAsItsProbabilitySays) {
  EXPECT_EQ(hits({.tokens = 300, .hit_probability = 0}), 0);
  EXPECT_EQ(hits({.tokens = 300, .hit_probability = 1}), 10'000);
  EXPECT_NEAR(hits({.tokens = 300, .hit_probability = 0.3}), 3000, 5 * std::sqrt(2100));
}

TEST(SharedPrefix, HitsTheSameRequestsWhateverItsLength) {
  const auto one = make_request_source(chat({{.tokens = 50, .hit_probability = 0.5}}), nullptr, 3);
  const auto two = make_request_source(chat({{.tokens = 900, .hit_probability = 0.5}}), nullptr, 3);
  Request a;
  Request b;
  while (one->next(a) && two->next(b)) {
    ASSERT_EQ(a.shared_prefix_tokens > 0, b.shared_prefix_tokens > 0);
  }
}

TEST(SharedPrefix, WorksForTraces) {
  Trace trace;
  for (std::uint32_t i = 0; i < 100; ++i) {
    trace.arrival_ns.push_back(i);
    trace.prompt_tokens.push_back(10 + i);
    trace.output_tokens.push_back(1);
  }
  WorkloadOptions options;
  options.trace = {.file = "a.csv"};
  options.shared_prefix = {.tokens = 50, .hit_probability = 1};
  const auto source = make_request_source(options, &trace, 3);
  Request request;
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(source->next(request));
    EXPECT_EQ(request.prompt_tokens, 10 + i);
    EXPECT_EQ(request.shared_prefix_tokens, std::min(50U, 10 + i));
  }
}

}  // namespace
}  // namespace inferscale

// Whose class a request has: by share, by session, by tenant; and that nothing else changes.

#include "workload/slo_class_source.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "core/carried_columns.h"
#include "workload/workload_source.h"

namespace inferscale {
namespace {

WorkloadOptions chat() {
  return {.generated = {.requests = 10'000,
                        .arrivals = PoissonArrivals{.rate_rps = 10},
                        .prompt_tokens = {LognormalLength{512, 0.7}},
                        .output_tokens = {LognormalLength{256, 0.8}}}};
}

std::vector<SloClass> two_classes(double first) {
  return {{.name = "interactive", .slo = {}, .priority = 10, .share = first},
          {.name = "batch", .slo = {}, .priority = -1, .share = 1 - first}};
}

std::vector<Request> all_of(RequestSource& source) {
  std::vector<Request> requests;
  Request request;
  while (source.next(request)) requests.push_back(request);
  return requests;
}

std::vector<Request> classified(const WorkloadOptions& workload, ClassOptions options) {
  const auto source =
      with_classes(make_request_source(workload, nullptr, 3), std::move(options), 3);
  return all_of(*source);
}

TEST(SloClassSource, SharesAreThoseOfTheDraws) {
  const std::vector<Request> requests = classified(chat(), {.classes = two_classes(0.3)});
  ASSERT_EQ(requests.size(), 10'000U);
  int first = 0;
  for (const Request& request : requests) first += request.slo_class == 0 ? 1 : 0;
  // Four standard deviations of a binomial: sqrt(10000 x 0.3 x 0.7) = 45.8.
  EXPECT_LT(std::abs(first - 3000), 184);
}

TEST(SloClassSource, NothingElseOfARequestChanges) {
  const auto plain = make_request_source(chat(), nullptr, 3);
  const std::vector<Request> before = all_of(*plain);
  const std::vector<Request> after = classified(chat(), {.classes = two_classes(0.3)});
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].arrival, before[i].arrival);
    EXPECT_EQ(after[i].prompt_tokens, before[i].prompt_tokens);
    EXPECT_EQ(after[i].output_tokens, before[i].output_tokens);
    EXPECT_EQ(after[i].priority, after[i].slo_class == 0 ? 10 : -1);
  }
}

// One number a draw, monotone in it: with a greater share whoever was in the class stays in it.
TEST(SloClassSource, AGreaterShareKeepsWhoeverWasInTheClass) {
  const std::vector<Request> some = classified(chat(), {.classes = two_classes(0.3)});
  const std::vector<Request> more = classified(chat(), {.classes = two_classes(0.5)});
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_TRUE(some[i].slo_class != 0 || more[i].slo_class == 0) << i;
  }
}

TEST(SloClassSource, AConversationKeepsItsClass) {
  WorkloadOptions workload = chat();
  workload.generated.conversations =
      ConversationOptions{.turns = {ConstantLength{5}, 1, kMostTurns}, .think_time = {}};
  const std::vector<Request> requests = classified(workload, {.classes = two_classes(0.5)});
  std::map<std::uint32_t, std::uint8_t> of;
  std::array<int, 2> sessions{};
  for (const Request& request : requests) {
    const auto [known, is_new] = of.emplace(request.session, request.slo_class);
    EXPECT_EQ(known->second, request.slo_class) << "session " << request.session;
    if (is_new) ++sessions[request.slo_class];
  }
  EXPECT_GT(sessions[0], 100);
  EXPECT_GT(sessions[1], 100);
}

TEST(SloClassSource, ATenantsClassShiftsNoOthersDraw) {
  WorkloadOptions workload = chat();
  workload.generated.prefixes =
      PrefixOptions{.tenants = 3, .system_prompt_tokens = {ConstantLength{16}}};
  const std::vector<Request> drawn = classified(workload, {.classes = two_classes(0.5)});
  const std::vector<Request> named = classified(
      workload, {.classes = two_classes(0.5), .of_tenant = {std::nullopt, std::uint8_t{1}}});
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    ASSERT_EQ(named[i].tenant, drawn[i].tenant);
    EXPECT_EQ(named[i].slo_class, named[i].tenant == 1 ? 1 : drawn[i].slo_class) << i;
  }
}

TEST(SloClassSource, AWorkloadsOwnPriorityStands) {
  std::vector<std::int64_t> priorities(10'000, CarriedColumns::kNoPriority);
  priorities[4] = 0;
  // The column's request has it from its source; here that gives 0.
  const std::vector<Request> requests =
      classified(chat(), {.classes = two_classes(1), .priorities = priorities});
  EXPECT_EQ(requests[3].priority, 10);
  EXPECT_EQ(requests[4].priority, 0);
}

}  // namespace
}  // namespace inferscale

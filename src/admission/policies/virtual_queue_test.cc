// The wait by hand, and the order of groups against all orders.

#include "admission/policies/virtual_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "admission/policy_test_support.h"
#include "base/random.h"

namespace inferscale {
namespace {

class VirtualQueueTest : public testing::Test {
 protected:
  void make(const WrittenParameters& parameters) {
    policy_ = make_policy_for_test("virtual_queue", parameters);
    pool_ = FakePool(policy_->needs().signals);
    // A step of 10 places takes 20 ms; a prompt of 100 tokens 10 ms + 10 ms.
    pool_.service_model() = {.step_ns = 10e6,
                             .prefill_ns_per_token = 100e3,
                             .decode_ns_per_sequence = 1e6,
                             .max_num_seqs = 10,
                             .provenance = ServiceProvenance::kCatalogue};
    for (std::uint32_t i = 0; i < 2; ++i) pool_.set_replica(i, Signal::kInFlight, 0);
    in_flight_ = 0;
    pool_.set(Signal::kInFlight, 0);
  }

  RequestView request(double deadline_ms, TokenCount output = 50) {
    RequestView view;
    view.request = number_++;
    view.prompt_tokens = 100;
    view.predicted_output_tokens = output;
    view.ttft_deadline = pool_.now() + Duration::from_millis(deadline_ms);
    return view;
  }

  Decision decide(const RequestView& view) {
    const Decision decision = policy_->decide(view, pool_);
    if (decision.admitted()) {
      policy_->on_admit(view, pool_.now());
      pool_.set(Signal::kInFlight, ++in_flight_);
    } else if (decision.verdict == Verdict::kDefer && view.held == Duration()) {
      policy_->on_held(view, pool_.now());
    }
    return decision;
  }

  void fill(int requests) {
    for (int i = 0; i < requests; ++i) ASSERT_TRUE(decide(request(1e6)).admitted());
    pool_.set_now(pool_.now().seconds() + 10);  // their prompts are done
  }

  std::unique_ptr<AdmissionPolicy> policy_;
  FakePool pool_;
  double in_flight_ = 0;
  std::uint64_t number_ = 0;
};

TEST_F(VirtualQueueTest, TheWaitIsThatOfThePlacesThatHaveToBeLeft) {
  // 20 places; with 39 in flight the next one needs 20 of them to be left. All 20 yield a token in
  // 20 ms, answers have 50: one is left each 50 ms, and each time one of the two replicas computes
  // a prompt of 100 tokens in 10 ms. So it waits 20 x 55 ms = 1100 ms, and 20 ms for its prompt.
  make({});
  fill(39);
  EXPECT_FALSE(decide(request(1119)).admitted());
  make({});
  fill(39);
  EXPECT_TRUE(decide(request(1121)).admitted());
}

TEST_F(VirtualQueueTest, NobodyWaitsWhileThereArePlaces) {
  make({{"then", "reject"}});
  fill(19);
  EXPECT_TRUE(decide(request(21)).admitted());
  pool_.set_now(20);
  EXPECT_FALSE(decide(request(74)).admitted());
  EXPECT_TRUE(decide(request(76)).admitted());
}

TEST_F(VirtualQueueTest, PromptsBeforeItsOwnAreWaitedFor) {
  // Four prompts of 20 ms on two replicas: 40 ms, and its own 20 ms. There are places enough.
  make({{"then", "reject"}});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(decide(request(1e6)).admitted());
  EXPECT_FALSE(decide(request(59)).admitted());
  EXPECT_TRUE(decide(request(61)).admitted());
  pool_.set_now(10);
  EXPECT_TRUE(decide(request(21)).admitted());
}

TEST_F(VirtualQueueTest, TheLongerOfBothWaitsCounts) {
  // All places are taken, one is left in 55 ms; but the 20 prompts take 20 x 20 ms / 2 before.
  make({{"then", "reject"}});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(decide(request(1e6)).admitted());
  EXPECT_FALSE(decide(request(219)).admitted());
  EXPECT_TRUE(decide(request(221)).admitted());
}

TEST_F(VirtualQueueTest, PromptsOfTheHeldWithAnEarlierDeadlineAreWaitedFor) {
  make({{"then", "reject"}, {"pull_below", "1"}});
  pool_.service_model().max_num_seqs = 1000;
  for (int i = 0; i < 40; ++i) policy_->on_held(request(250), pool_.now());
  in_flight_ = 2;
  pool_.set(Signal::kInFlight, 2);
  // 40 x 20 ms / 2, and its own 20 ms.
  EXPECT_EQ(decide(request(419)).reason, Reason::kWaitTooLong);
  EXPECT_EQ(decide(request(421)).reason, Reason::kPoolFull);
}

TEST_F(VirtualQueueTest, WhoIsAdmittedIsHeldNoMoreAndWhoHasEndedIsNotCounted) {
  make({{"then", "reject"}});
  std::vector<RequestView> served;
  for (int i = 0; i < 30; ++i) {
    served.push_back(request(5000, 1000));
    policy_->on_held(served.back(), pool_.now());
    policy_->on_admit(served.back(), pool_.now());
  }
  for (const RequestView& view : served) policy_->on_outcome(view, {});
  pool_.set_now(100);
  EXPECT_TRUE(decide(request(10'000)).admitted());
  fill(19);
  // Answers of 50 as in the first test, and not the long ones that were there: one place, 55 ms.
  EXPECT_FALSE(decide(request(74)).admitted());
  EXPECT_TRUE(decide(request(76)).admitted());
}

TEST_F(VirtualQueueTest, TheKvCacheBoundsThePlaces) {
  // 1,500 tokens of KV are room for 10 requests of 100 + 50: no bound. 750: for 5, whose step takes
  // 15 ms.
  make({{"then", "reject"}});
  pool_.service_model().kv_capacity_tokens = 1500;
  fill(19);
  EXPECT_TRUE(decide(request(21)).admitted());
  make({{"then", "reject"}});
  pool_.service_model().kv_capacity_tokens = 750;
  fill(10);
  // One place of 10: 50 tokens x 15 ms / 10 and 10 ms / 2, 80 ms.
  EXPECT_FALSE(decide(request(99)).admitted());
  EXPECT_TRUE(decide(request(101)).admitted());
}

TEST_F(VirtualQueueTest, RefusesAsItIsTold) {
  make({});
  fill(39);
  const Decision deferred = decide(request(500));
  EXPECT_EQ(deferred.verdict, Verdict::kDefer);
  EXPECT_EQ(deferred.reason, Reason::kWaitTooLong);
  // 20 ms alone: too late already, so waiting is of no use.
  EXPECT_EQ(decide(request(19)).verdict, Verdict::kReject);
  make({{"then", "reject"}});
  fill(39);
  EXPECT_EQ(decide(request(500)).verdict, Verdict::kReject);
}

TEST_F(VirtualQueueTest, TheHeldWithAnEarlierDeadlineAreAhead) {
  make({{"pull_below", "10"}});
  fill(20);
  std::vector<RequestView> held;
  for (int i = 0; i < 10; ++i) held.push_back(request(5000));
  for (const RequestView& view : held) EXPECT_EQ(decide(view).reason, Reason::kPoolFull);
  // Behind ten of a deadline of 5 s, and 20 in flight: 11 places, 605 ms.
  EXPECT_EQ(decide(request(5200)).reason, Reason::kPoolFull);
  EXPECT_EQ(decide(request(560)).reason, Reason::kPoolFull);  // ahead of them: one place
  EXPECT_EQ(decide(request(60)).reason, Reason::kWaitTooLong);
  // Who has left is nobody's burden.
  make({{"pull_below", "10"}});
  fill(20);
  held.clear();
  for (int i = 0; i < 10; ++i) held.push_back(request(500));
  for (const RequestView& view : held) decide(view);
  EXPECT_EQ(decide(request(630, 100)).reason, Reason::kPoolFull);  // 11 x 55 + 20 = 625
  EXPECT_EQ(decide(request(620, 100)).reason, Reason::kWaitTooLong);
  for (int i = 0; i < 50; ++i) held.push_back(request(520));
  for (std::size_t i = 10; i < held.size(); ++i) policy_->on_held(held[i], pool_.now());
  EXPECT_EQ(decide(request(700)).reason, Reason::kWaitTooLong);
  for (const RequestView& view : held) policy_->on_left_hold(view, pool_.now());
  EXPECT_EQ(decide(request(700)).reason, Reason::kPoolFull);
}

TEST_F(VirtualQueueTest, PullsWhileTheReplicasHaveRoom) {
  make({{"pull_below", "4"}});
  fill(8);
  RequestView held = request(5000);
  EXPECT_EQ(decide(held).reason, Reason::kPoolFull);
  held.held = Duration::from_millis(10);
  EXPECT_FALSE(decide(held).admitted());
  in_flight_ = 7;
  pool_.set(Signal::kInFlight, 7);
  EXPECT_TRUE(decide(held).admitted());
}

TEST_F(VirtualQueueTest, RanksGroupsByDeadline) {
  make({{"slo_granularity_s", "0.1"}});
  EXPECT_LT(*policy_->rank(request(150)), *policy_->rank(request(250)));
  EXPECT_EQ(*policy_->rank(request(110)), *policy_->rank(request(190)));
  RequestView none;
  EXPECT_GT(*policy_->rank(none), *policy_->rank(request(1e9)));
}

TEST_F(VirtualQueueTest, AdmitsWhileTheServiceEstimateIsUnknown) {
  make({});
  pool_.service_model().provenance = ServiceProvenance::kUnknown;
  fill(100);
}

// All orders of up to six groups: where any of them is in time with all, so is the one by deadline;
// and no order has a smaller greatest lateness.
TEST(EarliestDeadlineFirst, MeetsAllDeadlinesWhereAnyOrderDoes) {
  RandomStream random(42, "groups");
  int feasible = 0;
  int infeasible = 0;
  int better_in_total = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<VirtualGroup> groups(1 + random.below(6));
    for (VirtualGroup& group : groups) {
      group = {.tokens = 100 + static_cast<double>(random.below(900)),
               .deadline_s = 4 * random.uniform()};
    }
    std::ranges::sort(groups, {}, &VirtualGroup::deadline_s);
    const double by_deadline = total_lateness_s(groups, 1000);
    std::vector<std::size_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0);
    double least = by_deadline;
    do {
      std::vector<VirtualGroup> in_order;
      for (const std::size_t i : order) in_order.push_back(groups[i]);
      least = std::min(least, total_lateness_s(in_order, 1000));
    } while (std::ranges::next_permutation(order).found);
    if (least == 0) {
      EXPECT_EQ(by_deadline, 0);
      ++feasible;
    } else {
      ++infeasible;
      better_in_total += least < by_deadline - 1e-9;
    }
  }
  EXPECT_GT(feasible, 50);
  EXPECT_GT(infeasible, 50);
  // Where not all can be in time another order is often late by less in total.
  EXPECT_GT(better_in_total, 10);
}

TEST(EarliestDeadlineFirst, IsNotTheLeastTotalLatenessWhereNotAllCanBeInTime) {
  // A long one that is late anyhow makes nine short ones late.
  const std::vector<VirtualGroup> by_deadline = {{10'000, 1}, {100, 1.1}, {100, 1.2}};
  const std::vector<VirtualGroup> short_first = {{100, 1.1}, {100, 1.2}, {10'000, 1}};
  EXPECT_NEAR(total_lateness_s(by_deadline, 1000), 9 + 9 + 9, 1e-9);
  EXPECT_NEAR(total_lateness_s(short_first, 1000), 9.2, 1e-9);
}

}  // namespace
}  // namespace inferscale

// Policies that hold, at a real gate: groups go together, the earliest deadline goes first.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "admission/gate.h"
#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

Instant at(double s) {
  return Instant() + Duration::from_seconds(s);
}

std::unique_ptr<AdmissionGate> gate_with(const char* policy, const WrittenParameters& parameters) {
  GateOptions options;
  options.policy_name = policy;
  const Result<PolicyFactory> factory = read_policy_for_test(policy, parameters);
  CHECK(factory.has_value()) << factory.error().to_string();
  options.policy = *factory;
  options.hold = HoldOptions();
  options.predictor = {.kind = OutputPredictor::kConstant, .constant = 40};
  options.service = {.step_ns = 50e6,
                     .max_num_seqs = 1000,
                     .provenance = ServiceProvenance::kCatalogue,
                     .confidence = 1};
  options.on_stale = StaleRule::kOpen;
  options.supply = {.source = "the test",
                    .service_model = true,
                    .outcomes = true,
                    .workload = "the test",
                    .request = {.deadline = true, .predicted_output = true}};
  auto gate = AdmissionGate::create(std::move(options));
  CHECK(gate.has_value()) << gate.error().to_string();
  return std::move(*gate);
}

RequestView request(std::uint64_t number, Instant now, double deadline_s) {
  RequestView view;
  view.request = number;
  view.prompt_tokens = 100;
  view.arrival = now;
  view.ttft_deadline = now + Duration::from_seconds(deadline_s);
  return view;
}

TEST(HeldGroups, FluidWaitLetsAboutTheBalanceInAtOnceAndHoldsNobodyTooLong) {
  // 90/s, 50 ms a step, 2 us a token: 39.3 (docs/policies/fluid_wait.md).
  const auto gate = gate_with("fluid_wait", {{"step_ns_per_kv_token", "2000"}});
  std::map<Instant, int> groups;
  std::map<std::uint64_t, Instant> arrived;
  Duration longest;
  std::vector<Permit> permits;  // of those that are served
  const auto let_in = [&](std::uint64_t number, Permit permit, Instant now) {
    ++groups[now];
    longest = std::max(longest, now - arrived[number]);
    permits.push_back(std::move(permit));
  };
  const auto take = [&](Instant now) {
    for (Release& release : gate->take_releases()) {
      ASSERT_EQ(release.presented.kind, Presented::Kind::kAdmitted);
      let_in(release.request, std::move(release.presented.permit), now);
    }
  };
  constexpr int kArrivals = 90 * 30;
  for (int i = 0; i < kArrivals; ++i) {
    const Instant now = at((i + 1) / 90.0);
    while (gate->next_wake() <= now) {
      const Instant wake = gate->next_wake();
      gate->advance(wake);
      take(wake);
    }
    const auto number = static_cast<std::uint64_t>(i);
    arrived[number] = now;
    Presented presented = gate->present(request(number, now, 60), now);
    if (presented.kind == Presented::Kind::kAdmitted) {
      let_in(number, std::move(presented.permit), now);
    }
    take(now);
    for (Permit& permit : permits) permit.finish(40, now);
    permits.clear();
    take(now);
  }
  EXPECT_LE(longest, Duration::from_seconds(0.5));
  int in_groups = 0;
  for (const auto& [when, size] : groups) {
    if (when < at(5)) continue;
    EXPECT_LE(size, 45) << when.seconds();
    if (size >= 36) in_groups += size;
  }
  EXPECT_GT(in_groups, 0.95 * 90 * 24);
}

TEST(HeldGroups, TheVirtualQueueIsPulledInTheOrderOfDeadlines) {
  const auto gate = gate_with("virtual_queue", {{"pull_below", "1"}});
  Presented first = gate->present(request(0, at(0), 100), at(0));
  ASSERT_EQ(first.kind, Presented::Kind::kAdmitted);
  const std::vector<double> deadlines = {30, 10, 20, 40};
  for (std::size_t i = 0; i < deadlines.size(); ++i) {
    const Presented held = gate->present(request(i + 1, at(1), deadlines[i]), at(1));
    ASSERT_EQ(held.kind, Presented::Kind::kHeld);
  }
  std::vector<std::uint64_t> order;
  Permit serving = std::move(first.permit);
  for (int i = 0; i < 4; ++i) {
    const Instant now = at(2 + i * 0.5);
    serving.finish(40, now);
    std::vector<Release> releases = gate->take_releases();
    ASSERT_EQ(releases.size(), 1U);
    ASSERT_EQ(releases[0].presented.kind, Presented::Kind::kAdmitted);
    order.push_back(releases[0].request);
    serving = std::move(releases[0].presented.permit);
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 3, 1, 4}));
  serving.drop(at(10));
}

}  // namespace
}  // namespace inferscale

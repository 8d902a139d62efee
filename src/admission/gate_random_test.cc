// Properties of a gate that hold whatever comes in: the same inputs give the same decisions,
// permits end once, and no share is ever exceeded, with any number of threads.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "admission/gate.h"
#include "admission/gate_test_support.h"
#include "admission/policy_test_support.h"
#include "base/random.h"

namespace inferscale {
namespace {

GateOptions shipped(const PolicyEntry& entry) {
  ScriptedCalls unused;
  GateOptions options = gate_options(unused);
  options.policy_name = std::string(entry.card.name);
  // Its rate has no default: it is what another policy was measured to refuse.
  const bool needs_rate = entry.card.name == "equal_volume_shed";
  options.policy = *read_policy_for_test(
      entry.card.name, needs_rate ? WrittenParameters{{"rate", "0.3"}} : WrittenParameters{});
  options.service = {.step_ns = 7e6,
                     .prefill_ns_per_token = 8e4,
                     .decode_ns_per_sequence = 2.5e5,
                     .chunk_tokens = 512,
                     .kv_capacity_tokens = 20'000,
                     .max_num_seqs = 32,
                     .replicas = 2,
                     .provenance = ServiceProvenance::kCatalogue};
  options.replicas = 2;
  options.on_stale = StaleRule::kClosed;
  options.hold = HoldOptions{};
  options.supply.request = {.tenant = true,
                            .session = true,
                            .deadline = true,
                            .itl_target = true,
                            .predicted_output = true,
                            .true_output = true};
  return options;
}

// One history of inputs; what was decided, in text.
std::string play(const PolicyEntry& entry, std::uint64_t seed) {
  RandomStream random(seed, "inputs");
  GateOptions options = shipped(entry);
  options.seed = seed;
  RecordedDecisions decisions;
  options.sink = &decisions;
  const auto gate = make_gate(options);
  std::vector<Permit> permits;
  Instant now;
  for (std::uint64_t step = 0; step < 3000; ++step) {
    now = now + Duration::nanos(static_cast<std::int64_t>(random.below(20'000'000)));
    if (gate->next_wake() <= now) gate->advance(now);
    const std::uint64_t what = random.below(10);
    if (what < 5) {
      RequestView view{.request = step,
                       .tenant = 1 + random.below(5),
                       .session = 1 + random.below(20),
                       .prompt_tokens = static_cast<TokenCount>(1 + random.below(3000)),
                       .max_tokens = static_cast<TokenCount>(1 + random.below(500)),
                       .arrival = now,
                       .ttft_deadline = now + Duration::from_seconds(2),
                       .itl_target = Duration::from_millis(100),
                       .priority = static_cast<std::int32_t>(random.below(3)) - 1};
      view.root_session = view.session;
      Presented presented = gate->present(view, now);
      if (presented.kind != Presented::Kind::kAdmitted) continue;
      presented.permit.dispatched(static_cast<std::uint32_t>(random.below(2)), now);
      permits.push_back(std::move(presented.permit));
    } else if (what < 8 && !permits.empty()) {
      const std::size_t one = random.below(permits.size());
      if (random.below(3) > 0) permits[one].first_token(now);
      permits[one].finish(static_cast<TokenCount>(1 + random.below(300)), now);
      permits.erase(permits.begin() + static_cast<std::ptrdiff_t>(one));
    } else {
      EngineReading page{.observed_at = now,
                         .queue_depth = static_cast<double>(random.below(30)),
                         .running = static_cast<double>(random.below(32)),
                         .kv_used_fraction = 0.01 * static_cast<double>(random.below(101)),
                         .kv_capacity_tokens = 20'000,
                         .prefix_queries = static_cast<double>(step) * 10,
                         .prefix_hits = static_cast<double>(step) * 3,
                         .preemptions = static_cast<double>(step / 10),
                         .generated_tokens = static_cast<double>(step) * 7};
      gate->observe(static_cast<std::uint32_t>(random.below(2)), page, now);
    }
    for (Release& release : gate->take_releases()) {
      if (release.presented.permit.is_held())
        permits.push_back(std::move(release.presented.permit));
    }
  }
  std::string text;
  for (const DecisionRecord& record : decisions.records) {
    text += std::to_string(record.request.request) +
            std::string(verdict_name(record.effective.verdict)) +
            std::string(reason_name(record.effective.reason)) + "\n";
  }
  return text;
}

class EveryPolicy : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPolicy, TheSameSeedAndInputsGiveTheSameDecisions) {
  const PolicyEntry* entry = find_policy(GetParam());
  const std::string once = play(*entry, 7);
  EXPECT_FALSE(once.empty());
  EXPECT_EQ(once, play(*entry, 7));
}

TEST_P(EveryPolicy, NothingIsDecidedFromAnUnknownSignal) {
  // No page ever comes: the stale rule decides for whoever reads pages, and the policy is not
  // asked; whoever reads none never gets kNoSignal.
  const PolicyEntry* entry = find_policy(GetParam());
  GateOptions options = shipped(*entry);
  options.hold.reset();
  RecordedDecisions decisions;
  options.sink = &decisions;
  const auto gate = make_gate(options);
  const SignalSet needed = options.policy({})->needs().signals;
  bool reads_pages = false;
  for (const SignalSpec& spec : all_signals()) {
    reads_pages |= needed.has(spec.signal) && spec.origin != SignalOrigin::kLedger;
  }
  for (std::uint64_t i = 0; i < 20; ++i)
    gate->present(call_of(i), at_s(0.1 * static_cast<double>(i)));
  for (const DecisionRecord& record : decisions.records) {
    EXPECT_EQ(record.effective.reason == Reason::kNoSignal, reads_pages);
    EXPECT_EQ(record.stale == StaleRule::kClosed, reads_pages);
  }
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : all_policies()) {
    // A list without rules is an error; its own tests have lists.
    if (entry.card.name != "rules") names.emplace_back(entry.card.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicy, ::testing::ValuesIn(policy_names()),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(GateThreads, SharesAreNeverExceededUnder64Threads) {
  constexpr int kThreads = 64;
  constexpr int kCallsEach = 200;
  constexpr std::int64_t kTenantLimit = 3;
  constexpr std::int64_t kPoolLimit = 10;
  ScriptedCalls calls{.decide = [](const RequestView&, const PoolView& pool) {
    return pool.read(Signal::kInFlight).value < kPoolLimit ? Decision::admit()
                                                           : Decision::reject(Reason::kConcurrency);
  }};
  calls.needs.signals = {Signal::kInFlight};
  GateOptions options = gate_options(calls);
  for (CallerKey tenant = 1; tenant <= 8; ++tenant)
    options.tenants[tenant].in_flight = kTenantLimit;
  const auto gate = make_gate(options);
  std::array<std::atomic<std::int64_t>, 9> of_tenant{};
  std::atomic<std::int64_t> of_pool = 0;
  std::atomic<std::int64_t> admitted = 0;
  std::atomic<bool> exceeded = false;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      RandomStream random(static_cast<std::uint64_t>(thread), "thread");
      for (int i = 0; i < kCallsEach; ++i) {
        const CallerKey tenant = 1 + random.below(8);
        const Instant now = Instant::nanos(i);
        Presented presented = gate->present(
            call_of(static_cast<std::uint64_t>(thread * kCallsEach + i), tenant), now);
        if (presented.kind != Presented::Kind::kAdmitted) continue;
        ++admitted;
        // Counted while the permit is held, so never above what the gate has.
        if (++of_tenant[tenant] > kTenantLimit || ++of_pool > kPoolLimit) exceeded = true;
        if (random.below(2) == 0) std::this_thread::yield();
        --of_tenant[tenant];
        --of_pool;
        if (random.below(2) == 0) presented.permit.finish(1, now);
        // Else it is dropped at the end of this turn.
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(gate->in_flight(), 0);
  EXPECT_EQ(gate->counts().presented, kThreads * kCallsEach);
  EXPECT_EQ(gate->counts().admitted, admitted);
  EXPECT_EQ(static_cast<std::int64_t>(calls.ends.size()), admitted);  // each permit ended once
}

}  // namespace
}  // namespace inferscale

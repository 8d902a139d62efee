// The serial station and the replica with a batch: the same to the nanosecond when calls never
// overlap, nearly the same when they seldom do.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/distributions.h"
#include "base/random.h"
#include "replica/latency/linear.h"
#include "replica/latency/roofline_test_support.h"
#include "replica/serial/serial_test_support.h"

namespace inferscale {
namespace {

// Costs that rise in context with a kink every 50 tokens: straight lines of few steps.
class Kinked final : public LatencyModel {
 public:
  std::string_view name() const override { return "kinked"; }
  StepCost cost(const StepShape& shape) const override {
    const TokenCount context = shape.decode_context;
    const double growth = 0.25 + static_cast<double>(context / 50 % 3);
    return {.first_ns = 700.3 + 3.7 * static_cast<double>(shape.prefill_tokens) +
                        0.01 * shape.prefill_pairs + growth * static_cast<double>(context),
            .growth_ns = growth,
            .valid_steps = 50 - context % 50};
  }
};

struct Engine {
  const char* name;
  std::function<std::unique_ptr<LatencyModel>()> latency;
  KvLayout layout;
  std::uint32_t tokens = 1;  // what lengths are multiplied with
};

std::vector<Engine> engines() {
  const auto roofline = [](const char* model) {
    return make_roofline(model_named(model), h100(), {}, {});
  };
  const auto layout = [](const char* model) {
    return kv_layout(model_named(model), WindowBlocks::kKept, 16);
  };
  return {{"linear",
           [] {
             return make_linear({.step_us = 12.3,
                                 .prefill_us_per_token = 0.77,
                                 .decode_us_per_sequence = 0.5,
                                 .decode_ns_per_context_token = 3.1},
                                {});
           },
           {.block_tokens = 5},
           1},
          {"kinked", [] { return std::make_unique<Kinked>(); }, {.block_tokens = 16}, 2},
          {"full_attention", [=] { return roofline("llama-3.1-8b"); }, layout("llama-3.1-8b"), 10},
          // Chains grow past its windows of 4096 tokens, in prompts and in answers.
          {"windows", [=] { return roofline("gemma-2-9b"); }, layout("gemma-2-9b"), 12}};
}

std::vector<PlannedChain> random_program(RandomStream& dice, std::uint32_t tokens) {
  const auto draw = [&](std::uint64_t most) {
    return 1 + static_cast<std::uint32_t>(dice.below(most)) * tokens;
  };
  std::vector<PlannedChain> chains(30);
  for (PlannedChain& chain : chains) {
    for (std::uint64_t turns = 1 + dice.below(8); turns > 0; --turns) {
      chain.calls.push_back({.appended = draw(200), .output = draw(60)});
    }
  }
  return chains;
}

using MakeReplica = std::unique_ptr<Replica> (*)(const ReplicaOptions&, const ReplicaSurroundings&);

struct Served {
  std::map<RequestId, Outcome> outcomes;
  ReplicaUsage usage;
  std::unique_ptr<DurationHistogram> gaps = std::make_unique<DurationHistogram>();
};

// Longer than any call's service here.
constexpr Duration kSlot = Duration::nanos(60'000'000'000);

// Serves the plan's calls in the order of the chains in `turns`, each in a slot of its own.
Served serve_apart(MakeReplica make, const ReplicaOptions& options, const LatencyModel& latency,
                   const PlannedRequests& plan, const std::vector<std::uint32_t>& turns) {
  Served served;
  ChainDriver sink(plan);
  const auto replica = make(options, {.latency = latency, .sink = sink, .gaps = *served.gaps});
  std::vector<std::uint32_t> turn(plan.chains().size(), 0);
  Instant slot;
  for (const std::uint32_t chain : turns) {
    Request request = plan.request(chain, turn[chain]++);
    request.slo_class = static_cast<std::uint8_t>(chain % 3);
    request.arrival = slot + Duration::nanos(static_cast<std::int64_t>(chain) * 1'001);
    replica->enqueue(request);
    slot = slot + kSlot;
    while (replica->next_wake() != Instant::never()) {
      EXPECT_LT(replica->next_wake(), slot);
      replica->wake(replica->next_wake());
      EXPECT_EQ(replica->broken_invariant(), nullptr);
    }
  }
  replica->settle(slot);
  served.outcomes = sink.outcomes;
  served.usage = replica->usage();
  return served;
}

void expect_same(const Served& serial, const Served& batched) {
  ASSERT_EQ(serial.outcomes.size(), batched.outcomes.size());
  for (const auto& [id, one] : serial.outcomes) {
    const Outcome& other = batched.outcomes.at(id);
    ASSERT_TRUE(one.finished() && other.finished()) << id;
    ASSERT_EQ(one.start, other.start) << id;
    ASSERT_EQ(one.cached_tokens, other.cached_tokens) << id;
    ASSERT_EQ(one.first_token.ns(), other.first_token.ns()) << id;
    ASSERT_EQ(one.finish.ns(), other.finish.ns()) << id;
    ASSERT_EQ(one.itl_max.ns(), other.itl_max.ns()) << id;
    ASSERT_EQ(one.gaps_over_limit, other.gaps_over_limit) << id;
  }
  const ReplicaUsage& one = serial.usage;
  const ReplicaUsage& other = batched.usage;
  EXPECT_EQ(one.busy_ns, other.busy_ns);
  EXPECT_EQ(one.sequence_ns, other.sequence_ns);
  EXPECT_EQ(one.prefill_steps, other.prefill_steps);
  EXPECT_EQ(one.decode_steps, other.decode_steps);
  EXPECT_EQ(one.segments, other.segments);
  EXPECT_EQ(one.prompt_tokens_looked_up, other.prompt_tokens_looked_up);
  EXPECT_EQ(one.prompt_tokens_cached, other.prompt_tokens_cached);
  EXPECT_EQ(one.kv_blocks_peak, other.kv_blocks_peak);
  EXPECT_EQ(one.queue_peak, other.queue_peak);
  EXPECT_EQ(one.running_peak, other.running_peak);
  EXPECT_EQ(serial.gaps->total(), batched.gaps->total());
  EXPECT_EQ(serial.gaps->max(), batched.gaps->max());
  EXPECT_EQ(serial.gaps->mean_ns(), batched.gaps->mean_ns());
}

// `most_output`: tokens that a call may generate.
void expect_same(const KvRetentionUsage& serial, const KvRetentionUsage& batched,
                 TokenCount most_output) {
  // Sums of the same terms, perhaps in other pieces.
  EXPECT_NEAR(serial.idle_token_ns, batched.idle_token_ns, 1e-12 * batched.idle_token_ns);
  // The station holds a call's blocks from the start: where others expire while it is served, more
  // is there at once.
  EXPECT_GE(serial.resident_peak, batched.resident_peak);
  EXPECT_LE(serial.resident_peak, batched.resident_peak + most_output);
  EXPECT_EQ(serial.evicted_ttl, batched.evicted_ttl);
  EXPECT_EQ(serial.evicted_pressure, batched.evicted_pressure);
  EXPECT_EQ(serial.dropped_ended, batched.dropped_ended);
  EXPECT_EQ(serial.dropped_recompute, batched.dropped_recompute);
  EXPECT_EQ(serial.offloads, batched.offloads);
  EXPECT_EQ(serial.offloaded, batched.offloaded);
  EXPECT_EQ(serial.offload_ns, batched.offload_ns);
  EXPECT_EQ(serial.restores, batched.restores);
  EXPECT_EQ(serial.restored, batched.restored);
  EXPECT_EQ(serial.restore_ns, batched.restore_ns);
  EXPECT_EQ(serial.exposed_ns, batched.exposed_ns);
  EXPECT_EQ(serial.host_evicted, batched.host_evicted);
  EXPECT_EQ(serial.host_peak, batched.host_peak);
  EXPECT_NEAR(serial.host_token_ns, batched.host_token_ns, 1e-12 * batched.host_token_ns);
}

std::vector<KvRetentionOptions> retentions() {
  KvRetentionOptions retain;
  KvRetentionOptions expires;
  expires.ttl = kSlot * 20;
  KvRetentionOptions recompute;
  recompute.idle = IdleKv::kRecompute;
  KvRetentionOptions keeps_ended;
  keeps_ended.keep_ended = true;
  KvRetentionOptions offload;
  offload.idle = IdleKv::kOffload;
  offload.kv_bytes_per_token = 131'072;
  offload.host = {
      .capacity_bytes = 100e9, .base_latency = Duration::nanos(20'000), .bytes_per_ns = 25};
  KvRetentionOptions small_host = offload;
  small_host.host.capacity_bytes = 131'072 * 2'000.0;
  return {retain, expires, recompute, keeps_ended, offload, small_host};
}

TEST(SerialBatchedTest, CallsThatNeverOverlapTakeTheSameNanoseconds) {
  for (const Engine& engine : engines()) {
    const auto latency = engine.latency();
    std::size_t rules = 0;
    for (const KvRetentionOptions& retention : retentions()) {
      SCOPED_TRACE(testing::Message() << engine.name << ", rules " << rules++);
      RandomStream dice(rules, engine.name);
      const PlannedRequests plan(random_program(dice, engine.tokens));
      std::vector<std::uint32_t> turns;
      for (std::uint32_t chain = 0; chain < plan.chains().size(); ++chain) {
        turns.insert(turns.end(), plan.chains()[chain].calls.size(), chain);
      }
      for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[dice.below(i)]);
      ReplicaOptions options{
          .max_num_batched_tokens = 1'000'000,
          .layout = engine.layout,
          .kv_blocks = 100'000 * engine.layout.full_groups,
          .prefix_caching = true,
          .max_model_len = 1'000'000,
          .class_itl_limits = {Duration::nanos(14'000), std::nullopt, Duration::nanos(15'000)},
          .retention = retention};
      const Served serial = serve_apart(make_serial_replica, options, *latency, plan, turns);
      const Served batched = serve_apart(make_segment_replica, options, *latency, plan, turns);
      expect_same(serial, batched);
      expect_same(serial.usage.retention, batched.usage.retention, 1 + 60 * engine.tokens);
    }
  }
}

struct LowLoad {
  double busy = 0;  // fraction of the time
  double ttft_s = 0;
  double e2e_s = 0;
  double cached = 0;  // tokens
};

LowLoad serve_at(double seconds_between_chains, MakeReplica make, const LatencyModel& latency) {
  RandomStream dice(7, "low load");
  std::vector<PlannedChain> chains(400);
  Instant begin;
  for (PlannedChain& chain : chains) {
    begin = begin + Duration::from_seconds(seconds_between_chains * draw_exponential(dice));
    chain.begin_ns = begin.ns();
    for (std::uint64_t turns = 1 + dice.below(8); turns > 0; --turns) {
      chain.calls.push_back({.appended = 1 + static_cast<std::uint32_t>(dice.below(2'000)),
                             .output = 1 + static_cast<std::uint32_t>(dice.below(100)),
                             .gap_ns = Duration::from_seconds(10 * draw_exponential(dice)).ns()});
    }
  }
  const PlannedRequests plan(chains);
  ChainDriver driver(plan);
  DurationHistogram gaps;
  const auto replica = make({.max_num_batched_tokens = 1'000'000,
                             .layout = {.block_tokens = 16},
                             .kv_blocks = 30'000,
                             .prefix_caching = true,
                             .max_model_len = 1'000'000,
                             .retention = KvRetentionOptions{}},
                            {.latency = latency, .sink = driver, .gaps = gaps});
  driver.run(*replica);
  LowLoad sums{.busy = replica->usage().busy_ns / static_cast<double>(driver.end().ns())};
  for (const auto& [id, outcome] : driver.outcomes) {
    sums.ttft_s += outcome.ttft().seconds();
    sums.e2e_s += outcome.e2e().seconds();
    sums.cached += outcome.cached_tokens;
  }
  return sums;
}

// Chains that begin as a Poisson stream and pause for seconds: the seldomer calls overlap, the
// nearer the two come. What is left is what a call waits for another's answer (rate x the mean
// square of the service / 2), long beside a prefill: 2.3 % busy make 6 ms of 26.
TEST(SerialBatchedTest, AtLowLoadTheyAgreeNearly) {
  const auto latency = make_roofline(model_named("llama-3.1-8b"), h100(), {}, {});
  struct Bound {
    double seconds_between_chains;
    double busy;
    double ttft;  // how much longer, at most
    double e2e;
  };
  for (const Bound& bound : {Bound{60, 0.03, 0.25, 0.02}, Bound{600, 0.003, 0.05, 0.004},
                             Bound{6'000, 0.0003, 0.005, 0.0004}}) {
    SCOPED_TRACE(bound.seconds_between_chains);
    const LowLoad serial = serve_at(bound.seconds_between_chains, make_serial_replica, *latency);
    const LowLoad batched = serve_at(bound.seconds_between_chains, make_segment_replica, *latency);
    EXPECT_LT(serial.busy, bound.busy);
    EXPECT_EQ(serial.cached, batched.cached);
    EXPECT_GE(serial.ttft_s, batched.ttft_s);
    EXPECT_LT(serial.ttft_s, (1 + bound.ttft) * batched.ttft_s);
    EXPECT_GE(serial.e2e_s, batched.e2e_s);
    EXPECT_LT(serial.e2e_s, (1 + bound.e2e) * batched.e2e_s);
  }
}

}  // namespace
}  // namespace inferscale

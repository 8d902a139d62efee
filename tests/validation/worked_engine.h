// The engine of the worked scenarios, and how their tables are compared with a run.
//
// A step takes 10 us, 1 us for each token that it prefills and 2 us for each sequence that decodes:
//
//   T = 10 + P + 2 D
//
// KV blocks have 4 tokens unless a scenario says otherwise. The tables are worked by hand from
// docs/schedulers alone. "A 2" is the second token of A; (7) behind it are A's cached tokens.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "property/replica_runs.h"
#include "property/scenario.h"
#include "replica/latency/linear.h"

namespace inferscale {

inline Instant us(std::int64_t microseconds) {
  return Instant::nanos(microseconds * 1000);
}

// Times in microseconds. `most` tokens may be asked for where the answer is shorter.
struct Asked {
  std::int64_t at = 0;
  std::uint32_t prompt = 0;
  std::uint32_t output = 0;
  std::uint32_t most = 0;
  std::int32_t priority = 0;
  std::uint32_t shared_prefix = 0;
};

struct Expected {
  std::int64_t start = 0;
  std::int64_t first_token = 0;
  std::int64_t finish = 0;
  std::int64_t longest_gap = 0;
  std::uint16_t preemptions = 0;
  std::uint32_t cached = 0;
};

// At one instant, of one replica.
struct State {
  std::int64_t at = 0;
  std::int64_t waiting = 0;
  std::int64_t running = 0;
  BlockCount blocks = 0;
  std::size_t replica = 0;
};

// With segments and with single steps.
class Worked : public testing::TestWithParam<ReplicaKind> {
 protected:
  static ReplicaOptions engine(SchedulerKind scheduler, std::int64_t sequences, TokenCount budget,
                               BlockCount blocks) {
    return {.scheduler = scheduler,
            .max_num_seqs = sequences,
            .max_num_batched_tokens = budget,
            .layout = {.block_tokens = 4},
            .kv_blocks = blocks,
            .max_model_len = 1000};
  }

  static Scenario scenario(const ReplicaOptions& options, const std::vector<Asked>& asked) {
    Scenario scenario;
    scenario.options = options;
    scenario.latency =
        make_linear({.step_us = 10, .prefill_us_per_token = 1, .decode_us_per_sequence = 2}, {});
    for (const Asked& one : asked) {
      Request request;
      request.id = static_cast<RequestId>(scenario.requests.size());
      request.prompt_tokens = one.prompt;
      request.output_tokens = one.output;
      request.max_tokens = std::max(one.most, one.output);
      request.arrival = us(one.at);
      request.priority = one.priority;
      request.shared_prefix_tokens = one.shared_prefix;
      scenario.requests.push_back(request);
    }
    return scenario;
  }

  static void expect(const Scenario& scenario, const std::vector<Expected>& outcomes,
                     const std::vector<State>& states) {
    std::vector<Instant> instants;
    for (const State& state : states) instants.push_back(us(state.at));
    const ReplicaRun run = run_replica(GetParam(), scenario, instants);
    EXPECT_EQ(run.broken, "");
    ASSERT_EQ(run.outcomes.size(), outcomes.size());
    for (std::size_t id = 0; id < outcomes.size(); ++id) {
      expect_outcome(run.outcomes[id], outcomes[id], std::string(1, static_cast<char>('A' + id)));
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      const ReplicaLoad& load = run.loads[i * run.usage.size() + states[i].replica];
      EXPECT_EQ(load.queue_depth, states[i].waiting) << "at " << states[i].at << " us";
      EXPECT_EQ(load.running, states[i].running) << "at " << states[i].at << " us";
      EXPECT_EQ(load.kv_blocks_held, states[i].blocks) << "at " << states[i].at << " us";
    }
    usage_of_last_run_ = run.usage;
  }
  static const ReplicaUsage& usage(std::size_t replica = 0) { return usage_of_last_run_[replica]; }

 private:
  static void expect_outcome(const Outcome& actual, const Expected& expected,
                             const std::string& who) {
    EXPECT_EQ(actual.status, OutcomeStatus::kFinished) << who;
    EXPECT_EQ(actual.start.ns(), us(expected.start).ns()) << who;
    EXPECT_EQ(actual.first_token.ns(), us(expected.first_token).ns()) << who;
    EXPECT_EQ(actual.finish.ns(), us(expected.finish).ns()) << who;
    EXPECT_EQ(actual.itl_max.ns(), expected.longest_gap * 1000) << who;
    EXPECT_EQ(actual.preemptions, expected.preemptions) << who;
    EXPECT_EQ(actual.cached_tokens, expected.cached) << who;
  }

  static inline std::vector<ReplicaUsage> usage_of_last_run_;
};

inline std::string kind_name(const testing::TestParamInfo<ReplicaKind>& kind) {
  return kind.param == ReplicaKind::kStepwise ? "Stepwise" : "Segments";
}

}  // namespace inferscale

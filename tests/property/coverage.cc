#include "property/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace inferscale {
namespace {

// How often each thing must have happened for every thousand scenarios.
constexpr std::pair<const char*, std::int64_t> kEnough[] = {
    {"abandoned after a preemption", 10},
    {"abandoned before the start", 500},
    {"abandoned chunked_slo", 50},
    {"abandoned continuous_fcfs", 100},
    {"abandoned continuous_sjf", 50},
    {"abandoned continuous_slo", 50},
    {"abandoned in the prompt", 20},
    {"abandoned in transfer", 10},
    {"abandoned sglang", 50},
    {"abandoned static_fcfs", 50},
    {"abandoned vllm", 100},
    {"abandoned while decoding", 150},
    {"abandoned with the last token", 30},
    {"arrivals on a boundary", 2000},
    {"cached tokens", 200'000},
    {"chunked_slo decode", 15},
    {"chunked_slo prefill", 15},
    {"chunks after others", 30'000},
    {"continuous_fcfs decode", 15},
    {"continuous_sjf decode", 10},
    {"continuous_slo decode", 10},
    {"decodes on both sides of the window", 500},
    {"gaps over the limit", 5000},
    {"hits lost to eviction", 400},
    {"lines that end soon", 5000},
    {"lost requests", 150},
    {"pauses", 15},
    {"preemptions chunked_slo", 100},
    {"preemptions continuous_fcfs", 500},
    {"preemptions continuous_sjf", 50},
    {"preemptions continuous_slo", 100},
    {"preemptions sglang", 30},
    {"preemptions sglang by priority", 10},
    {"preemptions vllm", 100},
    {"preemptions vllm by priority", 200},
    {"refused exceeds_kv_cache", 300},
    {"refused exceeds_max_model_len", 500},
    {"refused queue_full", 800},
    {"reservations with resident tokens", 500},
    {"restarted requests", 200},
    {"sglang decode", 15},
    {"sglang prefill", 15},
    {"shared prefix tokens", 50'000},
    {"simultaneous arrivals", 5000},
    {"stalled partials", 2000},
    {"steps that mix", 5000},
    {"transfers", 2000},
    {"vllm decode", 15},
    {"vllm prefill", 15},
    {"withdrawn", 15},
};

}  // namespace

void Coverage::count(Scenario& scenario, const ReplicaRun& jumps, const ReplicaRun& steps) {
  for (std::size_t i = 0; i < steps.usage.size(); ++i) {
    const ReplicaUsage& usage = steps.usage[i];
    const ReplicaOptions& options = i == 0 ? scenario.options : *scenario.decode;
    const std::string scheduler(scheduler_name(options.scheduler));
    const char* roles[] = {"whole", "prefill", "decode"};
    seen_[scheduler + " " + roles[static_cast<size_t>(options.role)]] += 1;
    seen_["preemptions " + scheduler + (options.by_priority ? " by priority" : "")] +=
        usage.preemptions;
    seen_["recomputed tokens"] += usage.recomputed_tokens;
    seen_[options.prefix_caching ? "cached tokens" : "shared prefix tokens"] +=
        usage.prompt_tokens_cached;
    seen_["decode steps"] += usage.decode_steps;
    seen_["segments"] += usage.segments;
  }
  seen_["stalled partials"] += steps.stalled;
  seen_["pauses"] += steps.paused;
  seen_["transfers"] += steps.transfers;
  seen_["withdrawn"] += steps.withdrawn;
  seen_["restarted requests"] += steps.restarted;
  seen_["failures"] += static_cast<std::int64_t>(scenario.failures.size());
  count_requests(scenario, steps);
  count_shapes(scenario, jumps);
  count_evictions(scenario, steps);
}

void Coverage::count_requests(const Scenario& scenario, const ReplicaRun& steps) {
  seen_["abandoned in transfer"] += steps.cancelled_in_transfer;
  for (const Report& report : steps.reports) {
    if (report.kind == Report::Kind::kRecord) count_abandoned(scenario, report);
    if (report.kind == Report::Kind::kLost) ++seen_["lost requests"];
    if (report.kind == Report::Kind::kReserved && report.figures[0] > 0) {
      ++seen_["reservations with resident tokens"];
    }
  }
  for (size_t id = 0; id < steps.outcomes.size(); ++id) {
    const Outcome& outcome = steps.outcomes[id];
    const Instant arrival = scenario.requests[id].arrival;
    if (outcome.reason != Reason::kNone) {
      ++seen_["refused " + std::string(reason_name(outcome.reason))];
    }
    seen_["gaps over the limit"] += outcome.gaps_over_limit > 0 ? 1 : 0;
    const bool first_here = id == 0 || scenario.requests[id - 1].arrival != arrival;
    seen_["simultaneous arrivals"] += first_here ? 0 : 1;
    // A wake-up at an arrival that starts there may be the start of an idle replica instead.
    const bool boundary = std::binary_search(steps.wakes.begin(), steps.wakes.end(), arrival);
    seen_["arrivals on a boundary"] += boundary && outcome.start > arrival ? 1 : 0;
  }
}

void Coverage::count_abandoned(const Scenario& scenario, const Report& report) {
  const Outcome& outcome = report.outcome;
  if (outcome.status != OutcomeStatus::kAbandoned) return;
  const ReplicaOptions& options = report.replica == 0 ? scenario.options : *scenario.decode;
  ++seen_["abandoned " + std::string(scheduler_name(options.scheduler))];
  if (outcome.start == Instant::never()) {
    ++seen_["abandoned before the start"];
  } else if (outcome.first_token == Instant::never()) {
    ++seen_["abandoned in the prompt"];
  } else {
    ++seen_["abandoned while decoding"];
  }
  const std::uint32_t asked = scenario.requests[report.id].output_tokens;
  seen_["abandoned with the last token"] += outcome.output_tokens == asked ? 1 : 0;
  seen_["abandoned after a preemption"] += outcome.preemptions > 0 ? 1 : 0;
}

void Coverage::count_shapes(const Scenario& scenario, const ReplicaRun& jumps) {
  for (const CostedShape& costed : jumps.shapes) {
    const StepShape& shape = costed.shape;
    const ReplicaOptions& options = costed.replica == 0 ? scenario.options : *scenario.decode;
    seen_["lines that end soon"] += shape.decode_sequences > 0 && costed.valid_steps < 100 ? 1 : 0;
    seen_["steps that mix"] += shape.decode_sequences > 0 && shape.prefill_sequences > 0 ? 1 : 0;
    seen_["chunks after others"] +=
        shape.prefill_context > 0 && !options.prefix_caching && options.shared_prefix_tokens == 0
            ? 1
            : 0;
    seen_["decodes on both sides of the window"] +=
        shape.decode_growing > 0 && shape.decode_growing < shape.decode_sequences ? 1 : 0;
  }
}

// With a prefix cache: prompts that find less than they would if no block were ever given away.
void Coverage::count_evictions(Scenario& scenario, const ReplicaRun& steps) {
  if (!scenario.options.prefix_caching || scenario.decode || !scenario.failures.empty()) return;
  const BlockCount blocks = std::exchange(scenario.options.kv_blocks, 100'000'000);
  const ReplicaRun run = run_replica(ReplicaKind::kStepwise, scenario);
  scenario.options.kv_blocks = blocks;
  for (std::size_t id = 0; id < run.outcomes.size(); ++id) {
    const bool both = run.outcomes[id].finished() && steps.outcomes[id].finished();
    seen_["hits lost to eviction"] +=
        both && steps.outcomes[id].cached_tokens < run.outcomes[id].cached_tokens ? 1 : 0;
  }
}

void Coverage::expect_enough(std::int64_t scenarios) const {
  for (const auto& [name, each_thousand] : kEnough) {
    const auto found = seen_.find(name);
    const std::int64_t value = found == seen_.end() ? 0 : found->second;
    EXPECT_GE(value, each_thousand * scenarios / 1000) << name;
  }
  EXPECT_GE(seen_.at("decode steps"), 3 * seen_.at("segments"));
}

}  // namespace inferscale

// What is seen of a run on the way and at its end.

#include <algorithm>
#include <string>

#include "replica/latency/lone_service.h"
#include "sim/fleet_run.h"

namespace inferscale {
namespace {

void add_usage(const ReplicaUsage& part, ReplicaUsage& sum) {
  sum.busy_ns += part.busy_ns;
  sum.sequence_ns += part.sequence_ns;
  sum.kv_block_ns += part.kv_block_ns;
  sum.kv_blocks_peak = std::max(sum.kv_blocks_peak, part.kv_blocks_peak);
  sum.running_peak = std::max(sum.running_peak, part.running_peak);
  sum.queue_peak = std::max(sum.queue_peak, part.queue_peak);
  sum.preemptions += part.preemptions;
  sum.recomputed_tokens += part.recomputed_tokens;
  sum.prompt_tokens_looked_up += part.prompt_tokens_looked_up;
  sum.prompt_tokens_cached += part.prompt_tokens_cached;
  sum.prefill_steps += part.prefill_steps;
  sum.decode_steps += part.decode_steps;
  sum.segments += part.segments;
  add_retention(part.retention, sum.retention);
}

// The call as it would be alone, and what computing lost history again took of it.
void reckon_times(const GroupOptions& group, const Outcome& outcome, CallRecord& call) {
  const ReplicaOptions& replica = group.replica;
  const LoneService alone(*group.latency, replica.max_num_batched_tokens,
                          replica.layout.window_tokens);
  const TokenCount prompt = call.prompt_tokens;
  const TokenCount history =
      whole_tokens(replica.layout, std::min<TokenCount>(call.history_tokens, prompt - 1));
  const double with_history = alone.prefill_ns(history, prompt);
  call.alone_ns = with_history + alone.decode_ns(prompt, call.output_tokens);
  const TokenCount cached = outcome.cached_tokens;
  if (cached < history) call.recompute_ns = alone.prefill_ns(cached, prompt) - with_history;
}

}  // namespace

void FleetRun::flush() {
  flushing_ = true;
  if (reactive_ != nullptr) {
    for (Member& member : members_) member.replica->settle(result_.end);
  }
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    current_ = i;
    members_[i].replica->flush();
  }
  for (const std::deque<Request>* waiting : {&unplaced_, &retries_}) {
    for (const Request& request : *waiting) {
      end_without_replica(request, OutcomeStatus::kUnfinished, Reason::kNone, {});
    }
  }
  for (const Request& request : gate_ ? gate_->held_requests() : std::vector<Request>()) {
    end_without_replica(request, OutcomeStatus::kUnfinished, Reason::kNone, {});
  }
  for (const RequestId id : unplaced_decodes_) {
    end_without_replica(parked_.find(id)->handoff.request, OutcomeStatus::kUnfinished,
                        Reason::kNone, {});
  }
}

void FleetRun::add_up(SimulationResult& result) const {
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (!units_[member.unit].was_up) continue;
    const GroupOptions& group = fleet_.groups[member.group];
    const ReplicaUsage& usage = member.replica->usage();
    const Duration up =
        lifecycle_ ? lifecycle_->held(member.unit, result.end) : result.end - Instant();
    result.replicas.push_back({.index = i,
                               .pool = group.name,
                               .accelerators = group.accelerators,
                               .up = up,
                               .busy_ns = usage.busy_ns,
                               .finished = member.finished,
                               .preemptions = usage.preemptions,
                               .prompt_tokens_looked_up = usage.prompt_tokens_looked_up,
                               .prompt_tokens_cached = usage.prompt_tokens_cached,
                               .kv_block_ns = usage.kv_block_ns,
                               .kv_blocks = group.replica.kv_blocks,
                               .kv_blocks_peak = usage.kv_blocks_peak,
                               .queue_peak = usage.queue_peak,
                               .retention = usage.retention});
    add_usage(usage, result.usage);
    result.fleet.accelerator_time += up * group.accelerators;
  }
  if (lifecycle_) result.fleet.failures = lifecycle_->failures();
  if (link_) result.transfers.link_busy = link_->busy();
  if (gate_) result.gate = gate_->counts();
}

void FleetRun::add_records() {
  SourceRecords records = reactive_->take_records(result_.end);
  result_.programs = std::move(records.programs);
  result_.clients = std::move(records.clients);
  if (!result_.programs) return;
  for (CallRecord& call : result_.programs->calls) {
    if (call.status != CallStatus::kFinished) continue;
    const Outcome& outcome = result_.outcomes[call.request];
    reckon_times(group_of(outcome.replica), outcome, call);
  }
}

std::string FleetRun::why_stuck() const {
  const std::string left =
      std::to_string(in_system_) + (in_system_ == 1 ? " request is left" : " requests are left");
  if (!unplaced_.empty()) {
    return left + ": no replica is up, and none will return or start (" +
           std::to_string(unplaced_.size()) + " wait at the door)";
  }
  if (!unplaced_decodes_.empty()) {
    return left + ": no decode replica is up, and none will return or start (" +
           std::to_string(unplaced_decodes_.size()) + " were prefilled and wait for one)";
  }
  return left + ": every replica stands still";
}

SignalSample FleetRun::sample_of(std::uint32_t index, Instant at) const {
  const Member& member = members_[index];
  const ReplicaLoad load = member.replica->load_at(at);
  return {.at = at,
          .replica = index,
          .queue_depth = load.queue_depth,
          .running = load.running,
          .kv_blocks_used = load.kv_blocks_held,
          .kv_used_fraction = static_cast<double>(load.kv_blocks_held) /
                              static_cast<double>(group_of(index).replica.kv_blocks),
          .arrived = member.dispatched,
          .finished = member.finished,
          .refused = member.refused,
          .preemptions = member.replica->usage().preemptions};
}

void FleetRun::sample(Instant at, std::vector<SignalSample>& rows) const {
  const auto count = static_cast<std::uint32_t>(members_.size());
  if (samples_each()) {
    for (std::uint32_t i = 0; i < count; ++i) rows.push_back(sample_of(i, at));
    return;
  }
  SignalSample sum{.at = at, .queue_depth = static_cast<std::int64_t>(unplaced_.size())};
  std::int64_t blocks = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const SignalSample one = sample_of(i, at);
    sum.queue_depth += one.queue_depth;
    sum.running += one.running;
    sum.kv_blocks_used += one.kv_blocks_used;
    sum.finished += one.finished;
    sum.refused += one.refused;
    sum.preemptions += one.preemptions;
    const bool is_up = !lifecycle_ || lifecycle_->state(members_[i].unit) == ReplicaState::kUp ||
                       lifecycle_->state(members_[i].unit) == ReplicaState::kDraining;
    if (is_up) blocks += group_of(i).replica.kv_blocks;
  }
  sum.arrived = static_cast<std::int64_t>(result_.outcomes.size());
  if (blocks > 0) {
    sum.kv_used_fraction = static_cast<double>(sum.kv_blocks_used) / static_cast<double>(blocks);
  }
  rows.push_back(sum);
}

}  // namespace inferscale

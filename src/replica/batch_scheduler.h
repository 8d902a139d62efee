// Which waiting requests join the batch, when, and what a step is made of: the policy of the
// engine's own loop, as a table of rules.
//
// docs/schedulers/steps.md states in full what each rule means; a replica asks the table wherever
// schedulers differ, so a scheduler is a row here and a page there.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace inferscale {

enum class SchedulerKind : std::uint8_t {
  kContinuousFcfs,
  kStaticFcfs,
  kContinuousSjf,
  kContinuousSlo,
  kChunkedSlo,
  kVllm,
  kSglang,
};

// Who stands first in the queue.
enum class QueueOrder : std::uint8_t {
  kArrival,   // the preempted, then in order of arrival
  kEntry,     // in order of entry: the preempted at the end
  kService,   // the shortest estimated service
  kSlack,     // the least slack to the E2E deadline
  kPriority,  // the highest priority, then in order of arrival
};

struct SchedulerRules {
  std::string_view name;
  SchedulerKind kind;
  QueueOrder order = QueueOrder::kArrival;
  bool mixed = false;            // one step decodes and prefills; else a step does either
  bool chunked = false;          // a prompt may take several steps
  bool drains = false;           // the batch opens only when it is empty; output is reserved
  bool merges_partials = false;  // partial and waiting sequences are served in one order
  bool expects_output = false;   // admits by the room that running answers are expected to leave
  bool knows_priority = false;   // may be told to put higher priorities first
  bool needs_deadline = false;   // an E2E limit must be configured
};

std::span<const SchedulerRules> all_schedulers();
const SchedulerRules& rules_of(SchedulerKind kind);
std::optional<SchedulerKind> scheduler_by_name(std::string_view name);
inline std::string_view scheduler_name(SchedulerKind kind) {
  return rules_of(kind).name;
}

}  // namespace inferscale

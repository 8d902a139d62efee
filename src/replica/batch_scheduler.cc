#include "replica/batch_scheduler.h"

#include <array>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::array kSchedulers = {
    SchedulerRules{.name = "continuous_fcfs", .kind = SchedulerKind::kContinuousFcfs},
    SchedulerRules{.name = "static_fcfs", .kind = SchedulerKind::kStaticFcfs, .drains = true},
    SchedulerRules{.name = "continuous_sjf",
                   .kind = SchedulerKind::kContinuousSjf,
                   .order = QueueOrder::kService},
    SchedulerRules{.name = "continuous_slo",
                   .kind = SchedulerKind::kContinuousSlo,
                   .order = QueueOrder::kSlack,
                   .needs_deadline = true},
    SchedulerRules{.name = "chunked_slo",
                   .kind = SchedulerKind::kChunkedSlo,
                   .order = QueueOrder::kSlack,
                   .mixed = true,
                   .chunked = true,
                   .merges_partials = true,
                   .needs_deadline = true},
    SchedulerRules{.name = "vllm",
                   .kind = SchedulerKind::kVllm,
                   .mixed = true,
                   .chunked = true,
                   .knows_priority = true},
    SchedulerRules{.name = "sglang",
                   .kind = SchedulerKind::kSglang,
                   .order = QueueOrder::kEntry,
                   .chunked = true,
                   .expects_output = true,
                   .knows_priority = true},
};

}  // namespace

std::span<const SchedulerRules> all_schedulers() {
  return kSchedulers;
}

const SchedulerRules& rules_of(SchedulerKind kind) {
  for (const SchedulerRules& rules : kSchedulers) {
    if (rules.kind == kind) return rules;
  }
  CHECK(false) << "no scheduler " << static_cast<int>(kind);
  return kSchedulers.front();
}

std::optional<SchedulerKind> scheduler_by_name(std::string_view name) {
  for (const SchedulerRules& rules : kSchedulers) {
    if (rules.name == name) return rules.kind;
  }
  return std::nullopt;
}

}  // namespace inferscale

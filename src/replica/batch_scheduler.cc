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

constexpr bool stand_in_the_order_of_their_kinds() {
  for (std::size_t i = 0; i < kSchedulers.size(); ++i) {
    if (kSchedulers[i].kind != static_cast<SchedulerKind>(i)) return false;
  }
  return true;
}
static_assert(stand_in_the_order_of_their_kinds());

}  // namespace

std::span<const SchedulerRules> all_schedulers() {
  return kSchedulers;
}

const SchedulerRules& rules_of(SchedulerKind kind) {
  const auto place = static_cast<std::size_t>(kind);
  CHECK(place < kSchedulers.size()) << "no scheduler " << static_cast<int>(kind);
  return kSchedulers[place];
}

std::optional<SchedulerKind> scheduler_by_name(std::string_view name) {
  for (const SchedulerRules& rules : kSchedulers) {
    if (rules.name == name) return rules.kind;
  }
  return std::nullopt;
}

}  // namespace inferscale

#include "core/decision_observer.h"

namespace inferscale {

std::string_view head_waits_name(HeadWaits why) {
  switch (why) {
    case HeadWaits::kNobody:
      return "nobody";
    case HeadWaits::kPlace:
      return "place";
    case HeadWaits::kBlocks:
      return "kv_blocks";
    case HeadWaits::kBudget:
      return "token_budget";
    case HeadWaits::kExpectedRoom:
      return "expected_room";
    case HeadWaits::kBatchClosed:
      return "batch_closed";
    case HeadWaits::kAfterPreemption:
      return "after_preemption";
  }
  return "unknown";
}

}  // namespace inferscale

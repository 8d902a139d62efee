#include "core/outcome.h"

namespace inferscale {

std::string_view status_name(OutcomeStatus status) {
  switch (status) {
    case OutcomeStatus::kUnfinished:
      return "unfinished";
    case OutcomeStatus::kFinished:
      return "finished";
    case OutcomeStatus::kRefused:
      return "refused";
    case OutcomeStatus::kLost:
      return "lost";
  }
  return "unknown";
}

std::string_view reason_name(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kNone:
      return "none";
    case RefusalReason::kExceedsKvCache:
      return "exceeds_kv_cache";
    case RefusalReason::kExceedsModelLen:
      return "exceeds_max_model_len";
    case RefusalReason::kQueueFull:
      return "queue_full";
  }
  return "unknown";
}

}  // namespace inferscale

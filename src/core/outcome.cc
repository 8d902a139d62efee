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
    case OutcomeStatus::kDeferred:
      return "deferred";
    case OutcomeStatus::kAbandoned:
      return "abandoned";
  }
  return "unknown";
}

}  // namespace inferscale

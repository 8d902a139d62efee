// What a replica notes of the step that it forms, for a decision trace; nothing is noted when
// nobody asked for one.

#pragma once

#include <vector>

#include "core/decision_observer.h"

namespace inferscale {

struct StepNotes {
  std::vector<StepReport::Chunk> chunks;
  std::vector<RequestId> admitted;
  std::vector<RequestId> preempted;
  StepReport report;  // its spans are set when it is sent

  void clear() {
    chunks.clear();
    admitted.clear();
    preempted.clear();
    report = StepReport();
  }
};

}  // namespace inferscale

// The lines of `outcomes.jsonl`, `attempts.jsonl`, `signals.jsonl` and `replicas.jsonl`, as
// docs/formats/run_folder.md lays them down.
//
// Times in milliseconds and seconds are written from integer nanoseconds without a floating-point
// number in between, so they are exact. One line costs well under a microsecond.

#pragma once

#include <cstdint>
#include <string>

#include "core/carried_columns.h"
#include "core/outcome.h"
#include "core/replica_report.h"
#include "core/signal_sample.h"
#include "core/slo.h"
#include "core/slo_class.h"

namespace inferscale {

// Columns of outcomes that not every run has.
struct OutcomeColumns {
  bool cached_tokens = false;  // runs with a prefix cache
  bool replica = false;        // runs with more than one replica
  RequestClasses classes;      // runs with classes of service
};

// Which of a request's attempts an attempt is.
struct AttemptPlace {
  std::uint64_t id = 0;
  std::uint64_t request = 0;  // line of its request in outcomes.jsonl
  std::uint32_t attempt = 0;  // of this request, from 0
  bool is_last = false;       // the one that the request's outcome ends with
};

// Appends the line, with its end, of the request `id`.
void append_outcome_line(std::string& out, std::uint64_t id, const Outcome& outcome, const Slo& slo,
                         const CarriedColumns& carried, const OutcomeColumns& columns = {});
void append_attempt_line(std::string& out, const AttemptPlace& place, const Outcome& outcome);
void append_signal_line(std::string& out, const SignalSample& sample);
void append_replica_line(std::string& out, const ReplicaReport& replica);

}  // namespace inferscale

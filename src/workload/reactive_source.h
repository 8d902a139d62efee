// A source that waits for the system that serves it: later requests arrive after earlier ones have
// ended.

#pragma once

#include "core/outcome.h"
#include "core/session_record.h"
#include "workload/request_source.h"

namespace inferscale {

class ReactiveSource : public RequestSource {
 public:
  ReactiveSource* reactive() final { return this; }
  // When the next request arrives, as far as is known now; never() when all that are to come wait
  // for others to end. next() gives just that request, and false when this is never(). Its owner
  // may present it later than that.
  virtual Instant next_at() const = 0;
  // The request ended at `now`: finished, refused or lost. Others may arrive because of it, at
  // `now` or later.
  virtual void ended(RequestId id, const Outcome& outcome, Instant now) = 0;
  // What became of everything, when the run has ended at `end`.
  virtual ProgramRecords take_records(Instant end) = 0;
};

}  // namespace inferscale

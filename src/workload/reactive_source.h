// A source that waits for the system that serves it: later requests arrive after earlier ones have
// ended, and callers may leave before that.

#pragma once

#include <optional>

#include "core/answer.h"
#include "core/client_record.h"
#include "core/outcome.h"
#include "core/session_record.h"
#include "workload/request_source.h"

namespace inferscale {

// What a source has kept of what became of its requests.
struct SourceRecords {
  std::optional<ProgramRecords> programs;  // of agent programs
  std::optional<ClientRecords> clients;    // of clients that may come again
};

class ReactiveSource : public RequestSource {
 public:
  ReactiveSource* reactive() final { return this; }
  // When the next request arrives, as far as is known now; never() when all that are to come wait
  // for others to end. next() gives just that request, and false when this is never(). Its owner
  // may present it later than that.
  virtual Instant next_at() const = 0;
  // ended() follows for this request: what it looks at may be fetched from memory meanwhile.
  virtual void expect_end(RequestId id) const { (void)id; }
  // The request ended at `now`: finished, refused, deferred, lost or abandoned; its caller was told
  // `answer`. Others may arrive because of it, at `now` or later.
  virtual void ended(RequestId id, const Outcome& outcome, const Answer& answer, Instant now) = 0;
  // When the next caller leaves before its request has ended, closing the connection; never() when
  // none will. take_leaver() gives that request; its owner then ends it as abandoned.
  virtual Instant next_leave() const { return Instant::never(); }
  virtual RequestId take_leaver() { return 0; }
  // What became of everything, when the run has ended at `end`.
  virtual SourceRecords take_records(Instant end) = 0;
};

}  // namespace inferscale

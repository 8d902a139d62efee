// Lays the sessions of a trace onto one time line, for formats whose times count from each
// session's own beginning: all from instant 0, or as an arrival process says (the stream
// "session_arrivals").

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "workload/arrivals.h"
#include "workload/trace.h"

namespace inferscale {

class SessionClock {
 public:
  SessionClock(const TraceOptions& options, std::uint64_t run_seed);
  // When the next session begins, in the order of the file.
  std::int64_t next_start_ns() { return process_ ? process_->next().ns() : 0; }
  bool is_spread() const { return process_ != nullptr; }

  // A time that far behind another one; nothing when it is beyond every run.
  static std::optional<std::int64_t> later(std::int64_t ns, std::int64_t by_ns);

 private:
  std::unique_ptr<ArrivalProcess> process_;
};

}  // namespace inferscale

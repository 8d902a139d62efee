// The lines of `sessions.jsonl` and `calls.jsonl`, as docs/formats/run_folder.md lays them down.
//
// Times are written from integer nanoseconds, exactly; a line costs about a microsecond.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/outcome.h"
#include "core/session_record.h"
#include "core/slo.h"
#include "core/slo_class.h"
#include "metrics/session_summary.h"

namespace inferscale {

std::string_view call_status_name(CallStatus status);        // "not_reached", ...
std::string_view session_status_name(SessionStatus status);  // "not_begun", ...

// Appends the line, with its end, of the session of that index. `calls` are its own; `name` is
// nothing where sessions have none.
void append_session_line(std::string& out, std::uint64_t index, const SessionRecord& session,
                         std::span<const CallRecord> calls, std::span<const Outcome> outcomes,
                         const std::string* name);

// Latencies count from `ready`, and the SLO is judged by these.
void append_call_line(std::string& out, const CallRecord& call, std::span<const Outcome> outcomes,
                      const Slo& slo, const RequestClasses& classes = {});

}  // namespace inferscale

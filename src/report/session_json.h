// The `sessions` part of summary.json (docs/formats/run_folder.md).

#pragma once

#include "base/json_writer.h"
#include "metrics/session_summary.h"

namespace inferscale {

// What does not exist is null: a latency of no turn, a rate of nothing, attainment without targets,
// a host tier where there is none.
JsonValue session_json(const SessionSummary& summary, const SessionFacts& facts);

}  // namespace inferscale

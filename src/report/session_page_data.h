// What the report page shows of agent programs beside the summary's figures.

#pragma once

#include <optional>

#include "base/json_writer.h"
#include "base/time.h"
#include "report/run_folder_reader.h"

namespace inferscale {

// null for runs of other workloads, else
//
//   {cdf: {ttft, makespan}: {ms: [], percent: [], count},
//    until_s: null or where plots over time end,
//    over_time: {width_s, sessions: [], turns: []},
//    by_turn: {turn: [], turns: [], ttft_p50: [], ttft_p95: [], history_percent: []}}
//
// Without outcomes only `cdf.makespan` and `over_time.sessions` hold anything. In `by_turn` a point
// is a turn's number in its chain, from 1, or a few in a row: the first of them, how many finished
// turns there are, their TTFT from ready in ms, and what share of their history was found.
JsonValue session_page_json(const RunFolder& run);

// Where plots over time end, if before the run: see busy_end of metrics/session_times.h.
std::optional<Instant> shown_until(const RunFolder& run);

}  // namespace inferscale

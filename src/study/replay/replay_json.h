// The results of a replay as JSON (docs/commands/replay.md).

#pragma once

#include "base/json_writer.h"
#include "study/replay/closed_replay.h"
#include "study/replay/open_replay.h"

namespace inferscale {

JsonValue open_replay_json(const OpenReplayFigures& figures);
JsonValue replayed_run_json(const ReplayedRun& run);
JsonValue paired_outcomes_json(const PairedOutcomes& pairs);

}  // namespace inferscale

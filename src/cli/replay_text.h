// A replay as people read it in a terminal.

#pragma once

#include <string>

#include "study/replay/closed_replay.h"
#include "study/replay/open_replay.h"

namespace inferscale {

std::string open_replay_text(const OpenReplayFigures& figures);
std::string closed_replay_text(const ReplayedRun& recorded, const ReplayedRun& replayed,
                               const PairedOutcomes& pairs);

}  // namespace inferscale

// Whether sessions pile up. Their turns can't: a turn comes after the one before it was answered,
// so however slow the deployment, few turns wait at once. What grows under overload is the number
// of sessions in progress, and it is judged as backlog.h judges requests.

#pragma once

#include "core/session_record.h"
#include "metrics/backlog.h"

namespace inferscale {

// Over the window in which sessions begin; one that failed counts to its end. Figures are sessions
// a second.
Backlog judge_sessions(const ProgramRecords& records);

}  // namespace inferscale

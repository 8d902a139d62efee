// Presets of generated sessions: distributions fitted to published figures of real agents.
//
// A preset is a part of a configuration: the keys of `workload.sessions` that it stands for, which
// count where they are not written. docs/sessions.md has the sources and how well each fits.

#pragma once

#include <string_view>

#include "base/config_node.h"

namespace inferscale {

// "coding_agent", "coding_agent_tracelab", "short_tasks". REQUIRES: one of these.
ConfigNode session_preset(std::string_view name);

}  // namespace inferscale

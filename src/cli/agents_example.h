// The example of `inferscale agents` (configs/agents.yaml), put into the program when it is built.

#pragma once

#include "cli/run_loading.h"

namespace inferscale {

inline constexpr std::string_view kAgentsExampleName = "agents.yaml";
extern const std::string_view kAgentsExampleText;
inline const ExampleConfig kAgentsExample{kAgentsExampleText, kAgentsExampleName};

}  // namespace inferscale

// The example of `inferscale explore`, put into the program when it is built
// (configs/explore_chat.yaml).

#pragma once

#include <string_view>

namespace inferscale {

inline constexpr std::string_view kExploreExampleName = "explore_chat.yaml";
extern const std::string_view kExploreExample;

}  // namespace inferscale

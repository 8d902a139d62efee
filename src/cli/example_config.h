// The example configuration, put into the program when it is built (configs/example.yaml).

#pragma once

#include <string_view>

namespace inferscale {

inline constexpr std::string_view kExampleConfigName = "example.yaml";
extern const std::string_view kExampleConfig;

}  // namespace inferscale

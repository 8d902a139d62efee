// The example cases of `inferscale validate`, put into the program when it is built
// (configs/validation_example.yaml).

#pragma once

#include <string_view>

namespace inferscale {

inline constexpr std::string_view kValidationExampleName = "validation_example.yaml";
extern const std::string_view kValidationExample;

}  // namespace inferscale

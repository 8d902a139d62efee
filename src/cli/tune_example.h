// The example of `inferscale tune` (configs/tune.yaml), put into the program when it is built.

#pragma once

#include "cli/run_loading.h"

namespace inferscale {

inline constexpr std::string_view kTuneExampleName = "tune.yaml";
extern const std::string_view kTuneExampleText;
inline const ExampleConfig kTuneExample{kTuneExampleText, kTuneExampleName};

}  // namespace inferscale

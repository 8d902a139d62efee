// The scenarios of the cases of a validation.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "study/scenario.h"
#include "study/validation/validation_case.h"

namespace inferscale {

struct CaseScenarios {
  std::vector<Scenario> scenarios;
  std::vector<std::optional<std::size_t>> of_case;  // nothing for cases that are not simulated
};

// A scenario for each case that has a configuration. A deployment that can't be (too large for its
// memory, say) makes its case one that is not simulated. Errors: a configuration of ours, or a
// setting from the command line, that is wrong; a trace that can't be read.
Result<CaseScenarios> make_case_scenarios(
    std::vector<ValidationCase>& cases,
    const std::function<RunInputs(const ValidationCase&)>& inputs_of);

}  // namespace inferscale

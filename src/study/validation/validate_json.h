// The result of a validation as its result.json has it (docs/commands/validate.md).

#pragma once

#include "base/json_writer.h"
#include "study/validation/validate.h"

namespace inferscale {

// REQUIRES: `result` is of these cases and scenarios.
JsonValue validate_json(const ValidateResult& result, std::span<const ValidationCase> cases,
                        const std::vector<Scenario>& scenarios, const ValidateOptions& options);

// What the runs and the result follow from: each case with its configuration, its figures or why
// it is not simulated.
JsonValue validate_plan(std::span<const ValidationCase> cases,
                        const std::vector<Scenario>& scenarios,
                        std::span<const std::optional<std::size_t>> scenario_of_case,
                        const ValidateOptions& options);

}  // namespace inferscale

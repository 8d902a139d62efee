// The two configurations of a comparison: files, or the pair that is part of the program.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/study_session.h"
#include "study/alternatives.h"

namespace inferscale {

// configs/ab_baseline.yaml and configs/ab_treatment.yaml, put into the program when it is built.
extern const std::string_view kExampleBaseline;
extern const std::string_view kExampleTreatment;

// Baseline and treatment as the scenarios of a study; --set applies to both.
Result<std::vector<Scenario>> load_pair(const StudyFlags& flags, const std::string& baseline,
                                        const std::string& treatment);

// What a study of the pair follows from, but for its own options.
JsonValue pair_plan(const std::vector<Scenario>& pair);
// configuration_notes() of both, each once; "baseline: ..." where only one has it.
std::vector<std::string> pair_notes(const std::vector<Scenario>& pair);

}  // namespace inferscale

// The two configurations of a comparison: files, or the pair that is part of the program.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/study_session.h"
#include "study/comparison/alternatives.h"

namespace inferscale {

// configs/ab_baseline.yaml and configs/ab_treatment.yaml, put into the program when it is built.
extern const std::string_view kExampleBaseline;
extern const std::string_view kExampleTreatment;

// What the command line says of the two: a file each, or one file and what is changed in it.
struct PairFlags {
  std::string baseline;
  std::string treatment;
  std::vector<std::string> changes;  // "key.path=value" each
};
void declare_pair_flags(Arguments& arguments, PairFlags& flags);

// Baseline and treatment as the scenarios of a study; --set applies to both, and --change after it
// to the treatment, whose label then is "chat.yaml --change deployment.replicas=2".
Result<std::vector<Scenario>> load_pair(const StudyFlags& flags, const PairFlags& pair);

// "chat / chat-on-l40s"; one name when both have the same.
std::string pair_name(const Alternatives& alternatives);

// What a study of the pair follows from, but for its own options.
JsonValue pair_plan(const std::vector<Scenario>& pair);
// configuration_notes() of both, each once; "baseline: ..." where only one has it.
std::vector<std::string> pair_notes(const std::vector<Scenario>& pair);

}  // namespace inferscale

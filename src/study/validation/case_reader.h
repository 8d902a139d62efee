// The cases of a file, read strictly, each with the configuration that stands for it.
//
//   {cases: [...], seed: 42, repeats: 1, study: {validate: {...}}}
//
// A case says what was measured, and the system either as a configuration of ours (`config`,
// `config_file`) or in its publisher's words (described_case.h). What is wrong with the file is an
// error with its line; what is only not simulated is kept in its case, with the reason.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/config_node.h"
#include "base/result.h"
#include "sim/run_config.h"
#include "study/validation/validate_options.h"
#include "study/validation/validation_case.h"

namespace inferscale {

struct CaseInputs {
  ModelResolver resolve_model;
  // The configuration in a file; the name counts from the case file's folder.
  std::function<Result<ConfigNode>(const std::string& file)> load_config;
};

struct CaseFile {
  ValidateOptions options;
  std::vector<ValidationCase> cases;
};

// `study`: null, or a `study` map whose keys override those of the file (from --set).
Result<CaseFile> read_cases(const ConfigNode& file, const ConfigNode& study,
                            const CaseInputs& inputs);

}  // namespace inferscale

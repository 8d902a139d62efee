// From a configuration (a file, or the example, with --set) to a run that is ready to start, or to
// a study's scenario.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/config_node.h"
#include "base/result.h"
#include "study/prepared_run.h"
#include "study/scenario.h"

namespace inferscale {

// In all of these an empty path is the example that is part of the program.
Result<ConfigNode> read_config_tree(const std::string& path,
                                    const std::vector<std::string>& settings);
// The same of a text that is part of the program, called `name` in errors.
Result<ConfigNode> read_config_text(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& settings);
std::string config_label(const std::string& path);
// Models and traces by names that count from the configuration's folder.
RunInputs inputs_beside(const std::string& path);

Result<PreparedRun> load_run(const std::string& path, const std::vector<std::string>& settings);
Result<Scenario> load_scenario(const std::string& path, const std::vector<std::string>& settings);

// What a reader must know of a configuration before its figures, in sentences.
std::vector<std::string> configuration_notes(const PreparedRun& run);
// Those of them that are about the requests, whatever serves them.
std::vector<std::string> workload_notes(const PreparedRun& run);

}  // namespace inferscale

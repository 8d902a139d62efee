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

// A configuration that is part of the program.
struct ExampleConfig {
  std::string_view text;
  std::string_view name;
};
extern const ExampleConfig kChatExample;

// In all of these an empty path is the example that is part of the program.
Result<ConfigNode> read_config_tree(const std::string& path,
                                    const std::vector<std::string>& settings,
                                    const ExampleConfig& example = kChatExample);
// The same of a text that is part of the program, called `name` in errors.
Result<ConfigNode> read_config_text(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& settings);
std::string config_label(const std::string& path, const ExampleConfig& example = kChatExample);
// Models and traces by names that count from the configuration's folder.
RunInputs inputs_beside(const std::string& path);

Result<PreparedRun> load_run(const std::string& path, const std::vector<std::string>& settings,
                             const ExampleConfig& example = kChatExample);
Result<Scenario> load_scenario(const std::string& path, const std::vector<std::string>& settings,
                               const ExampleConfig& example = kChatExample);

// Exactly one of a file (`what`: "a configuration file") and the example.
Result<void> check_one_config(const std::string& path, bool example, const std::string& what);
// "runs/" of "runs/chat.yaml": what file names in it count from; empty for the current folder.
std::string folder_of(const std::string& path);

// What a reader must know of a configuration before its figures, in sentences: all of it, or about
// what serves the requests, about the requests, about how they differ from their trace's file.
std::vector<std::string> configuration_notes(const PreparedRun& run);
std::vector<std::string> deployment_notes(const PreparedRun& run);
std::vector<std::string> workload_notes(const PreparedRun& run);
std::vector<std::string> derivation_notes(const PreparedRun& run);

}  // namespace inferscale

// From a configuration (a file, or the example, with --set) to a run that is ready to start.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/deployment.h"
#include "sim/run_config.h"
#include "workload/request_source.h"
#include "workload/trace.h"

namespace inferscale {

struct LoadedRun {
  RunConfig config;
  std::string effective_config_json;  // every key, defaults filled in
  FleetDeployment deployment;
  std::optional<Trace> trace;
  std::vector<std::string> warnings;

  // The requests from the first on; each call starts a source afresh. It refers to this object.
  std::unique_ptr<RequestSource> requests() const;
};

// `path` empty: the example that is part of the program.
Result<LoadedRun> load_run(const std::string& path, const std::vector<std::string>& settings);

}  // namespace inferscale

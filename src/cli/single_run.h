// One run and its figures: what `simulate` does with requests, and `agents` with sessions.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/run_loading.h"

namespace inferscale {

struct RunFlags {
  std::string config;
  bool example = false;
  std::vector<std::string> settings;
  std::string out;
  std::string decisions;
  std::string chrome_trace;
  bool json = false;
  bool stepwise = false;
  bool verify = false;
};

void declare_run_flags(Arguments& arguments, RunFlags& flags);

struct RunKind {
  ExampleConfig example;
  bool of_sessions = false;  // the workload must be one of sessions; else it must not
};

Result<int> run_once_and_report(const RunFlags& flags, const RunKind& kind);

}  // namespace inferscale

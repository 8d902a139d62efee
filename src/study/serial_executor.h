// Runs a study's runs one after the other, in the caller's thread.

#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "study/run_executor.h"

namespace inferscale {

// `scenarios` and `stop` outlive the executor.
std::unique_ptr<RunExecutor> make_serial_executor(const std::vector<Scenario>& scenarios,
                                                  const std::atomic<bool>* stop);

}  // namespace inferscale

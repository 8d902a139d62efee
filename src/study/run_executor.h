// Who runs a study's runs: one thread, all cores, several machines. Studies see only this.
//
// A study asks for batches of runs and goes on from their records. Since records do not depend on
// who runs them, a study takes the same course, and comes to the same bytes, with any executor.

#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "study/run_once.h"
#include "study/run_request.h"

namespace inferscale {

class RunExecutor {
 public:
  virtual ~RunExecutor() = default;
  // The records of `requests`, in their order. Equal requests are run once.
  // Errors: kInterrupted; kIo when what was finished can't be kept.
  virtual Result<std::vector<RunResult>> run(std::span<const RunRequest> requests) = 0;
};

}  // namespace inferscale

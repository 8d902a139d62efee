// The traces of a study's runs: each is read once, however many runs and threads want it.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "workload/programs/programs.h"
#include "workload/programs/session_options.h"
#include "workload/trace.h"

namespace inferscale {

class TraceShelf {
 public:
  // File names count from `folder`.
  explicit TraceShelf(std::string folder) : folder_(std::move(folder)) {}

  // `written`: the same for the same options.
  Result<std::shared_ptr<const Trace>> take(const TraceOptions& options, const std::string& written,
                                            std::uint64_t seed);
  // Sessions stay for the whole study: every run begins them anew.
  Result<std::shared_ptr<const Programs>> take_sessions(const SessionTraceOptions& options,
                                                        const std::string& written);

 private:
  static constexpr std::size_t kMostKept = 4;

  std::string folder_;
  std::mutex mutex_;
  // A trace stays as long as a run uses it; the last few stay in any case, for the next runs.
  std::map<std::string, std::weak_ptr<const Trace>> known_;
  std::deque<std::shared_ptr<const Trace>> kept_;
  std::map<std::string, std::shared_ptr<const Programs>> sessions_;
};

}  // namespace inferscale

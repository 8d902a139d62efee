// The traces of a study's runs: each is read once, however many runs and threads want it.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "workload/trace.h"

namespace inferscale {

class TraceShelf {
 public:
  // File names count from `folder`.
  explicit TraceShelf(std::string folder) : folder_(std::move(folder)) {}

  // `written`: the same for the same options.
  Result<std::shared_ptr<const Trace>> take(const TraceOptions& options, const std::string& written,
                                            std::uint64_t seed);

 private:
  std::string folder_;
  std::mutex mutex_;
  // A trace that is drawn anew for each seed is kept as long as somebody uses it; one that all
  // seeds share stays.
  std::map<std::string, std::weak_ptr<const Trace>> drawn_;
  std::map<std::string, std::shared_ptr<const Trace>> shared_;
};

}  // namespace inferscale

#include "cli/trace_shelf.h"

#include "workload/readers/session_trace_reader.h"
#include "workload/readers/trace_reader.h"

namespace inferscale {
namespace {

bool hangs_on_seed(const TraceOptions& options) {
  return options.jitter > Duration() || options.session_arrivals.has_value();
}

}  // namespace

Result<std::shared_ptr<const Trace>> TraceShelf::take(const TraceOptions& options,
                                                      const std::string& written,
                                                      std::uint64_t seed) {
  const std::string key = hangs_on_seed(options) ? written + " " + std::to_string(seed) : written;
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const Trace>& known = known_[key];
  if (std::shared_ptr<const Trace> trace = known.lock()) return trace;
  Result<Trace> read = read_trace(options, folder_, seed);
  if (!read) return std::unexpected(read.error());
  auto trace = std::make_shared<const Trace>(std::move(*read));
  known = trace;
  kept_.push_back(trace);
  if (kept_.size() > kMostKept) kept_.pop_front();
  return trace;
}

Result<std::shared_ptr<const Programs>> TraceShelf::take_sessions(
    const SessionTraceOptions& options, const std::string& written) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Programs>& known = sessions_[written];
  if (known == nullptr) {
    const bool is_absolute = options.file.starts_with('/');
    Result<Programs> read =
        read_session_trace(options, is_absolute ? options.file : folder_ + options.file);
    if (!read) return std::unexpected(read.error());
    known = std::make_shared<const Programs>(std::move(*read));
  }
  return known;
}

}  // namespace inferscale

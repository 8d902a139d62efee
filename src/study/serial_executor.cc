#include "study/serial_executor.h"

#include <map>
#include <utility>

namespace inferscale {
namespace {

class SerialExecutor final : public RunExecutor {
 public:
  SerialExecutor(const std::vector<Scenario>& scenarios, const std::atomic<bool>* stop)
      : scenarios_(scenarios), stop_(stop) {}

  Result<std::vector<RunResult>> run(std::span<const RunRequest> requests) override {
    std::vector<RunResult> records;
    for (const RunRequest& request : requests) {
      const std::pair key(request.scenario, request_text(request));
      auto known = known_.find(key);
      if (known == known_.end()) {
        std::optional<RunResult> record = run_once(scenarios_[request.scenario], request, stop_);
        if (!record) return fail(ErrorCode::kInterrupted, "interrupted");
        known = known_.emplace(key, std::move(*record)).first;
      }
      records.push_back(known->second);
    }
    return records;
  }

 private:
  const std::vector<Scenario>& scenarios_;
  const std::atomic<bool>* stop_;
  std::map<std::pair<std::size_t, std::string>, RunResult> known_;
};

}  // namespace

std::unique_ptr<RunExecutor> make_serial_executor(const std::vector<Scenario>& scenarios,
                                                  const std::atomic<bool>* stop) {
  return std::make_unique<SerialExecutor>(scenarios, stop);
}

}  // namespace inferscale

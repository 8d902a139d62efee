// A rank of a study that is not rank 0: simulates what rank 0 gives it, and goes on with the
// batch's records when rank 0 has them all.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "study/executors/executors.h"
#include "study/executors/idle_wait.h"
#include "study/executors/run_key.h"
#include "study/executors/worker_threads.h"

namespace inferscale {

class Follower final : public RunExecutor {
 public:
  Follower(const std::vector<Scenario>& scenarios, RankMail& mail, const ExecutorOptions& options);
  Result<std::vector<RunResult>> run(std::span<const RunRequest> requests) override;

 private:
  struct Batch {
    explicit Batch(const UniqueRuns& all) : runs(all), records(all.size()) {}
    const UniqueRuns& runs;
    std::vector<std::optional<RunResult>> records;
    std::size_t known = 0;
  };

  // Both say whether something came.
  Result<bool> take_mail(Batch& batch);
  bool answer(std::chrono::microseconds at_most);
  Result<void> check_goes_on() const;
  void wind_down();

  const std::vector<Scenario>& scenarios_;
  RankMail& mail_;
  const ExecutorOptions options_;
  WorkerThreads threads_;
  IdleWait idle_;
  std::uint32_t batch_ = 0;  // from 1
};

}  // namespace inferscale

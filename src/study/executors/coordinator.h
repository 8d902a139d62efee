// Rank 0 of a study, and with one rank all there is: hands out the runs of a batch, keeps their
// records, tells them to the others.
//
//   waiting   a run that nobody has
//   out       given to this rank's threads or to another rank
//   kept      its record is in the folder, if there is one, and in memory
//
// A run goes from waiting to out to kept; when the study is stopped, runs that are out end without
// a record or are kept, and nothing is given out any more. A run is never out twice.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/executors/executors.h"
#include "study/executors/idle_wait.h"
#include "study/executors/run_key.h"
#include "study/executors/worker_threads.h"

namespace inferscale {

class Coordinator final : public RunExecutor {
 public:
  Coordinator(const std::vector<Scenario>& scenarios, RankMail& mail,
              const ExecutorOptions& options);
  Result<std::vector<RunResult>> run(std::span<const RunRequest> requests) override;

 private:
  // One that runs are given to.
  struct Rank {
    std::size_t threads = 0;
    std::size_t out = 0;
    std::uint32_t ready_for = 0;  // the batch that it said to be ready for, from 1
  };
  struct Batch {
    explicit Batch(const UniqueRuns& all) : runs(all), records(all.size()) {}
    const UniqueRuns& runs;
    std::vector<const RunResult*> records;  // null: not kept yet
    std::vector<std::size_t> waiting;       // the next one last
    std::size_t missing = 0;
  };

  void look_up(Batch& batch);
  Result<void> complete(Batch& batch);
  Result<void> hand_out(Batch& batch);
  Result<void> give(Batch& batch, std::size_t to, std::size_t count);
  // Records that came from threads (waits for the first) and by mail. True: something came.
  Result<bool> take_in(Batch& batch, std::chrono::microseconds at_most);
  Result<bool> take_mail(Batch& batch);
  Result<void> greet(const Mail& mail);
  Result<void> keep(Batch& batch, std::size_t run, const std::optional<RunResult>& record);
  Result<void> check_goes_on() const;
  // Ends what goes on, and keeps what was finished nevertheless.
  void wind_down(Batch& batch);
  Error with_count(Error error) const;
  void tell_all(const Batch& batch);
  void show_progress() const;

  const std::vector<Scenario>& scenarios_;
  RankMail& mail_;
  const ExecutorOptions options_;
  WorkerThreads threads_;
  IdleWait idle_;
  std::vector<Rank> ranks_;
  std::vector<std::uint64_t> hashes_;         // of the batches so far
  std::map<RunKey, RunResult> known_;         // without a folder
  std::map<RunKey, const RunResult*> asked_;  // all runs so far; null: without a record yet
  RunProgress progress_;
  bool folder_failed_ = false;
};

}  // namespace inferscale

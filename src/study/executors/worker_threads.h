// The threads of one rank: they take runs from one queue and hand back their records.
//
// One thread submits and takes (the one that coordinates); the others simulate. A thread is started
// when a run waits and fewer than the most are there, so a study whose runs are all on disk starts
// none.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "study/run_once.h"

namespace inferscale {

class WorkerThreads {
 public:
  struct Ended {
    std::size_t run = 0;
    std::optional<RunResult> record;  // settled; nothing: the run was stopped
  };

  // `scenarios` outlive the object.
  WorkerThreads(const std::vector<Scenario>& scenarios, int most);
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads();  // stops

  // `request` outlives the run. Errors: no thread can be started.
  Result<void> submit(std::size_t run, const RunRequest& request);
  // The next run that ended; waits for it, but not longer than `at_most`.
  std::optional<Ended> next(std::chrono::microseconds at_most);
  // Runs that were submitted and not yet taken with next().
  std::size_t outstanding() const { return outstanding_; }
  int most() const { return most_; }
  // Runs that wait or go on end without a record, those of later submits too.
  void stop();
  // Whether a run ended without a record since the memory did not suffice.
  bool out_of_memory() const { return out_of_memory_.load(); }

 private:
  struct Task {
    std::size_t run = 0;
    const RunRequest* request = nullptr;
  };
  void work();
  std::optional<RunResult> simulate(const RunRequest& request);

  const std::vector<Scenario>& scenarios_;
  const int most_;
  std::size_t outstanding_ = 0;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> out_of_memory_ = false;
  std::vector<std::thread> threads_;

  std::mutex mutex_;  // of what follows
  std::deque<Task> waiting_;
  std::deque<Ended> ended_;
  bool closing_ = false;
  std::condition_variable task_came_;
  std::condition_variable run_ended_;
};

}  // namespace inferscale

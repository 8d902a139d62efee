#include "study/executors/worker_threads.h"

#include <new>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "study/executors/run_lines.h"

namespace inferscale {

WorkerThreads::WorkerThreads(const std::vector<Scenario>& scenarios, int most)
    : scenarios_(scenarios), most_(most) {
  CHECK(most >= 1) << "no threads";
}

WorkerThreads::~WorkerThreads() {
  stop();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  task_came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Result<void> WorkerThreads::submit(std::size_t run, const RunRequest& request) {
  if (threads_.size() < static_cast<std::size_t>(most_) && threads_.size() <= outstanding_) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      // With fewer threads the study takes longer, and is the same.
      if (threads_.empty()) {
        return fail(ErrorCode::kIo, "no thread can be started: " + error.code().message());
      }
    }
  }
  ++outstanding_;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({.run = run, .request = &request});
  }
  task_came_.notify_one();
  return {};
}

std::optional<WorkerThreads::Ended> WorkerThreads::next(std::chrono::microseconds at_most) {
  std::unique_lock lock(mutex_);
  if (!run_ended_.wait_for(lock, at_most, [this] { return !ended_.empty(); })) return std::nullopt;
  Ended ended = std::move(ended_.front());
  ended_.pop_front();
  --outstanding_;
  return ended;
}

void WorkerThreads::stop() {
  stopped_.store(true);
}

void WorkerThreads::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    task_came_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    const Task task = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    Ended ended{.run = task.run, .record = simulate(*task.request)};
    lock.lock();
    ended_.push_back(std::move(ended));
    run_ended_.notify_one();
  }
}

std::optional<RunResult> WorkerThreads::simulate(const RunRequest& request) {
  try {
    std::optional<RunResult> record = run_once(scenarios_[request.scenario], request, &stopped_);
    if (record) record = settled(std::move(*record));
    return record;
  } catch (const std::bad_alloc&) {
    out_of_memory_.store(true);
    return std::nullopt;
  }
}

}  // namespace inferscale

// Executors that use all cores, and with MPI all cores of several machines.
//
// One course, whoever runs: every rank takes the study's steps itself, from the same records, so
// nothing but runs and their records is ever shared out. Rank 0 gives runs to whoever is free,
// keeps each record on disk as it comes in (`folder`), and tells all ranks all records of the batch
// before any of them goes on. Threads are the same with one rank.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "study/executors/mpi_world.h"
#include "study/executors/study_folder.h"
#include "study/run_executor.h"

namespace inferscale {

struct ExecutorOptions {
  int threads = 1;                          // on this rank
  StudyFolder* folder = nullptr;            // rank 0 only; null: nothing is kept
  const std::atomic<bool>* stop = nullptr;  // set by a signal handler
  // Runs that are done, of those that were asked for so far; called by the thread that called
  // run().
  std::function<void(std::uint64_t done, std::uint64_t asked)> progress;
};

// `scenarios`, the same on every rank, and `world` outlive the executor.
std::unique_ptr<RunExecutor> make_executor(const std::vector<Scenario>& scenarios, MpiWorld& world,
                                           const ExecutorOptions& options);

}  // namespace inferscale

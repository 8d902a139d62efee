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
#include <string>
#include <vector>

#include "study/executors/rank_mail.h"
#include "study/executors/study_folder.h"
#include "study/run_executor.h"

namespace inferscale {

struct RunProgress {
  std::uint64_t done = 0;    // of the runs that were asked for so far
  std::uint64_t asked = 0;   // each once
  std::uint64_t reused = 0;  // of those done: found in the folder
};

struct ExecutorOptions {
  int threads = 1;                          // on this rank
  StudyFolder* folder = nullptr;            // rank 0 only; null: nothing is kept
  const std::atomic<bool>* stop = nullptr;  // set by a signal handler
  // What the study is and which program makes it: ranks that have another one are refused.
  std::string identity;
  // Called on rank 0, by the thread that called run().
  std::function<void(const RunProgress&)> progress;
};

// `scenarios`, the same on every rank, and `mail` outlive the executor. Errors of its run() besides
// those that RunExecutor names: kInvalidConfig when ranks ask for different runs (a configuration,
// a trace or the program is not the same on every machine), and what another rank ended with.
std::unique_ptr<RunExecutor> make_executor(const std::vector<Scenario>& scenarios, RankMail& mail,
                                           const ExecutorOptions& options);

}  // namespace inferscale

// A recorded run of a real engine, simulated again: what ours says beside what it recorded.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replica/batch_scheduler.h"
#include "replica/latency/latency_model.h"
#include "replica/replica.h"
#include "validation/agreement.h"
#include "validation/real_engine_record.h"

namespace inferscale {

struct ReplayOptions {
  SchedulerKind scheduler = SchedulerKind::kVllm;
  // Whether a preempted request may find its own blocks again, as in the engine. What requests
  // share with each other is not recorded, so nothing is shared here.
  bool own_blocks = true;
};

struct Replay {
  // By request, in seconds from the first one's sending: ours and the engine's.
  std::vector<double> start_s, engine_start_s;
  std::vector<double> first_token_s, engine_first_token_s;
  std::vector<double> finish_s, engine_finish_s;
  std::vector<double> wait_s, engine_wait_s;  // from sending to start
  // By second.
  std::vector<double> running, engine_running;
  std::vector<double> waiting, engine_waiting;
  ReplicaUsage usage;
  std::vector<std::string> violations;  // of the simulator's invariants

  Errors start_errors() const { return errors_of(start_s, engine_start_s); }
  Errors first_token_errors() const { return errors_of(first_token_s, engine_first_token_s); }
  Errors finish_errors() const { return errors_of(finish_s, engine_finish_s); }
  Errors running_errors() const { return errors_of(running, engine_running); }
  Errors waiting_errors() const { return errors_of(waiting, engine_waiting); }
};

// REQUIRES: every request of the run finishes.
Replay replay(const EngineRun& run, const LatencyModel& latency, const ReplayOptions& options);

}  // namespace inferscale

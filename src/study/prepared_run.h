// A configuration tree, with what it names outside of it, as a run that is ready to start.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config_node.h"
#include "base/result.h"
#include "metrics/run_summary.h"
#include "metrics/session_summary.h"
#include "sim/deployment.h"
#include "sim/run_config.h"
#include "sim/simulator.h"
#include "study/study_options.h"
#include "workload/programs/programs.h"
#include "workload/request_source.h"
#include "workload/trace.h"

namespace inferscale {

// Where a configuration's names lead to. Both are called by many threads at once, and give the same
// answer each time.
struct RunInputs {
  ModelResolver resolve_model;
  // The rows of a trace as its options want them; `written` is the options' text, the same for the
  // same options, and `seed` the run's.
  std::function<Result<std::shared_ptr<const Trace>>(
      const TraceOptions& options, const std::string& written, std::uint64_t seed)>
      load_trace;
  // Recorded sessions, in the same way; all begin at 0.
  std::function<Result<std::shared_ptr<const Programs>>(const SessionTraceOptions& options,
                                                        const std::string& written)>
      load_sessions;
};

struct PreparedRun {
  RunConfig config;
  StudyOptions study;
  ConfigNode effective;  // the tree with every default filled in
  FleetDeployment deployment;
  std::shared_ptr<const Trace> trace;        // null: the requests are generated
  std::shared_ptr<const Programs> programs;  // null: the requests are of no sessions

  // Of tenants that name a class, by number; shorter than the tenants where the others name none.
  std::vector<std::optional<std::uint8_t>> tenant_classes;

  std::vector<double> tenant_weights;  // by number; empty: all the same

  // The classes of a run's requests, given each one's; none where the run has none.
  RequestClasses classes_of(const std::vector<std::uint8_t>& slo_class) const {
    return {.classes = config.slo_classes, .of = slo_class};
  }
  // The requests from the first on; each call starts a source afresh. It refers to this object.
  std::unique_ptr<RequestSource> requests() const;
};

// Reads a tree strictly and no more: neither a deployment is derived nor a trace loaded.
Result<PreparedRun> read_run(const ConfigNode& tree, const RunInputs& inputs);

// As read_run; `change`, where there is one, then has its way with the configuration
// before the deployment is derived from it. Errors name the place in the tree, or else `source`.
Result<PreparedRun> prepare_run(const ConfigNode& tree, const RunInputs& inputs,
                                const std::function<void(RunConfig&)>& change,
                                const std::string& source);

// Rows of replicas are reported for fleets; the figures of one replica that is always up are the
// run's.
std::span<const ReplicaReport> reported_replicas(const PreparedRun& run,
                                                 const SimulationResult& result);
// The figures of the run. Of agent sessions the backlog is that of sessions.
RunSummary summary_of(const PreparedRun& run, const SimulationResult& result);
RunFacts facts_of(const PreparedRun& run, const SimulationResult& result);
// Of a run of agent programs: `result.programs` is set.
SessionFacts session_facts_of(const PreparedRun& run, const SimulationResult& result);

}  // namespace inferscale

#include "study/prepared_run.h"

#include "base/check.h"
#include "base/config_json.h"
#include "workload/workload_source.h"

namespace inferscale {
namespace {

std::string trace_text(const ConfigNode& effective) {
  const ConfigNode* workload = effective.find("workload");
  const ConfigNode* trace = workload == nullptr ? nullptr : workload->find("trace");
  CHECK(trace != nullptr) << "a run with a trace has the options of the trace";
  return to_json_text(*trace);
}

}  // namespace

std::unique_ptr<RequestSource> PreparedRun::requests() const {
  return make_request_source(config.workload, trace.get(), config.seed);
}

Result<PreparedRun> read_run(const ConfigNode& tree, const RunInputs& inputs) {
  PreparedRun run;
  ConfigSession session;
  ConfigReader root(tree, session);
  run.config = read_run_config(root, inputs.resolve_model);
  run.study = read_study_options(root);
  root.finish();
  if (session.failed()) return std::unexpected(session.error());
  run.effective = session.effective();
  return run;
}

Result<PreparedRun> prepare_run(const ConfigNode& tree, const RunInputs& inputs,
                                const std::function<void(RunConfig&)>& change,
                                const std::string& source) {
  Result<PreparedRun> read = read_run(tree, inputs);
  if (!read) return read;
  PreparedRun run = std::move(*read);
  if (change) change(run.config);

  Result<FleetDeployment> deployment = derive_fleet(run.config);
  if (!deployment) {
    Error error = deployment.error();
    if (error.where.empty()) error.where = source;
    return std::unexpected(error);
  }
  run.deployment = std::move(*deployment);

  if (run.config.workload.trace) {
    auto trace =
        inputs.load_trace(*run.config.workload.trace, trace_text(run.effective), run.config.seed);
    if (!trace) return std::unexpected(trace.error());
    run.trace = std::move(*trace);
  }
  return run;
}

std::span<const ReplicaReport> reported_replicas(const PreparedRun& run,
                                                 const SimulationResult& result) {
  const FleetConfig& fleet = run.config.fleet;
  bool changes = fleet.failures.any();
  for (const GroupConfig& group : fleet.groups) changes |= group.scaling.has_value();
  if (result.replicas.size() < 2 && !changes) return {};
  return result.replicas;
}

RunFacts facts_of(const PreparedRun& run, const SimulationResult& result) {
  const ReplicaUsage& usage = result.usage;
  return {.slo = run.config.slo,
          .measurement = run.config.measurement,
          .end = result.end,
          .accelerators = run.deployment.accelerators(),
          .replicas = reported_replicas(run, result),
          .prefix_caching = run.deployment.caches_prefixes(),
          .kv_blocks = run.deployment.kinds.front().replica.kv_blocks,
          .busy_ns = usage.busy_ns,
          .sequence_ns = usage.sequence_ns,
          .kv_block_ns = usage.kv_block_ns,
          .kv_blocks_peak = usage.kv_blocks_peak,
          .running_peak = usage.running_peak,
          .queue_peak = usage.queue_peak,
          .preemptions = usage.preemptions,
          .recomputed_tokens = usage.recomputed_tokens};
}

}  // namespace inferscale

#include "study/prepared_run.h"

#include <algorithm>

#include "base/check.h"
#include "base/config_json.h"
#include "metrics/session_backlog.h"
#include "sim/door_deployment.h"
#include "workload/clients/client_source.h"
#include "workload/programs/generate_programs.h"
#include "workload/programs/program_source.h"
#include "workload/reactive_source.h"
#include "workload/slo_class_source.h"
#include "workload/tenant_prompts.h"
#include "workload/workload_source.h"

namespace inferscale {
namespace {

// The options of the trace that `above` ("workload", or "sessions" in it) names.
std::string trace_text(const ConfigNode* above) {
  const ConfigNode* trace = above == nullptr ? nullptr : above->find("trace");
  CHECK(trace != nullptr) << "a run with a trace has the options of the trace";
  return to_json_text(*trace);
}

Result<std::shared_ptr<const Programs>> programs_of(const RunConfig& config,
                                                    const ConfigNode* workload,
                                                    const RunInputs& inputs) {
  const SessionOptions& sessions = *config.workload.sessions;
  const ArrivalOptions& arrivals = config.workload.generated.arrivals;
  if (!sessions.trace) {
    return std::make_shared<const Programs>(
        generate_programs(sessions.generated, arrivals, config.seed));
  }
  const std::string written =
      trace_text(workload == nullptr ? nullptr : workload->find("sessions"));
  const auto recorded = inputs.load_sessions(*sessions.trace, written);
  if (!recorded) return std::unexpected(recorded.error());
  return std::make_shared<const Programs>(begin_sessions(**recorded, arrivals, config.seed));
}

// Whose requests there are.
CallerFacts callers_of(const PreparedRun& run) {
  CallerFacts callers;
  if (run.programs) {
    const auto& sessions = run.programs->sessions;
    callers.sessions = true;
    callers.tenants = std::any_of(sessions.begin(), sessions.end(), [](const auto& session) {
      return session.tenant != Request::kNobody;
    });
  } else if (run.trace) {
    callers.tenants = !run.trace->tenant.empty();
    callers.sessions = !run.trace->session.empty();
    callers.tenant_names = run.trace->tenant_names;
  } else {
    callers.tenants = run.config.workload.generated.prefixes.has_value();
    callers.sessions = run.config.workload.generated.conversations.has_value();
    for (std::uint32_t i = 0;
         callers.tenants && i < run.config.workload.generated.prefixes->tenants; ++i) {
      callers.tenant_names.push_back(tenant_name(i));
    }
  }
  return callers;
}

Result<void> finish_admission(PreparedRun& run) {
  const std::optional<SessionOptions>& sessions = run.config.workload.sessions;
  if (sessions && sessions->retries.most > 0 && !run.config.clients.is_open_loop()) {
    return fail(ErrorCode::kInvalidConfig,
                "clients.profile: " + run.config.clients.profile +
                    " and workload.sessions.retries both say how a call is tried again: expected "
                    "one of them");
  }
  const CallerFacts callers = callers_of(run);
  for (const TenantConfig& tenant : run.config.admission.tenants) {
    const Result<std::uint32_t> number = tenant_number(tenant.name, callers);
    if (!number) return std::unexpected(number.error());
    if (tenant.weight != 1) {
      run.tenant_weights.resize(callers.tenant_names.size(), 1);
      run.tenant_weights[*number] = tenant.weight;
    }
    if (!tenant.slo_class) continue;
    if (run.tenant_classes.size() <= *number) run.tenant_classes.resize(*number + 1);
    run.tenant_classes[*number] = tenant.slo_class;
  }
  if (!run.deployment.fleet.door) return {};
  return finish_door(run.config.admission, callers, *run.deployment.fleet.door);
}

}  // namespace

std::unique_ptr<RequestSource> PreparedRun::requests() const {
  const bool is_open_loop = config.clients.is_open_loop();
  ClassOptions classes{.classes = config.slo_classes, .of_tenant = tenant_classes};
  if (programs) {
    std::unique_ptr<ReactiveSource> calls =
        is_open_loop ? make_program_source(*programs, config.workload.sessions->retries)
                     : make_program_source(*programs, config.clients, config.seed);
    if (classes.classes.empty()) return calls;
    return with_classes(std::move(calls), std::move(classes), config.seed);
  }
  std::unique_ptr<RequestSource> source =
      make_request_source(config.workload, trace.get(), config.seed);
  if (!classes.classes.empty()) {
    if (trace) classes.priorities = trace->priority;
    source = with_classes(std::move(source), std::move(classes), config.seed);
  }
  if (is_open_loop) return source;
  return make_client_source(std::move(source), config.clients, config.seed);
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

  const ConfigNode* workload = run.effective.find("workload");
  if (run.config.workload.trace) {
    auto trace =
        inputs.load_trace(*run.config.workload.trace, trace_text(workload), run.config.seed);
    if (!trace) return std::unexpected(trace.error());
    run.trace = std::move(*trace);
  }
  if (run.config.workload.sessions) {
    auto programs = programs_of(run.config, workload, inputs);
    if (!programs) return std::unexpected(programs.error());
    run.programs = std::move(*programs);
  }
  if (const Result<void> finished = finish_admission(run); !finished) {
    Error error = finished.error();
    if (error.where.empty()) error.where = source;
    return std::unexpected(error);
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

RunSummary summary_of(const PreparedRun& run, const SimulationResult& result) {
  RunSummary summary = summarize_run(result.outcomes, *result.gaps, facts_of(run, result));
  if (result.programs) summary.backlog = judge_sessions(*result.programs);
  return summary;
}

RunFacts facts_of(const PreparedRun& run, const SimulationResult& result) {
  const ReplicaUsage& usage = result.usage;
  return {.slo = run.config.slo,
          .classes = run.classes_of(result.slo_class),
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

SessionFacts session_facts_of(const PreparedRun& run, const SimulationResult& result) {
  const Deployment& kind = run.deployment.kinds.front();
  const std::optional<KvRetentionOptions>& retention = kind.replica.retention;
  const std::optional<SessionOptions>& sessions = run.config.workload.sessions;
  return {.slo = run.config.slo,
          .classes = run.classes_of(result.slo_class),
          .makespan = sessions ? sessions->makespan : std::nullopt,
          .end = result.end,
          .retention = result.usage.retention,
          .kv_bytes_per_token = kind.kv_bytes_per_token,
          .host_tier = retention && retention->idle == IdleKv::kOffload};
}

}  // namespace inferscale

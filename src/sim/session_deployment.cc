#include "sim/session_deployment.h"

#include <string>

namespace inferscale {
namespace {

std::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::kInvalidConfig, "deployment." + what);
}

Result<void> check_without_sessions(const EngineOptions& engine) {
  if (engine.retention) {
    return wrong("engine.retention: is about agent sessions: expected workload.sessions beside it");
  }
  if (engine.service == ServiceMode::kSerial) {
    return wrong(
        "engine.service: serial serves agent sessions: expected workload.sessions beside it");
  }
  return {};
}

}  // namespace

Result<void> fit_sessions(const RunConfig& config, const GroupConfig& group,
                          const Deployment* first, Deployment& kind) {
  const EngineOptions& engine = group.deployment.engine;
  if (!config.workload.sessions) return check_without_sessions(engine);
  KvRetentionOptions retention = engine.retention.value_or(default_kv_retention());
  if (retention.idle != IdleKv::kRecompute && engine.service == ServiceMode::kBatched &&
      !engine.prefix_caching) {
    return wrong(
        "engine.prefix_caching: false, so the KV cache of a session is never found again: expected "
        "true, or deployment.engine.retention.idle: recompute");
  }
  if (config.fleet.split) {
    return wrong(
        "disaggregation: expected none beside workload.sessions: what becomes of a session's KV "
        "cache in two pools is not simulated in this version");
  }
  if (first != nullptr && first->kv_bytes_per_token != kind.kv_bytes_per_token) {
    return wrong("groups: " + group.name +
                 " keeps other KV bytes per token than the first group: expected the same beside "
                 "workload.sessions, whose KV caches are added up");
  }
  retention.kv_bytes_per_token = kind.kv_bytes_per_token;
  kind.replica.retention = retention;
  return {};
}

}  // namespace inferscale

#include "sim/deployment.h"

#include <algorithm>

#include "replica/batch_scheduler.h"
#include "replica/latency/service_estimate.h"
#include "sim/door_deployment.h"
#include "sim/session_deployment.h"

namespace inferscale {
namespace {

// Time that a token in flight adds to the wait of a newcomer: a batch turns out as many tokens as
// it has places in the time of a reference decode step.
double token_ns(const ReplicaOptions& replica) {
  return std::max(1e-3,
                  replica.service.decode_ns_per_token / static_cast<double>(replica.max_num_seqs));
}

GroupOptions group_options(const GroupConfig& config, const Deployment& kind) {
  const KvLayout& layout = kind.replica.layout;
  const TokenCount tokens =
      kind.replica.kv_blocks / (layout.full_groups + layout.window_groups) * layout.block_tokens;
  return {.name = config.name,
          .replica = kind.replica,
          .latency = kind.latency.get(),
          .replicas = config.replicas,
          .ranks = kind.ranks,
          .accelerators = kind.accelerators / kind.ranks,
          .traits = {.weight = config.weight,
                     .token_ns = token_ns(kind.replica),
                     .kv_cache_tokens = tokens},
          .scaling = config.scaling};
}

// A batch that drains would wait for the other pool: in a split it is served continuously.
void make_continuous(GroupOptions& group, std::vector<std::string>& warnings) {
  if (!rules_of(group.replica.scheduler).drains) return;
  warnings.push_back("The " + group.name + " pool asks for " +
                     std::string(scheduler_name(group.replica.scheduler)) +
                     ", which does not go with disaggregation: continuous_fcfs is simulated.");
  group.replica.scheduler = SchedulerKind::kContinuousFcfs;
}

// Whether blocks that a window has moved past are given back. A prefix cache reads them again, and
// so does a chain's next call at the serial station.
WindowBlocks windows_of(const EngineOptions& engine) {
  const bool reads_again = engine.prefix_caching || engine.service == ServiceMode::kSerial;
  return reads_again ? WindowBlocks::kKept : WindowBlocks::kFreed;
}

// As many blocks as `tokens` tokens of requests of the greatest length take: with windows, whose
// blocks are given back, that is fewer than one for every block of tokens in every group.
BlockCount blocks_for_cache(TokenCount tokens, const KvLayout& layout, TokenCount longest) {
  if (!layout.has_window()) {
    return tokens / layout.block_tokens * layout.full_groups;
  }
  const double each =
      static_cast<double>(layout.blocks_for(longest)) / static_cast<double>(longest);
  return std::max<BlockCount>(1, static_cast<BlockCount>(static_cast<double>(tokens) * each));
}

std::unique_ptr<LatencyModel> latency_of(const DeploymentConfig& config) {
  std::unique_ptr<LatencyModel> latency =
      make_latency(config.latency, config.model, config.hardware, config.shape);
  if (!config.engine.speculative) return latency;
  return make_speculative(std::move(latency), *config.engine.speculative);
}

// What classes say of one of the limits, in their order.
std::vector<std::optional<Duration>> limits_of(std::span<const SloClass> classes,
                                               std::optional<Duration> Slo::* limit) {
  std::vector<std::optional<Duration>> limits;
  for (const SloClass& each : classes) limits.push_back(each.slo.*limit);
  return limits;
}

ReplicaOptions replica_options(const DeploymentConfig& config, const Slo& slo,
                               std::span<const SloClass> classes, BlockCount blocks,
                               const KvLayout& layout) {
  const EngineOptions& engine = config.engine;
  return {.scheduler = engine.scheduler,
          .max_num_seqs = engine.max_num_seqs,
          .max_num_batched_tokens = engine.max_num_batched_tokens,
          .long_prefill_token_threshold = engine.long_prefill_token_threshold,
          .by_priority = engine.by_priority,
          .layout = layout,
          .kv_blocks = blocks,
          .watermark_blocks =
              static_cast<BlockCount>(engine.kv_watermark * static_cast<double>(blocks)),
          .prefix_caching = engine.prefix_caching,
          .max_model_len = engine.max_model_len.value_or(config.model.max_context),
          .max_queued = engine.max_queued,
          .itl_limit = slo.itl,
          .e2e_limit = slo.e2e,
          .class_itl_limits = limits_of(classes, &Slo::itl),
          .class_e2e_limits = limits_of(classes, &Slo::e2e),
          .serial = engine.service == ServiceMode::kSerial,
          .retention = engine.retention};
}

// The workload's one shared prefix is kept in the cache for good, in place of what the cache would
// find by content: docs/prefix_cache.md.
Result<void> keep_shared_prefix(const WorkloadOptions& workload, ReplicaOptions& replica) {
  if (!workload.shared_prefix || !replica.prefix_caching) return {};
  replica.prefix_caching = false;
  replica.shared_prefix_tokens = workload.shared_prefix->tokens;
  const BlockCount resident = resident_prefix_blocks(replica);
  if (resident < replica.kv_blocks) return {};
  return fail(ErrorCode::kInvalidConfig,
              "workload.shared_prefix.tokens: " + std::to_string(workload.shared_prefix->tokens) +
                  " tokens fill " + std::to_string(resident) +
                  " KV blocks: expected fewer than the " + std::to_string(replica.kv_blocks) +
                  " that there are");
}

// The key of a deadline that the scheduler needs and some request has not; empty: all is well.
std::string missing_deadline(const EngineOptions& engine, const Slo& slo,
                             std::span<const SloClass> classes) {
  if (!rules_of(engine.scheduler).needs_deadline) return {};
  for (const SloClass& each : classes) {
    if (!each.slo.e2e) return "slo_classes." + each.name + ".slo.e2e_ms";
  }
  return classes.empty() && !slo.e2e ? "slo.e2e_ms" : "";
}

}  // namespace

Result<Deployment> derive_deployment(const DeploymentConfig& config, const Slo& slo,
                                     std::span<const SloClass> classes) {
  const EngineOptions& engine = config.engine;
  if (const std::string missing = missing_deadline(engine, slo, classes); !missing.empty()) {
    return fail(ErrorCode::kInvalidConfig,
                "deployment.engine.scheduler: " + std::string(scheduler_name(engine.scheduler)) +
                    " orders requests by their deadline: expected " + missing);
  }
  Deployment deployment;
  const KvLayout layout = kv_layout(config.model, windows_of(engine), engine.kv_block_tokens);
  const Result<KvCapacity> capacity =
      kv_capacity(config.model, config.hardware, config.shape,
                  {.gpu_memory_utilization = engine.gpu_memory_utilization,
                   .kv_block_tokens = engine.kv_block_tokens,
                   .max_num_batched_tokens = engine.max_num_batched_tokens,
                   .max_num_seqs = engine.max_num_seqs,
                   .windows = windows_of(engine)});
  if (capacity) deployment.memory = *capacity;
  if (!capacity && !engine.kv_cache_tokens) return std::unexpected(capacity.error());
  const TokenCount longest = engine.max_model_len.value_or(config.model.max_context);
  const BlockCount blocks = engine.kv_cache_tokens
                                ? blocks_for_cache(*engine.kv_cache_tokens, layout, longest)
                                : capacity->blocks;
  deployment.latency = latency_of(config);
  deployment.replica = replica_options(config, slo, classes, blocks, layout);
  deployment.replica.service = service_estimate(
      *deployment.latency, {.max_num_seqs = engine.max_num_seqs,
                            .max_num_batched_tokens = engine.max_num_batched_tokens,
                            .window = layout.window_tokens});
  deployment.kv_bytes_per_token = config.shape.kv_bytes_per_token(config.model);
  deployment.accelerators = config.shape.accelerators();
  deployment.ranks = config.shape.data;
  return deployment;
}

Result<FleetDeployment> derive_fleet(const RunConfig& config) {
  FleetDeployment derived;
  FleetOptions& fleet = derived.fleet;
  fleet.router = config.fleet.router;
  fleet.failures = config.fleet.failures;
  fleet.seed = config.seed;
  fleet.has_slo_classes = !config.slo_classes.empty();
  derived.warnings = config.warnings;
  for (const GroupConfig& group : config.fleet.groups) {
    Result<Deployment> kind = derive_deployment(group.deployment, config.slo, config.slo_classes);
    if (!kind) {
      Error error = kind.error();
      if (config.fleet.groups.size() > 1) error.message = group.name + ": " + error.message;
      return std::unexpected(error);
    }
    if (const Result<void> kept = keep_shared_prefix(config.workload, kind->replica); !kept) {
      return std::unexpected(kept.error());
    }
    const Deployment* first = derived.kinds.empty() ? nullptr : &derived.kinds.front();
    if (const Result<void> fits = fit_sessions(config, group, first, *kind); !fits) {
      return std::unexpected(fits.error());
    }
    derived.kinds.push_back(std::move(*kind));
    fleet.groups.push_back(group_options(group, derived.kinds.back()));
  }
  if (config.fleet.split) {
    for (GroupOptions& group : fleet.groups) make_continuous(group, derived.warnings);
    fleet.split = SplitOptions{.link = config.fleet.split->link,
                               .decode_router = config.fleet.split->decode_router,
                               .kv_bytes_per_token = derived.kinds[1].kv_bytes_per_token};
  }
  if (config.admission.door) fleet.door = door_of(config, fleet);
  return derived;
}

std::int64_t FleetDeployment::accelerators() const {
  std::int64_t sum = 0;
  for (const GroupOptions& group : fleet.groups) {
    sum += group.replicas * group.ranks * group.accelerators;
  }
  return sum;
}

bool FleetDeployment::caches_prefixes() const {
  return std::any_of(kinds.begin(), kinds.end(), [](const Deployment& kind) {
    return kind.replica.prefix_caching || kind.replica.shared_prefix_tokens > 0;
  });
}

}  // namespace inferscale

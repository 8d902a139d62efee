#include "sim/door_deployment.h"

#include <algorithm>

#include "admission/gate.h"
#include "admission/registry.h"
#include "base/check.h"
#include "base/config_json.h"
#include "sim/door.h"
#include "sim/service_model_of.h"
#include "workload/tenant_prompts.h"

namespace inferscale {
namespace {

std::int64_t front_replicas(const FleetOptions& fleet) {
  std::int64_t replicas = 0;
  for (std::size_t i = 0; i < (fleet.split ? 1 : fleet.groups.size()); ++i) {
    replicas += fleet.groups[i].replicas * fleet.groups[i].ranks;
  }
  return replicas;
}

// All the places in the batches of the replicas that requests arrive at.
std::int64_t places(const DoorOptions& door, const FleetOptions& fleet) {
  const std::int64_t each = fleet.groups.front().replica.max_num_seqs;
  if (door.scope == DoorScope::kReplica) return each;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < (fleet.split ? 1 : fleet.groups.size()); ++i) {
    const GroupOptions& group = fleet.groups[i];
    all += group.replicas * group.ranks * group.replica.max_num_seqs;
  }
  return all;
}

PolicyFactory concurrency_of(std::int64_t limit) {
  const SourcePosition at{.source = "the deployment"};
  ConfigNode parameters = ConfigNode::map(at);
  parameters.append("limit", number_node(static_cast<double>(limit), at.source), at);
  ConfigSession session;
  ConfigReader reader(parameters, session);
  PolicyFactory factory = find_policy("fixed_concurrency")->read(reader);
  CHECK(!session.failed()) << session.error().to_string();
  return factory;
}

SignalSupply supply_of(const FleetOptions& fleet, const RunConfig& config) {
  const bool caches =
      std::any_of(fleet.groups.begin(), fleet.groups.end(),
                  [](const GroupOptions& group) { return group.replica.prefix_caching; });
  SignalSupply supply{
      .source = caches ? "the simulated engine" : "the simulated engine (without prefix_caching)",
      .signals = {Signal::kKvUsedFraction, Signal::kKvFreeTokens, Signal::kQueueDepth,
                  Signal::kRunning, Signal::kPreemptionRate, Signal::kReplicasFullFraction},
      .service_model = true,
      .outcomes = true,
      .workload =
          "the workload (tenants come from workload.prefixes or a trace's column, sessions "
          "from workload.sessions, workload.conversations or a trace's column)"};
  if (caches) supply.signals.add(Signal::kPrefixHitRate);
  const RequestClasses classes{.classes = config.slo_classes};
  supply.request.deadline = classes.any_ttft(config.slo);
  supply.request.itl_target = classes.any_itl(config.slo);
  supply.request.predicted_output = true;
  supply.request.true_output =
      config.admission.door->gate.predictor.kind == OutputPredictor::kOracle;
  return supply;
}

bool needs_pages(SignalSet signals) {
  const auto all = all_signals();
  return std::any_of(all.begin(), all.end(), [&](const SignalSpec& spec) {
    return signals.has(spec.signal) && spec.origin != SignalOrigin::kLedger;
  });
}

std::string tenant_list(const CallerFacts& callers) {
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(callers.tenant_names.size(), 5); ++i) {
    names += (i > 0 ? ", " : "") + callers.tenant_names[i];
  }
  return callers.tenant_names.empty() ? "tenant_0, tenant_1, ..." : names + ", ...";
}

}  // namespace

DoorOptions door_of(const RunConfig& config, const FleetOptions& fleet) {
  DoorOptions door = *config.admission.door;
  GateOptions& gate = door.gate;
  gate.seed = config.seed;
  const GroupOptions& front = fleet.groups.front();
  gate.service = service_model_of(*front.latency, front.replica, front_replicas(fleet));
  door.ttft = config.slo.ttft;
  door.itl = config.slo.itl;
  for (const SloClass& each : config.slo_classes) door.class_slos.push_back(each.slo);
  if (!config.admission.has_own_fallback) {
    gate.fallback_name = "fixed_concurrency";
    gate.fallback = concurrency_of(places(door, fleet));
  }
  gate.supply = supply_of(fleet, config);
  door.reads_pages = needs_pages(gate.policy({})->needs().signals);
  return door;
}

namespace {

// A quantile of nobody's answers would stay at its beginning for ever.
Result<void> check_predictor(const GateOptions& gate, const CallerFacts& callers) {
  const OutputPredictor kind = gate.predictor.kind;
  const bool lacks_tenants = kind == OutputPredictor::kTenantQuantile && !callers.tenants;
  const bool lacks_sessions = kind == OutputPredictor::kSessionQuantile && !callers.sessions;
  if (!lacks_tenants && !lacks_sessions) return {};
  return fail(ErrorCode::kInvalidConfig,
              "predictor.output_tokens: " + std::string(predictor_name(kind)) +
                  ": the requests have no " + (lacks_tenants ? "tenants" : "sessions") +
                  ": expected a predictor that needs none, or " + gate.supply.workload);
}

}  // namespace

Result<std::uint32_t> tenant_number(const std::string& name, const CallerFacts& callers) {
  if (!callers.tenants) {
    return fail(ErrorCode::kInvalidConfig,
                "tenants." + name +
                    ": the requests have no tenants: expected workload.prefixes, "
                    "or a trace with a column of them");
  }
  for (std::uint32_t i = 0; i < callers.tenant_names.size(); ++i) {
    if (callers.tenant_names[i] == name) return i;
  }
  return fail(ErrorCode::kInvalidConfig, "tenants." + name +
                                             ": no request of the workload is this tenant's: "
                                             "expected one of " +
                                             tenant_list(callers));
}

Result<void> finish_door(const AdmissionConfig& config, const CallerFacts& callers,
                         DoorOptions& door) {
  GateOptions& gate = door.gate;
  gate.supply.request.tenant = callers.tenants;
  gate.supply.request.session = callers.sessions;
  if (Result<void> learns = check_predictor(gate, callers); !learns) return learns;
  for (const TenantConfig& tenant : config.tenants) {
    const Result<std::uint32_t> number = tenant_number(tenant.name, callers);
    if (!number) return std::unexpected(number.error());
    gate.tenants[caller_key("tenant", *number)] = tenant.limits;
  }
  // Made once to see that it can be; the oracle's truth is in the run.
  GateOptions probe = gate;
  probe.predictor.truth = [](const RequestView& request) { return request.max_tokens; };
  const Result<std::unique_ptr<AdmissionGate>> made = AdmissionGate::create(probe);
  if (!made) {
    return fail(made.error().code, "admission.policy: " + made.error().message);
  }
  return {};
}

}  // namespace inferscale

#include "study/simulated_run.h"

#include "metrics/admission_fold.h"

namespace inferscale {

namespace {

// From the classes of attempts: all of a request have one.
std::vector<std::uint8_t> classes_of_requests(const std::vector<std::uint8_t>& of_attempts,
                                              const ClientRecords& clients) {
  std::vector<std::uint8_t> classes;
  if (of_attempts.empty()) return classes;
  classes.reserve(clients.requests.size());
  for (const RequestRecord& request : clients.requests) {
    classes.push_back(of_attempts[request.last_attempt]);
  }
  return classes;
}

}  // namespace

SimulatedRun simulate_run(const PreparedRun& run, const RunOptions& options, const DoorWatch& watch,
                          const RunControl& control) {
  SimulatedRun simulated;
  FleetOptions fleet = run.deployment.fleet;
  std::optional<DecisionTee> tee;
  const std::unique_ptr<RequestSource> requests = run.requests();
  const bool comes_again = requests->reactive() != nullptr;
  if (fleet.door && watch.tallies) {
    simulated.decisions.emplace(fleet.door->gate.max_age, comes_again);
  }
  if (fleet.door && (watch.tallies || watch.log != nullptr)) {
    tee.emplace(simulated.decisions ? &*simulated.decisions : nullptr, watch.log);
    fleet.door->gate.sink = &*tee;
    fleet.door->reads_pages = true;
  }
  simulated.result = simulate_fleet(fleet, options, *requests, control);
  SimulationResult& result = simulated.result;
  if (result.clients && !result.programs) {
    simulated.attempts = std::move(result.outcomes);
    result.outcomes = fold_attempts(simulated.attempts, *result.clients, run.config.slo,
                                    run.classes_of(result.slo_class));
    result.slo_class = classes_of_requests(result.slo_class, *result.clients);
  }
  return simulated;
}

bool has_admission(const PreparedRun& run) {
  return run.config.admission.door.has_value() || !run.config.clients.is_open_loop();
}

AdmissionSummary admission_of(const PreparedRun& run, const SimulatedRun& simulated,
                              Instant measured_from, std::span<const std::uint32_t> tenant_of) {
  const SimulationResult& result = simulated.result;
  AdmissionFacts facts{.policy = run.config.admission.policy,
                       .slo = run.config.slo,
                       .classes = run.classes_of(result.slo_class),
                       .measured_from = measured_from,
                       .tenant_of = tenant_of,
                       .tenant_weights = run.tenant_weights};
  if (run.config.admission.door) {
    facts.enforce = run.config.admission.door->gate.enforce;
    facts.admits_all = run.config.admission.policy == "none";
    facts.threshold = run.config.admission.door->gate.policy({})->threshold();
  }
  if (result.gate) facts.policy_failure = result.gate->policy_failure;
  if (result.programs) {
    facts.sessions = static_cast<std::int64_t>(result.programs->sessions.size());
    for (const SessionRecord& session : result.programs->sessions) {
      if (session.complete()) ++facts.sessions_complete;
    }
    for (const CallRecord& call : result.programs->calls) {
      if (call.status == CallStatus::kNotReached) ++facts.never_made;
    }
  }
  const DecisionTally* decisions = simulated.decisions ? &*simulated.decisions : nullptr;
  if (!result.programs) {
    const bool folded = result.clients.has_value();
    return summarize_admission(folded ? std::span<const Outcome>(simulated.attempts)
                                      : std::span<const Outcome>(result.outcomes),
                               result.outcomes, folded ? &*result.clients : nullptr, decisions,
                               facts);
  }
  const ClientRecords calls = client_records_of(*result.programs, result.outcomes);
  const std::vector<Outcome> requests =
      fold_attempts(result.outcomes, calls, run.config.slo, facts.classes);
  const std::vector<std::uint8_t> classes = classes_of_requests(result.slo_class, calls);
  facts.classes = run.classes_of(classes);
  return summarize_admission(result.outcomes, requests, &calls, decisions, facts);
}

}  // namespace inferscale

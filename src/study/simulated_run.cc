#include "study/simulated_run.h"

#include "metrics/admission_fold.h"

namespace inferscale {

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
    result.outcomes = fold_attempts(simulated.attempts, *result.clients, run.config.slo);
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
                       .measured_from = measured_from,
                       .tenant_of = tenant_of};
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
  const std::vector<Outcome> requests = fold_attempts(result.outcomes, calls, run.config.slo);
  return summarize_admission(result.outcomes, requests, &calls, decisions, facts);
}

}  // namespace inferscale

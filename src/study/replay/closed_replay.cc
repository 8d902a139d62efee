#include "study/replay/closed_replay.h"

#include "base/check.h"
#include "sim/lifecycle.h"

namespace inferscale {
namespace {

void count_pair(PairedOutcomes& pairs, bool recorded, bool replayed) {
  if (recorded && replayed) {
    ++pairs.both;
  } else if (recorded) {
    ++pairs.recorded_only;
  } else if (replayed) {
    ++pairs.replayed_only;
  } else {
    ++pairs.neither;
  }
}

}  // namespace

ReplayedRun replayed_run_of(const PreparedRun& run, const SimulatedRun& simulated) {
  const RunSummary summary = summary_of(run, simulated.result);
  const AdmissionSummary admission =
      admission_of(run, simulated, Instant() + Duration::from_seconds(summary.warmup_s), {});
  ReplayedRun replayed{.policy = run.config.admission.policy,
                       .goodput = admission.goodput,
                       .attainment_admitted = admission.attainment_admitted,
                       .ttft_ms = summary.ttft_ms,
                       .requests = admission.requests,
                       .finished = summary.finished,
                       .attempts = admission.attempts,
                       .admitted = admission.attempts};
  if (!admission.has_slo) {
    replayed.goodput.reset();
    replayed.attainment_admitted.reset();
  }
  if (admission.decisions) {
    replayed.admitted = admission.decisions->admitted;
    replayed.deferred = admission.decisions->deferred;
    replayed.rejected = admission.decisions->rejected;
    replayed.shadow_refusals = admission.decisions->shadow_refusals;
  }
  return replayed;
}

PairedOutcomes pair_outcomes(const SimulatedRun& recorded, const SimulatedRun& replayed,
                             const PreparedRun& run) {
  PairedOutcomes pairs{.of_sessions = recorded.result.programs.has_value(),
                       .has_slo = run.config.has_targets()};
  if (pairs.of_sessions) {
    const auto& was = recorded.result.programs->sessions;
    const auto& is = replayed.result.programs->sessions;
    CHECK(was.size() == is.size()) << was.size() << " sessions in one run, " << is.size();
    for (std::size_t i = 0; i < was.size(); ++i) {
      count_pair(pairs, was[i].complete(), is[i].complete());
    }
    return pairs;
  }
  const std::vector<Outcome>& was = recorded.result.outcomes;
  const std::vector<Outcome>& is = replayed.result.outcomes;
  CHECK(was.size() == is.size()) << was.size() << " requests in one run, " << is.size();
  // The same requests have the same classes.
  const RequestClasses classes = run.classes_of(recorded.result.slo_class);
  for (std::size_t i = 0; i < was.size(); ++i) {
    const Slo& slo = classes.slo(i, run.config.slo);
    count_pair(pairs, slo_met(slo, was[i]), slo_met(slo, is[i]));
  }
  return pairs;
}

std::uint32_t replicas_behind_gate(const PreparedRun& run) {
  const FleetOptions& fleet = run.deployment.fleet;
  CHECK(fleet.door.has_value()) << "a run without a door";
  if (fleet.door->scope == DoorScope::kReplica) return 1;
  const bool fronts_only = fleet.split && fleet.door->scope == DoorScope::kPool;
  std::int64_t replicas = 0;
  for (std::size_t i = 0; i < (fronts_only ? 1 : fleet.groups.size()); ++i) {
    const GroupOptions& group = fleet.groups[i];
    replicas += LifecycleOptions::Group{group.replicas, group.scaling}.most() * group.ranks;
  }
  return static_cast<std::uint32_t>(replicas);
}

}  // namespace inferscale

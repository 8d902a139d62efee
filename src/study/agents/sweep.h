// Sweeps over agent sessions: what one key does to them, every value of it replaying one identical
// program trace (the same seed).
//
//   ttl       how long idle KV stays in HBM: p95 turn TTFT against mean KV residency
//   affinity  how much longer a session may wait to stay at its replica: p95 turn TTFT against the
//             part of the history that is found. Locality is worth nothing by itself, only what
//             it saves is; and recomputed tokens would flatter points at which turns fail
//   memory    budgets for the KV cache, as multiples of the peak that a replica reaches when
//             nothing is evicted
//   host      dropping idle KV, keeping it in HBM, moving it to host memory at some bandwidths: p95
//             turn TTFT against mean KV residency
//
// A point is on the frontier when no other one is at least as good in both figures and better in
// one. The bandwidth of host memory is hardware and no choice: of the offloads only that with the
// configured one is judged and can be recommended; the others tell what it would be with them. Of
// points with repetitions, each with a seed common to all points, means are compared.
//
// What is recommended. Latencies are of turns that finished, so only points that leave the fewest
// sessions incomplete are considered, and of these only those whose turn attainment is within the
// tolerance of the highest. Among them those whose p95 turn TTFT is within the tolerance
// of the least one are as good; of these the one that is best in the other figure is recommended:
// the least residency, the most history found. For memory: the smallest budget that serves as well
// as no limit, and so do all larger ones.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "study/agents/sweep_points.h"
#include "study/metric.h"
#include "study/run_executor.h"
#include "study/scenario.h"
#include "study/spread.h"

namespace inferscale {

struct SweepRow {
  SweepPoint point;
  std::string failure;  // why it could not be simulated, in words; empty: it was
  // Of sweep_metrics(), in their order; nothing where a repetition has no such figure.
  std::vector<std::optional<Spread>> figures;
  bool on_frontier = false;

  bool simulated() const { return failure.empty(); }
  const std::optional<Spread>& operator[](Metric metric) const;
  std::optional<double> mean(Metric metric) const;
  // Sessions that began and were not completed, the mean.
  std::optional<double> incomplete() const;
};

// Of memory-stress: the run whose memory is no limit.
struct MemoryReference {
  SweepRow row;
  std::vector<double> peaks;  // tokens of the replica that held most, by repetition
  // Of one replica, as the deployment is configured, in tokens.
  double configured_tokens = 0;
};

// Of host-sweep, for one capacity of host memory: from which bandwidth on all that were tried give
// a lower p95 turn TTFT, no lower turn attainment, and leave no more sessions incomplete. Nothing:
// not even the highest does.
struct HostCrossover {
  double capacity_gb = 0;
  std::optional<double> beats_recompute_gb_s;
  std::optional<double> beats_retain_gb_s;
};

// Of host-sweep: what would be recommended if host memory had this bandwidth.
struct HostAnswer {
  double capacity_gb = 0;
  double bandwidth_gb_s = 0;
  std::string strategy;
};

struct SweepResult {
  SweepKind kind = SweepKind::kTtl;
  std::string name;  // of the configuration
  Slo slo;           // of a turn
  std::int64_t repeats = 0;
  std::uint64_t seed = 0;
  double tolerance = 0;
  std::vector<SweepRow> rows;
  std::optional<MemoryReference> reference;
  std::vector<HostCrossover> crossovers;
  std::vector<HostAnswer> answers;                  // by capacity, and rising bandwidth
  std::optional<double> configured_bandwidth_gb_s;  // of host-sweep

  // Indices of rows; nothing when there is none of the kind.
  std::optional<std::size_t> least_ttft;
  std::optional<std::size_t> recommended;
  // Whose p95 turn TTFT is within the SLO, the best of them in the other figure.
  std::optional<std::size_t> within_slo;
  std::vector<std::string> notes;  // sentences
};

// The figures that a point is described by.
std::span<const Metric> sweep_metrics();
// The one that p95 turn TTFT is set against; nothing for memory, where it is the budget itself.
std::optional<Metric> sweep_against(SweepKind kind);

// What is written wrong, before anything is run. Errors: no agent sessions, a value that can't be
// read, points of which none can be simulated, one replica in an affinity-sweep.
Result<void> check_sweep(SweepKind kind, const Scenario& scenario);

// REQUIRES: `executor` runs scenario 0 for `scenario`, which check_sweep() finds right. Errors are
// the executor's; of memory, also a reference that can't be run.
Result<SweepResult> run_sweep(SweepKind kind, const Scenario& scenario, RunExecutor& executor);

}  // namespace inferscale

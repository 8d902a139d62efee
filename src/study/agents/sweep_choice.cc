#include "study/agents/sweep_choice.h"

#include <algorithm>
#include <utility>

#include "study/explore/pareto.h"

namespace inferscale {
namespace {

// What a point takes beside latency: less is better. Nothing where there is no such figure.
std::optional<double> cost_of(const SweepResult& sweep, const SweepRow& row) {
  const std::optional<Metric> against = sweep_against(sweep.kind);
  if (!against) return row.point.value;
  const std::optional<double> mean = row.mean(*against);
  if (!mean) return std::nullopt;
  return info_of(*against).better == Better::kHigher ? -*mean : *mean;
}

void mark_frontier(SweepResult& sweep) {
  if (!sweep_against(sweep.kind)) return;
  std::vector<std::size_t> judged;
  std::vector<ParetoPoint> points;
  for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
    const std::optional<double> cost = cost_of(sweep, sweep.rows[i]);
    const std::optional<double> ttft = sweep.rows[i].mean(Metric::kTurnTtftP95);
    if (!cost || !ttft || !sweep.rows[i].point.is_choice) continue;
    judged.push_back(i);
    points.push_back({.gain = -*cost, .loss = *ttft});
  }
  const std::vector<bool> on = pareto_frontier(points);
  for (std::size_t k = 0; k < judged.size(); ++k) sweep.rows[judged[k]].on_frontier = on[k];
}

// Those of `among` whose latencies can be compared: they leave the fewest sessions incomplete.
std::vector<std::size_t> comparable(const SweepResult& sweep,
                                    const std::vector<std::size_t>& among) {
  std::optional<double> fewest;
  for (const std::size_t i : among) {
    const std::optional<double> incomplete = sweep.rows[i].incomplete();
    if (incomplete) fewest = std::min(fewest.value_or(*incomplete), *incomplete);
  }
  std::vector<std::size_t> found;
  for (const std::size_t i : among) {
    const SweepRow& row = sweep.rows[i];
    const bool complete = row.incomplete() && *row.incomplete() == *fewest;
    if (complete && row.mean(Metric::kTurnTtftP95) && cost_of(sweep, row)) found.push_back(i);
  }
  return found;
}

// The one that costs least of those with at most so high a p95 turn TTFT; of equals the fastest.
std::optional<std::size_t> cheapest(const SweepResult& sweep, const std::vector<std::size_t>& among,
                                    double most_ttft) {
  std::optional<std::size_t> best;
  std::pair<double, double> best_rank;
  for (const std::size_t i : among) {
    const double ttft = *sweep.rows[i].mean(Metric::kTurnTtftP95);
    const std::pair rank(*cost_of(sweep, sweep.rows[i]), ttft);
    if (ttft > most_ttft || (best && rank >= best_rank)) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

std::optional<std::size_t> fastest(const SweepResult& sweep,
                                   const std::vector<std::size_t>& among) {
  std::optional<std::size_t> best;
  std::pair<double, double> best_rank;
  for (const std::size_t i : among) {
    const std::pair rank(*sweep.rows[i].mean(Metric::kTurnTtftP95), *cost_of(sweep, sweep.rows[i]));
    if (best && rank >= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

// Those of `among` that meet the SLO of about as many turns as the best of them: one late turn in
// ten or nine in ten may have the same p95.
std::vector<std::size_t> meeting_most(const SweepResult& sweep,
                                      const std::vector<std::size_t>& among) {
  double most = 0;
  const auto met = [&](std::size_t i) { return sweep.rows[i].mean(Metric::kTurnAttainment); };
  for (const std::size_t i : among) most = std::max(most, met(i).value_or(0));
  std::vector<std::size_t> found;
  for (const std::size_t i : among) {
    if (!met(i) || *met(i) >= most * (1 - sweep.tolerance)) found.push_back(i);
  }
  return found;
}

// As fast as the fastest of `among` to within the tolerance, and takes least.
std::optional<std::size_t> best_of(const SweepResult& sweep,
                                   const std::vector<std::size_t>& among) {
  const std::optional<std::size_t> first = fastest(sweep, among);
  if (!first) return std::nullopt;
  const double least = *sweep.rows[*first].mean(Metric::kTurnTtftP95);
  return cheapest(sweep, among, least * (1 + sweep.tolerance));
}

// Without targets no share is met, and nothing is said of it.
bool meets_no_fewer(const SweepRow& row, const SweepRow& other, double least_share) {
  const std::optional<double> own = row.mean(Metric::kTurnAttainment);
  const std::optional<double> its = other.mean(Metric::kTurnAttainment);
  return !own || !its || *own >= *its * least_share;
}

// Whether a budget serves as well as memory without a limit.
bool serves_as_well(const SweepResult& sweep, const SweepRow& row) {
  const SweepRow& reference = sweep.reference->row;
  const auto at_most = [&](Metric metric, double most) {
    const std::optional<double> own = row.mean(metric);
    const std::optional<double> its = reference.mean(metric);
    return own && its && *own <= *its * most;
  };
  if (!at_most(Metric::kTurnTtftP95, 1 + sweep.tolerance)) return false;
  if (!at_most(Metric::kTurnsFailed, 1)) return false;
  if (row.incomplete().value_or(1) > reference.incomplete().value_or(0)) return false;
  return meets_no_fewer(row, reference, 1 - sweep.tolerance);
}

// Budgets rise from row to row. Those that could not be simulated say nothing.
std::optional<std::size_t> least_budget(const SweepResult& sweep) {
  std::optional<std::size_t> found;
  for (std::size_t i = sweep.rows.size(); i-- > 0;) {
    if (!sweep.rows[i].simulated()) continue;
    if (!serves_as_well(sweep, sweep.rows[i])) break;
    found = i;
  }
  return found;
}

bool beats(const SweepRow& offload, const SweepRow* other) {
  if (other == nullptr || !meets_no_fewer(offload, *other, 1)) return false;
  const std::optional<double> own = offload.mean(Metric::kTurnTtftP95);
  const std::optional<double> its = other->mean(Metric::kTurnTtftP95);
  return own && its && *own < *its && offload.incomplete() && other->incomplete() &&
         *offload.incomplete() <= *other->incomplete();
}

const SweepRow* simulated_row(const std::vector<SweepRow>& rows, std::string_view strategy) {
  for (const SweepRow& row : rows) {
    if (row.simulated() && row.point.strategy == strategy) return &row;
  }
  return nullptr;
}

// Bandwidths of one capacity rise from row to row: the last one that does not win begins anew.
std::vector<HostCrossover> crossovers_of(const std::vector<SweepRow>& rows) {
  const SweepRow* recompute = simulated_row(rows, "recompute");
  const SweepRow* retain = simulated_row(rows, "retain");
  std::vector<HostCrossover> crossovers;
  const auto follow = [](bool wins, const SweepRow& row, std::optional<double>& from) {
    if (!wins) {
      from.reset();
    } else if (!from) {
      from = row.point.value;
    }
  };
  for (const SweepRow& row : rows) {
    if (row.point.strategy != "offload") continue;
    if (crossovers.empty() || crossovers.back().capacity_gb != *row.point.capacity_gb) {
      crossovers.push_back({.capacity_gb = *row.point.capacity_gb});
    }
    follow(beats(row, recompute), row, crossovers.back().beats_recompute_gb_s);
    follow(beats(row, retain), row, crossovers.back().beats_retain_gb_s);
  }
  return crossovers;
}

// The rule of the recommendation, for one bandwidth of host memory after the other.
std::vector<HostAnswer> answers_of(const SweepResult& sweep) {
  std::vector<std::size_t> without_host;
  for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
    if (sweep.rows[i].point.strategy != "offload") without_host.push_back(i);
  }
  std::vector<HostAnswer> answers;
  for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
    const SweepPoint& point = sweep.rows[i].point;
    if (point.strategy != "offload" || !sweep.rows[i].simulated()) continue;
    std::vector<std::size_t> among = without_host;
    among.push_back(i);
    const std::optional<std::size_t> best =
        best_of(sweep, meeting_most(sweep, comparable(sweep, among)));
    if (!best) continue;
    answers.push_back({*point.capacity_gb, *point.value, sweep.rows[*best].point.strategy});
  }
  return answers;
}

std::vector<std::size_t> choices(const SweepResult& sweep) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
    if (sweep.rows[i].point.is_choice) found.push_back(i);
  }
  return found;
}

}  // namespace

void choose_points(SweepResult& sweep) {
  mark_frontier(sweep);
  const std::vector<std::size_t> among = comparable(sweep, choices(sweep));
  const std::vector<std::size_t> judged = meeting_most(sweep, among);
  sweep.least_ttft = fastest(sweep, judged);
  if (sweep.kind == SweepKind::kHost) {
    sweep.crossovers = crossovers_of(sweep.rows);
    sweep.answers = answers_of(sweep);
  }
  if (!sweep.least_ttft) return;
  sweep.recommended =
      sweep.kind == SweepKind::kMemory ? least_budget(sweep) : best_of(sweep, judged);
  if (sweep.slo.ttft) sweep.within_slo = cheapest(sweep, among, sweep.slo.ttft->millis());
}

}  // namespace inferscale

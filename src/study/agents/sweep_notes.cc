#include "study/agents/sweep_notes.h"

#include <algorithm>

#include "base/number_text.h"

namespace inferscale {
namespace {

// "12345", of a sum of tokens.
std::string tokens_text(double tokens) {
  return number_text(static_cast<double>(static_cast<std::int64_t>(tokens + 0.5))) + " tokens";
}

void note_configuration(const SweepResult& sweep, const PreparedRun& base,
                        std::vector<std::string>& notes) {
  const bool retains = sweep.kind == SweepKind::kTtl || sweep.kind == SweepKind::kMemory;
  const auto& retention = base.config.deployment.engine.retention;
  if (retains && retention && retention->idle != IdleKv::kRetain) {
    notes.emplace_back(
        "The configuration says otherwise, but every point of this sweep has "
        "deployment.engine.retention.idle: retain.");
  }
  if (sweep.kind == SweepKind::kMemory && retention && retention->ttl) {
    notes.emplace_back(
        "The configured deployment.engine.retention.ttl_s is left out: in this sweep idle KV stays "
        "until its blocks are needed.");
  }
  if (base.config.fleet.groups.size() > 1 && sweep.kind != SweepKind::kAffinity) {
    notes.emplace_back(
        "The deployment has replicas of several kinds. One that writes the swept keys of its "
        "engine itself keeps them, and is then not swept.");
  }
}

// Repetitions of a trace are often one run over again: their spread is then no uncertainty.
void note_alike_repetitions(const SweepResult& sweep, std::vector<std::string>& notes) {
  if (sweep.repeats < 2) return;
  bool any = false;
  for (const SweepRow& row : sweep.rows) {
    for (const std::optional<Spread>& figure : row.figures) {
      if (figure && figure->min != figure->max) return;
      any |= figure.has_value();
    }
  }
  if (!any) return;
  notes.emplace_back(
      "All repetitions gave the same figures: nothing in these runs is drawn at random, and "
      "repeats: 1 would say as much.");
}

// A budget that changes nothing is a finding, which the recommendation says.
void note_alike_points(const SweepResult& sweep, std::vector<std::string>& notes) {
  const std::optional<Metric> against = sweep_against(sweep.kind);
  if (!against) return;
  std::vector<const SweepRow*> simulated;
  for (const SweepRow& row : sweep.rows) {
    if (row.simulated()) simulated.push_back(&row);
  }
  if (simulated.size() < 2) return;
  const bool alike = std::all_of(simulated.begin(), simulated.end(), [&](const SweepRow* row) {
    return row->mean(Metric::kTurnTtftP95) == simulated[0]->mean(Metric::kTurnTtftP95) &&
           row->mean(*against) == simulated[0]->mean(*against);
  });
  if (alike) {
    notes.emplace_back("All points came out the same: what is swept changes nothing here.");
  }
}

void note_history(const SweepResult& sweep, std::vector<std::string>& notes) {
  bool known = false;
  bool later_turns = false;
  for (const SweepRow& row : sweep.rows) {
    const std::optional<double> rate = row.mean(Metric::kHistoryHitRate);
    known |= rate.has_value();
    later_turns |= row.mean(Metric::kTurns).value_or(0) > row.mean(Metric::kSessions).value_or(0);
    if (rate.value_or(0) > 0) return;
  }
  const bool simulated = std::any_of(sweep.rows.begin(), sweep.rows.end(),
                                     [](const SweepRow& row) { return row.simulated(); });
  if (known) {
    notes.emplace_back("At no point did any turn find some of its history again.");
  } else if (simulated && later_turns) {
    notes.emplace_back("No turn that has a history was served, so none could be found.");
  } else if (simulated) {
    notes.emplace_back("No turn has a history that could be found again: sessions have one turn.");
  }
}

// Full retention that evicts is none, and its peak no working set.
void note_evictions(const SweepResult& sweep, std::vector<std::string>& notes) {
  if (!sweep.reference) return;
  const double unlimited = sweep.reference->row.mean(Metric::kEvictedPressureTokens).value_or(0);
  if (unlimited > 0) {
    notes.push_back("Even in a cache of " + tokens_text(kUnlimitedKvTokens) + ", " +
                    tokens_text(unlimited) +
                    " were evicted: the peak is that of the cache, and budgets are fractions of "
                    "it.");
  }
  for (const SweepRow& row : sweep.rows) {
    const double evicted = row.mean(Metric::kEvictedPressureTokens).value_or(0);
    if (!row.simulated() || *row.point.value < 1 || evicted == 0) continue;
    notes.push_back("At " + row.point.name + " " + tokens_text(evicted) +
                    " were evicted, although the cache is no smaller than the peak.");
  }
}

// Retaining is compared as it is with the configured memory, which may not be enough for it.
void note_pressed_retention(const SweepResult& sweep, std::vector<std::string>& notes) {
  if (sweep.kind != SweepKind::kHost) return;
  for (const SweepRow& row : sweep.rows) {
    const double evicted = row.mean(Metric::kEvictedPressureTokens).value_or(0);
    if (!row.simulated() || row.point.strategy != "retain" || evicted == 0) continue;
    notes.push_back("With retain " + tokens_text(evicted) +
                    " were evicted for want of memory: the KV cache is too small to keep "
                    "everything that is idle.");
  }
}

// In a batched engine what chains share is no chain's own, and outlives its calls.
void note_shared_content(const SweepResult& sweep, std::vector<std::string>& notes) {
  if (sweep.kind != SweepKind::kHost) return;
  for (const SweepRow& row : sweep.rows) {
    const bool found = row.mean(Metric::kHistoryHitRate).value_or(0) > 0;
    if (row.point.strategy != "recompute" || !found) continue;
    notes.emplace_back(
        "With recompute and offload only what is a chain's own leaves HBM when its call ends; what "
        "chains share (the system prompt, say) stays cached on every replica that has served it. "
        "So "
        "they hold and find more than a time to live of 0 s does, which drops all of it.");
  }
}

}  // namespace

std::vector<std::string> sweep_notes(const SweepResult& sweep, const PreparedRun& base) {
  std::vector<std::string> notes;
  note_configuration(sweep, base, notes);
  note_history(sweep, notes);
  note_alike_points(sweep, notes);
  note_evictions(sweep, notes);
  note_pressed_retention(sweep, notes);
  note_shared_content(sweep, notes);
  note_alike_repetitions(sweep, notes);
  return notes;
}

}  // namespace inferscale

// What the repetitions of one load say: whether it is carried, and the evidence.
//
// A load is carried when every repetition
//
//   - was simulated, and has requests to judge (none may be left by a long warm-up)
//   - reaches the attainment: goodput >= the target, over all arrivals, refused ones included
//   - drains: every request is finished (or was refused) at most B seconds after the last arrival.
//
// In a finite run everything drains at last, so the bound is what makes the third criterion one.
// Unless it is configured,
//
//   B = max(min(60 s, arrival window / 10), TTFT target, E2E target) + longest service of the run
//
// The last requests may wait as long as the targets let them, and then they take their service. A
// tenth of the window is what a load of 110 % of what is served leaves behind; 60 s keeps long
// runs from leaving more.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/slo.h"
#include "core/slo_class.h"
#include "study/capacity/capacity_options.h"
#include "study/run_once.h"
#include "study/run_request.h"

namespace inferscale {

enum class ProbeStage : std::uint8_t { kBracket, kBisection, kScan };

// Over repetitions; with a single one there is no deviation.
struct AttainmentSpread {
  double mean = 0;
  double worst = 0;
  double best = 0;
  std::optional<double> deviation;  // sample standard deviation
};

struct CapacityProbe {
  double load = 0;  // on the axis
  ProbeStage stage = ProbeStage::kBracket;
  std::vector<Setting> settings;
  bool carried = false;

  std::int64_t repetitions = 0;
  // Repetitions that failed a criterion; one may fail several.
  std::int64_t missed_attainment = 0;
  std::int64_t not_drained = 0;  // later than the bound
  std::int64_t unfinished = 0;   // some requests never finished
  std::int64_t not_judged = 0;   // no request counted
  std::int64_t not_simulated = 0;
  std::vector<std::string> failures;  // why they were not, each reason once
  std::int64_t saturated = 0;         // repetitions whose backlog grew, whatever they passed
  bool all_alike = true;              // every repetition has the same figures

  std::optional<AttainmentSpread> attainment;  // nothing when none was judged
  // Of the repetition that was closest to its bound, or furthest beyond it.
  std::optional<double> drain_s;
  std::optional<double> drain_bound_s;
  RunFigures mean;  // over the repetitions that have the figure

  // No repetition failed, but some had nothing to judge: neither carried nor too much.
  bool undecided() const {
    return not_judged > 0 && missed_attainment + not_drained + unfinished + not_simulated == 0;
  }
};

// REQUIRES: there are records.
// `classes`, where there are any, have targets in place of `slo`.
CapacityProbe judge_load(std::vector<RunResult> records, const Slo& slo,
                         const CapacityOptions& options, std::span<const SloClass> classes = {});

}  // namespace inferscale

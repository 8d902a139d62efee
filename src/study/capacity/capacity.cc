#include "study/capacity/capacity.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace inferscale {
namespace {

// How the workload of every load differs from the trace's file.
std::vector<std::string> changes_of(const PreparedRun& run) {
  std::vector<std::string> changes = run.trace->changes;
  if (run.study.capacity.search != CapacitySearch::kTraceRateScale) return changes;
  // The configured scale, which comes last, is only where the search begins.
  if (run.config.workload.trace->rate_scale != 1 && !changes.empty()) changes.pop_back();
  changes.emplace_back(
      "each load is the trace with its arrival times divided by that factor; of sessions only the "
      "beginnings, the gaps inside a session stay");
  return changes;
}

class CapacityRun {
 public:
  CapacityRun(const Scenario& scenario, std::size_t index, CapacityAxis axis, RunExecutor& executor)
      : run_(scenario.base()), index_(index), axis_(std::move(axis)), executor_(executor) {
    result_.label = scenario.label();
    result_.options = run_.study.capacity;
    result_.slo = run_.config.slo;
    result_.slo_classes = run_.config.slo_classes;
    result_.repetitions = run_.study.repeats.value_or(kCapacityRepeats);
    result_.seed = run_.config.seed;
    result_.unit = axis_.unit();
    result_.falls = axis_.falls();
    result_.keeps_window = axis_.keeps_window();
    result_.fixed_load = axis_.fixed_load();
    result_.fixed_load_unit = axis_.fixed_load_unit();
    if (run_.trace) result_.workload_changes = changes_of(run_);
  }

  Result<CapacityResult> find();

 private:
  // Tries loads that may be tried and were not yet, in one batch.
  Result<void> probe(const std::vector<double>& loads, ProbeStage stage);
  Result<bool> carries(double load, ProbeStage stage);
  Result<void> bracket();
  // Of fleets, when none is carried: see capacity.h.
  Result<void> look_around_best();
  Result<void> probe_around(double best);
  Result<void> bracket_smallest();
  Result<void> bisect();
  Result<void> scan();
  void conclude();

  std::int64_t probes_left() const {
    return result_.options.max_probes - static_cast<std::int64_t>(result_.probes.size());
  }
  bool may_probe() const { return probes_left() > 0 && !result_.not_judged; }
  const CapacityProbe* best_tried() const;
  double smallest_tried() const;
  bool is_easier(double a, double b) const { return axis_.falls() ? a > b : a < b; }

  const PreparedRun& run_;
  std::size_t index_;
  CapacityAxis axis_;
  RunExecutor& executor_;
  CapacityResult result_;
};

Result<void> CapacityRun::probe(const std::vector<double>& loads, ProbeStage stage) {
  std::vector<double> fresh;
  for (const double load : loads) {
    const bool again = std::find(fresh.begin(), fresh.end(), load) != fresh.end();
    if (!again && axis_.contains(load) && !result_.probe_of(load)) fresh.push_back(load);
  }
  std::vector<RunRequest> requests;
  for (const double load : fresh) {
    const std::vector<Setting> settings = axis_.settings(load);
    for (std::int64_t i = 0; i < result_.repetitions; ++i) {
      requests.push_back({.scenario = index_,
                          .settings = settings,
                          .seed = repetition_seed(result_.seed, i),
                          .scales = {}});
    }
  }
  Result<std::vector<RunResult>> records = executor_.run(requests);
  if (!records) return std::unexpected(records.error());
  auto next = records->begin();
  for (const double load : fresh) {
    const auto end = next + result_.repetitions;
    CapacityProbe judged =
        judge_load({next, end}, result_.slo, result_.options, result_.slo_classes);
    judged.load = load;
    judged.stage = stage;
    judged.settings = axis_.settings(load);
    result_.probes.push_back(std::move(judged));
    next = end;
  }
  return {};
}

Result<bool> CapacityRun::carries(double load, ProbeStage stage) {
  const Result<void> probed = probe({load}, stage);
  if (!probed) return std::unexpected(probed.error());
  const CapacityProbe& judged = *result_.probe_of(load);
  if (judged.undecided()) result_.not_judged = load;
  return judged.carried;
}

Result<void> CapacityRun::bracket() {
  double load = axis_.start();
  const Result<bool> first = carries(load, ProbeStage::kBracket);
  if (!first) return std::unexpected(first.error());
  if (result_.not_judged) return {};
  std::optional<double>& last = *first ? result_.carried : result_.not_carried;
  last = load;
  while (may_probe()) {
    const double next = *first ? axis_.harder(load) : axis_.easier(load);
    if (next == load) return {};
    load = next;
    const Result<bool> carried = carries(load, ProbeStage::kBracket);
    if (!carried) return std::unexpected(carried.error());
    if (result_.not_judged) return {};
    (*carried ? result_.carried : result_.not_carried) = load;
    if (*carried != *first) return {};
  }
  return {};
}

// Nothing where no load was judged.
const CapacityProbe* CapacityRun::best_tried() const {
  const auto merit = [this](const CapacityProbe& probe) {
    const double ease = axis_.falls() ? probe.load : -probe.load;
    return std::tuple(probe.attainment->worst, probe.attainment->mean, ease);
  };
  const CapacityProbe* best = nullptr;
  for (const CapacityProbe& probe : result_.probes) {
    if (!probe.attainment) continue;
    if (best == nullptr || merit(probe) > merit(*best)) best = &probe;
  }
  return best;
}

double CapacityRun::smallest_tried() const {
  double smallest = result_.probes.front().load;
  for (const CapacityProbe& probe : result_.probes) smallest = std::min(smallest, probe.load);
  return smallest;
}

Result<void> CapacityRun::look_around_best() {
  const CapacityProbe* best = best_tried();
  if (best == nullptr || best->load == *result_.not_carried) return {};
  // The search began at the configured size: the best one may be smaller.
  while (may_probe() && !best->carried && best->load > 1 && best->load == smallest_tried()) {
    const Result<bool> carried = carries(axis_.harder(best->load), ProbeStage::kBracket);
    if (!carried) return std::unexpected(carried.error());
    best = best_tried();
  }
  if (!best->carried) return probe_around(best->load);
  return {};
}

// Eighths between half and twice the best size, both of which were tried, in one batch.
Result<void> CapacityRun::probe_around(double best) {
  std::vector<double> sizes;
  for (const int eighths : {5, 6, 7, 10, 12, 14}) {
    if (static_cast<std::int64_t>(sizes.size()) == probes_left()) break;
    sizes.push_back(std::round(best * eighths / 8));
  }
  return probe(sizes, ProbeStage::kBracket);
}

// The smallest fleet that is carried, and the largest one below it that is not.
Result<void> CapacityRun::bracket_smallest() {
  for (const CapacityProbe& probe : result_.probes) {
    if (!probe.carried) continue;
    if (!result_.carried || probe.load < *result_.carried) result_.carried = probe.load;
  }
  if (!result_.carried) return {};
  result_.not_carried.reset();
  double load = smallest_tried();
  while (load == *result_.carried && load > 1 && may_probe()) {
    load = axis_.harder(load);
    const Result<bool> carried = carries(load, ProbeStage::kBracket);
    if (!carried) return std::unexpected(carried.error());
    if (*carried) result_.carried = load;
  }
  for (const CapacityProbe& probe : result_.probes) {
    if (probe.carried || probe.load > *result_.carried) continue;
    result_.not_carried = std::max(probe.load, result_.not_carried.value_or(0));
  }
  return {};
}

Result<void> CapacityRun::bisect() {
  while (result_.not_carried && !axis_.adjacent(*result_.carried, *result_.not_carried)) {
    if (!may_probe()) return {};
    const double load = axis_.between(*result_.carried, *result_.not_carried);
    const Result<bool> carried = carries(load, ProbeStage::kBisection);
    if (!carried) return std::unexpected(carried.error());
    if (result_.not_judged) return {};
    (*carried ? result_.carried : result_.not_carried) = load;
  }
  result_.within_tolerance = true;
  return {};
}

Result<void> CapacityRun::scan() {
  const double capacity = *result_.carried;
  result_.recommended = axis_.with_headroom(capacity);
  std::vector<double> loads = {*result_.recommended};
  if (!axis_.falls()) {
    const std::int64_t parts = result_.options.scan + 1;
    for (std::int64_t part = 1; part < parts; ++part) {
      const double share = static_cast<double>(part) / static_cast<double>(parts);
      loads.push_back(axis_.readable(capacity * share));
    }
  }
  return probe(loads, ProbeStage::kScan);
}

void CapacityRun::conclude() {
  std::sort(result_.probes.begin(), result_.probes.end(),
            [](const CapacityProbe& a, const CapacityProbe& b) { return a.load < b.load; });
  const CapacityProbe* best = result_.carried ? nullptr : best_tried();
  if (best != nullptr) result_.best_tried = best->load;
  const CapacityProbe* recommended = result_.probe_of(result_.recommended);
  if (recommended != nullptr && !recommended->carried) result_.recommended.reset();
  result_.repetitions_alike = result_.repetitions > 1;
  for (const CapacityProbe& probe : result_.probes) {
    result_.repetitions_alike = result_.repetitions_alike && probe.all_alike;
    const bool easier = result_.carried && is_easier(probe.load, *result_.carried);
    if (easier && !probe.carried && !probe.undecided()) result_.easier_failed.push_back(probe.load);
  }
}

Result<CapacityResult> CapacityRun::find() {
  if (const Result<void> done = bracket(); !done) return std::unexpected(done.error());
  if (!result_.carried && axis_.falls() && !result_.not_judged) {
    if (const Result<void> done = look_around_best(); !done) return std::unexpected(done.error());
    if (const Result<void> done = bracket_smallest(); !done) return std::unexpected(done.error());
  }
  // A fleet can't be smaller than one replica.
  const bool smallest = axis_.falls() && result_.carried == axis_.harder(1);
  if (result_.not_judged) {
    result_.verdict = CapacityVerdict::kNotJudged;
  } else if (!result_.carried) {
    result_.verdict = CapacityVerdict::kNeverPassed;
  } else if (!result_.not_carried && !smallest) {
    result_.verdict = CapacityVerdict::kNeverFailed;
  } else {
    if (const Result<void> done = bisect(); !done) return std::unexpected(done.error());
    if (result_.not_judged) {
      result_.verdict = CapacityVerdict::kNotJudged;
    } else if (const Result<void> done = scan(); !done) {
      return std::unexpected(done.error());
    }
  }
  conclude();
  return std::move(result_);
}

}  // namespace

const CapacityProbe* CapacityResult::probe_of(std::optional<double> load) const {
  if (!load) return nullptr;
  for (const CapacityProbe& probe : probes) {
    if (probe.load == *load) return &probe;
  }
  return nullptr;
}

Result<CapacityResult> find_capacity(const Scenario& scenario, std::size_t index,
                                     RunExecutor& executor) {
  Result<CapacityAxis> axis = CapacityAxis::make(scenario);
  if (!axis) return std::unexpected(axis.error());
  return CapacityRun(scenario, index, std::move(*axis), executor).find();
}

}  // namespace inferscale

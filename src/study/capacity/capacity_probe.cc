#include "study/capacity/capacity_probe.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr double kLongestDrainS = 60;
constexpr double kPartOfWindow = 0.1;

double drain_bound_s(const RunFigures& run, std::span<const Slo> slos,
                     const CapacityOptions& options) {
  if (options.drain_within) return options.drain_within->seconds();
  const double window = run[Metric::kArrivalWindow].value_or(0);
  double bound = std::min(kLongestDrainS, kPartOfWindow * window);
  for (const Slo& slo : slos) {
    if (slo.ttft) bound = std::max(bound, slo.ttft->seconds());
    if (slo.e2e) bound = std::max(bound, slo.e2e->seconds());
  }
  return bound + run[Metric::kServiceMax].value_or(0);
}

AttainmentSpread spread_of(const std::vector<double>& attainments) {
  const auto n = static_cast<double>(attainments.size());
  const auto [worst, best] = std::minmax_element(attainments.begin(), attainments.end());
  double sum = 0;
  for (const double value : attainments) sum += value;
  AttainmentSpread spread{.mean = sum / n, .worst = *worst, .best = *best, .deviation = {}};
  if (attainments.size() < 2) return spread;
  double squares = 0;
  for (const double value : attainments) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (n - 1));
  return spread;
}

// Sums are divided at the end, so that equal values have exactly their mean.
RunFigures mean_of(const std::vector<RunResult>& records) {
  RunFigures mean;
  for (const MetricInfo& info : all_metrics()) {
    std::vector<double> values;
    for (const RunResult& record : records) {
      if (const auto value = record.figures[info.metric]) values.push_back(*value);
    }
    if (values.empty()) continue;
    double sum = 0;
    for (const double value : values) sum += value;
    mean.set(info.metric, sum / static_cast<double>(values.size()));
  }
  return mean;
}

void note_failure(const std::string& reason, CapacityProbe& probe) {
  ++probe.not_simulated;
  auto& known = probe.failures;
  if (std::find(known.begin(), known.end(), reason) == known.end()) known.push_back(reason);
}

void judge_drain(const RunFigures& run, std::span<const Slo> slos, const CapacityOptions& options,
                 CapacityProbe& probe) {
  const double drain = run[Metric::kDrain].value_or(0);
  const double bound = drain_bound_s(run, slos, options);
  if (drain > bound) ++probe.not_drained;
  if (run[Metric::kUnfinished].value_or(0) > 0) ++probe.unfinished;
  if (!probe.drain_s || drain - bound > *probe.drain_s - *probe.drain_bound_s) {
    probe.drain_s = drain;
    probe.drain_bound_s = bound;
  }
}

}  // namespace

CapacityProbe judge_load(std::vector<RunResult> records, const Slo& slo,
                         const CapacityOptions& options, std::span<const SloClass> classes) {
  std::vector<Slo> slos = {slo};
  for (const SloClass& each : classes) slos.push_back(each.slo);
  CHECK(!records.empty()) << "a load without runs";
  CapacityProbe probe;
  probe.repetitions = static_cast<std::int64_t>(records.size());
  std::vector<double> attainments;
  for (const RunResult& record : records) {
    probe.all_alike = probe.all_alike && record == records.front();
    if (!record.simulated()) {
      note_failure(record.failure, probe);
      continue;
    }
    const RunFigures& run = record.figures;
    judge_drain(run, slos, options, probe);
    if (run[Metric::kSaturated].value_or(0) > 0) ++probe.saturated;
    const std::optional<double> goodput = run[Metric::kGoodput];
    if (!goodput) {
      ++probe.not_judged;
      continue;
    }
    attainments.push_back(*goodput);
    if (*goodput < options.attainment) ++probe.missed_attainment;
  }
  if (!attainments.empty()) probe.attainment = spread_of(attainments);
  probe.mean = mean_of(records);
  probe.carried = probe.missed_attainment + probe.not_drained + probe.unfinished +
                      probe.not_judged + probe.not_simulated ==
                  0;
  return probe;
}

}  // namespace inferscale

#include "study/comparison/scaled_point.h"

#include <algorithm>

namespace inferscale {
namespace {

// The mean of a figure over the records; nothing unless all have it.
std::optional<double> mean_figure(std::span<const RunResult> records, Metric metric) {
  double sum = 0;
  for (const RunResult& record : records) {
    const std::optional<double> value = record.figures[metric];
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(records.size());
}

std::optional<double> least_figure(std::span<const RunResult> records, Metric metric) {
  std::optional<double> least;
  for (const RunResult& record : records) {
    const std::optional<double> value = record.figures[metric];
    if (!value) return std::nullopt;
    least = std::min(least.value_or(*value), *value);
  }
  return least;
}

// Of a trace, or constant lengths and arrivals: repetitions are then one run over again.
bool all_alike(const HeadlineMetrics& metrics, std::span<const RunResult> records) {
  return records.size() > 1 && std::ranges::all_of(records, [&](const RunResult& record) {
           return record.simulated() && std::ranges::all_of(metrics, [&](Metric metric) {
                    return record.figures[metric] == records.front().figures[metric];
                  });
         });
}

}  // namespace

const HeadlineMetrics& compared_metrics(ComparedWork work) {
  static constexpr HeadlineMetrics kOfRequests = {Metric::kTtftP95, Metric::kGoodput,
                                                  Metric::kE2eP95};
  static constexpr HeadlineMetrics kOfSessions = {Metric::kTurnTtftP95, Metric::kTurnAttainment,
                                                  Metric::kSessionMakespanP95};
  return work == ComparedWork::kSessions ? kOfSessions : kOfRequests;
}

Metric met_metric(ComparedWork work) {
  return work == ComparedWork::kSessions ? Metric::kTurnAttainment : Metric::kGoodput;
}

const char* scale_name(ModelScale scale) {
  if (scale == ModelScale::kPrefill) return "prefill";
  return scale == ModelScale::kDecode ? "decode" : "transfer";
}

double scale_of(const ModelScales& scales, ModelScale scale) {
  if (scale == ModelScale::kPrefill) return scales.prefill;
  return scale == ModelScale::kDecode ? scales.decode : scales.transfer;
}

ModelScales only_scale(ModelScale scale, double value) {
  ModelScales scales;
  if (scale == ModelScale::kPrefill) scales.prefill = value;
  if (scale == ModelScale::kDecode) scales.decode = value;
  if (scale == ModelScale::kTransfer) scales.transfer = value;
  return scales;
}

Winner ScaledPoint::winner(std::size_t metric) const {
  const std::optional<double> baseline = means[kBaseline][metric];
  const std::optional<double> treatment = means[kTreatment][metric];
  if (!baseline || !treatment) return Winner::kUnknown;
  if (*baseline == *treatment) return Winner::kTie;
  const bool by_more = info_of(compared_metrics(work)[metric]).better == Better::kHigher;
  return (*treatment > *baseline) == by_more ? Winner::kTreatmentWins : Winner::kBaselineWins;
}

Result<std::vector<ScaledPoint>> run_points(std::span<const ModelScales> scales, ComparedWork work,
                                            std::int64_t repeats, std::uint64_t seed,
                                            RunExecutor& executor,
                                            std::vector<FailedRun>& failures) {
  std::vector<RunRequest> requests;
  for (const ModelScales& at : scales) {
    for (const std::size_t side : {kBaseline, kTreatment}) {
      for (std::int64_t i = 0; i < repeats; ++i) {
        requests.push_back({.scenario = side, .seed = repetition_seed(seed, i), .scales = at});
      }
    }
  }
  const Result<std::vector<RunResult>> records = executor.run(requests);
  if (!records) return std::unexpected(records.error());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const RunResult& record = (*records)[i];
    if (!record.simulated()) {
      failures.push_back({requests[i].scenario, requests[i], record.failure});
    }
  }
  const HeadlineMetrics& metrics = compared_metrics(work);
  std::vector<ScaledPoint> points;
  std::span<const RunResult> left = *records;
  for (const ModelScales& at : scales) {
    ScaledPoint point{.scales = at, .work = work, .alike = true};
    for (const std::size_t side : {kBaseline, kTreatment}) {
      const auto count = static_cast<std::size_t>(repeats);
      for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
        point.means[side][metric] = mean_figure(left.first(count), metrics[metric]);
      }
      point.worst_met[side] = least_figure(left.first(count), met_metric(work));
      point.alike &= all_alike(metrics, left.first(count));
      left = left.subspan(count);
    }
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace inferscale

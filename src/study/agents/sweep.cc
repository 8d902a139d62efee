#include "study/agents/sweep.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "study/agents/memory_budgets.h"
#include "study/agents/sweep_choice.h"
#include "study/agents/sweep_notes.h"

namespace inferscale {
namespace {

constexpr std::int64_t kRepeats = 1;

constexpr std::array kMetrics = {Metric::kTurnTtftP50,
                                 Metric::kTurnTtftP95,
                                 Metric::kTurnE2eP95,
                                 Metric::kSessionMakespanP50,
                                 Metric::kSessionMakespanP95,
                                 Metric::kTurnAttainment,
                                 Metric::kSessionAttainment,
                                 Metric::kSessions,
                                 Metric::kSessionsComplete,
                                 Metric::kTurns,
                                 Metric::kTurnsFailed,
                                 Metric::kTurnsUnreached,
                                 Metric::kHistoryHitRate,
                                 Metric::kRoutingLocality,
                                 Metric::kHistoryRecomputed,
                                 Metric::kRecomputeSeconds,
                                 Metric::kTransferSeconds,
                                 Metric::kExposedSeconds,
                                 Metric::kKvGbMean,
                                 Metric::kKvGbPeakReplica,
                                 Metric::kKvTokensPeakReplica,
                                 Metric::kHbmGbSeconds,
                                 Metric::kEvictedTtlTokens,
                                 Metric::kEvictedPressureTokens,
                                 Metric::kHostGbPeak,
                                 Metric::kJain,
                                 Metric::kStarved};

SweepRow row_of(SweepPoint point, std::span<const RunResult> records) {
  SweepRow row{.point = std::move(point)};
  for (const RunResult& record : records) {
    if (!record.simulated() && row.failure.empty()) row.failure = record.failure;
  }
  row.figures.resize(kMetrics.size());
  if (!row.simulated()) return row;
  for (std::size_t i = 0; i < kMetrics.size(); ++i) {
    row.figures[i] = spread_of(records, kMetrics[i]);
  }
  return row;
}

// All of them are one batch. The records of a point stand together.
Result<std::vector<RunResult>> run_points(const std::vector<SweepPoint>& points,
                                          const SweepResult& sweep, RunExecutor& executor) {
  std::vector<RunRequest> requests;
  for (const SweepPoint& point : points) {
    for (std::int64_t i = 0; i < sweep.repeats; ++i) {
      requests.push_back({.scenario = 0,
                          .settings = point.settings_of(i),
                          .seed = repetition_seed(sweep.seed, i),
                          .scales = {}});
    }
  }
  return executor.run(requests);
}

Result<void> add_rows(const std::vector<SweepPoint>& points, RunExecutor& executor,
                      SweepResult& sweep) {
  const Result<std::vector<RunResult>> records = run_points(points, sweep, executor);
  if (!records) return std::unexpected(records.error());
  const auto each = static_cast<std::size_t>(sweep.repeats);
  for (std::size_t i = 0; i < points.size(); ++i) {
    sweep.rows.push_back(row_of(points[i], std::span(*records).subspan(i * each, each)));
  }
  return {};
}

Result<MemoryReference> run_reference(const Scenario& scenario, RunExecutor& executor,
                                      const SweepResult& sweep) {
  const SweepPoint point = unlimited_memory();
  const Result<std::vector<RunResult>> records = run_points({point}, sweep, executor);
  if (!records) return std::unexpected(records.error());
  MemoryReference reference{.row = row_of(point, *records),
                            .configured_tokens = configured_kv_tokens(scenario.base())};
  if (!reference.row.simulated()) {
    return fail(ErrorCode::kInvalidConfig,
                "the run without a limit of memory can't be simulated: " + reference.row.failure,
                scenario.label());
  }
  for (const RunResult& record : *records) {
    const std::optional<double> peak = record.figures[Metric::kKvTokensPeakReplica];
    if (!peak || *peak <= 0) {
      return fail(ErrorCode::kInvalidConfig,
                  "the run without a limit of memory keeps no KV cache: there is nothing to take "
                  "multiples of",
                  scenario.label());
    }
    reference.peaks.push_back(*peak);
  }
  return reference;
}

RunRequest request_of(const SweepPoint& point, const Scenario& scenario) {
  return {.settings = point.settings_of(0), .seed = scenario.base().config.seed};
}

Error error_at(const SweepPoint& point, Error error) {
  error.message = "at '" + point.name + "': " + error.message;
  return error;
}

}  // namespace

std::span<const Metric> sweep_metrics() {
  return kMetrics;
}

std::optional<Metric> sweep_against(SweepKind kind) {
  if (kind == SweepKind::kMemory) return std::nullopt;
  return kind == SweepKind::kAffinity ? Metric::kHistoryHitRate : Metric::kKvGbMean;
}

const std::optional<Spread>& SweepRow::operator[](Metric metric) const {
  const auto found = std::find(kMetrics.begin(), kMetrics.end(), metric);
  CHECK(found != kMetrics.end()) << info_of(metric).name << " is not among a point's figures";
  return figures[static_cast<std::size_t>(found - kMetrics.begin())];
}

std::optional<double> SweepRow::mean(Metric metric) const {
  const std::optional<Spread>& spread = (*this)[metric];
  return spread ? std::optional(spread->mean) : std::nullopt;
}

std::optional<double> SweepRow::incomplete() const {
  const std::optional<double> all = mean(Metric::kSessions);
  const std::optional<double> complete = mean(Metric::kSessionsComplete);
  if (!all || !complete) return std::nullopt;
  return *all - *complete;
}

Result<void> check_sweep(SweepKind kind, const Scenario& scenario) {
  if (!scenario.base().config.workload.sessions) {
    return fail(ErrorCode::kInvalidConfig,
                "workload.sessions: missing: this is a study of agent sessions", scenario.label());
  }
  Result<std::vector<SweepPoint>> points =
      kind == SweepKind::kMemory ? std::vector{unlimited_memory()} : sweep_points(kind, scenario);
  if (!points) return std::unexpected(points.error());
  std::optional<Error> first;
  bool any = false;
  for (const SweepPoint& point : *points) {
    const RunRequest request = request_of(point, scenario);
    if (const Result<void> read = scenario.check(request); !read) {
      return std::unexpected(error_at(point, read.error()));
    }
    const Result<PreparedRun> run = scenario.prepare(request);
    any |= run.has_value();
    if (!run && !first) first = error_at(point, run.error());
  }
  if (!any) return std::unexpected(*first);
  return {};
}

Result<SweepResult> run_sweep(SweepKind kind, const Scenario& scenario, RunExecutor& executor) {
  const PreparedRun& base = scenario.base();
  SweepResult sweep{.kind = kind,
                    .name = base.config.name,
                    .slo = base.config.slo,
                    .repeats = base.study.repeats.value_or(kRepeats),
                    .seed = base.config.seed,
                    .tolerance = base.study.agents.tolerance};
  Result<std::vector<SweepPoint>> points;
  if (kind == SweepKind::kMemory) {
    Result<MemoryReference> reference = run_reference(scenario, executor, sweep);
    if (!reference) return std::unexpected(reference.error());
    points = memory_points(base, reference->peaks);
    sweep.reference = std::move(*reference);
  } else {
    points = sweep_points(kind, scenario);
  }
  if (kind == SweepKind::kHost) {
    sweep.configured_bandwidth_gb_s = configured_bandwidth_gb_s(base);
  }
  if (!points) return std::unexpected(points.error());
  if (const Result<void> run = add_rows(*points, executor, sweep); !run) {
    return std::unexpected(run.error());
  }
  choose_points(sweep);
  sweep.notes = sweep_notes(sweep, base);
  return sweep;
}

}  // namespace inferscale

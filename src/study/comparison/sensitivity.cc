#include "study/comparison/sensitivity.h"

#include <algorithm>
#include <string>

#include "base/exact_math.h"
#include "base/random.h"

namespace inferscale {
namespace {

std::vector<ModelScale> scales_that_act(const SensitivityQuestion& question) {
  std::vector<ModelScale> scales(kModelScales.begin(), kModelScales.end());
  if (!question.with_transfers) scales.pop_back();
  return scales;
}

std::vector<ModelScales> draw_scales(const SensitivityQuestion& question) {
  RandomStream prefill(question.seed, "sensitivity/prefill");
  RandomStream decode(question.seed, "sensitivity/decode");
  RandomStream transfer(question.seed, "sensitivity/transfer");
  const double reach = exact_log(1 + question.options.band);
  const auto draw = [&](RandomStream& stream) {
    return exact_exp(reach * (2 * stream.uniform() - 1));
  };
  std::vector<ModelScales> draws;
  draws.reserve(static_cast<std::size_t>(question.options.draws));
  for (std::int64_t i = 0; i < question.options.draws; ++i) {
    draws.push_back({.prefill = draw(prefill),
                     .decode = draw(decode),
                     .transfer = question.with_transfers ? draw(transfer) : 1});
  }
  return draws;
}

// Values of one scale over the band, ascending, 1 in the middle.
std::vector<double> scan_values(const SensitivityOptions& options) {
  std::vector<double> values;
  const auto steps = static_cast<double>(options.scan_points);
  for (std::int64_t i = -options.scan_points; i <= options.scan_points; ++i) {
    values.push_back(exact_pow(1 + options.band, static_cast<double>(i) / steps));
  }
  return values;
}

// Mann and Whitney's U of the lost draws' values over the won ones', over the number of pairs.
double lost_is_larger(std::vector<std::pair<double, bool>> lost_by_value) {
  std::sort(lost_by_value.begin(), lost_by_value.end());
  double won_below = 0;
  double won = 0;
  double lost = 0;
  double pairs = 0;
  for (std::size_t begin = 0; begin < lost_by_value.size();) {
    std::size_t end = begin;
    double lost_here = 0;
    double won_here = 0;
    for (; end < lost_by_value.size() && lost_by_value[end].first == lost_by_value[begin].first;
         ++end) {
      ++(lost_by_value[end].second ? lost_here : won_here);
    }
    pairs += lost_here * (won_below + 0.5 * won_here);
    won_below += won_here;
    won += won_here;
    lost += lost_here;
    begin = end;
  }
  return pairs / (won * lost);
}

std::vector<ScaleSeparation> separations_of(const SensitivityResult& result, std::size_t metric) {
  const auto separation = [&](std::string name, auto value_of) {
    std::vector<std::pair<double, bool>> lost_by_value;
    for (const ScaledPoint& draw : result.draws) {
      const Winner winner = draw.winner(metric);
      if (winner != Winner::kTreatmentWins && winner != Winner::kBaselineWins) continue;
      lost_by_value.emplace_back(value_of(draw.scales), winner == Winner::kBaselineWins);
    }
    return ScaleSeparation{std::move(name), lost_is_larger(std::move(lost_by_value))};
  };
  std::vector<ScaleSeparation> separations;
  for (const ModelScale scale : scales_that_act(result.question)) {
    separations.push_back(separation(
        scale_name(scale), [&](const ModelScales& scales) { return scale_of(scales, scale); }));
  }
  separations.push_back(separation(
      "prefill/decode", [](const ModelScales& scales) { return scales.prefill / scales.decode; }));
  return separations;
}

SensitivityRow row_of(const SensitivityResult& result, std::size_t metric) {
  SensitivityRow row{.metric = metric};
  std::vector<double> baseline;
  std::vector<double> treatment;
  for (const ScaledPoint& draw : result.draws) {
    const Winner winner = draw.winner(metric);
    if (winner == result.unscaled.winner(metric)) ++row.as_unscaled;
    if (winner == Winner::kUnknown) {
      ++row.unknown;
      continue;
    }
    if (winner == Winner::kTreatmentWins) ++row.wins;
    if (winner == Winner::kBaselineWins) ++row.losses;
    if (winner == Winner::kTie) ++row.ties;
    baseline.push_back(*draw.means[kBaseline][metric]);
    treatment.push_back(*draw.means[kTreatment][metric]);
  }
  row.over_draws = compare_pairs(baseline, treatment);
  const std::vector<double> deltas = paired_deltas(baseline, treatment);
  if (!deltas.empty()) {
    row.delta_least = *std::min_element(deltas.begin(), deltas.end());
    row.delta_most = *std::max_element(deltas.begin(), deltas.end());
  }
  if (row.wins > 0 && row.losses > 0) row.separations = separations_of(result, metric);
  return row;
}

// Asks for the points of a question, and keeps what failed.
class QuestionRunner final : public PointRunner {
 public:
  QuestionRunner(const SensitivityQuestion& question, RunExecutor& executor,
                 std::vector<FailedRun>& failures)
      : question_(question), executor_(executor), failures_(failures) {}

  Result<std::vector<ScaledPoint>> run(std::span<const ModelScales> scales) override {
    return run_points(scales, question_.work, question_.repeats, question_.seed, executor_,
                      failures_);
  }

 private:
  const SensitivityQuestion& question_;
  RunExecutor& executor_;
  std::vector<FailedRun>& failures_;
};

}  // namespace

StudyOwnKeys sensitivity_own_keys() {
  return {.keys = {"study.sensitivity", "study.capacity.attainment"},
          .default_repeats = kSensitivityDefaultRepeats};
}

SensitivityQuestion sensitivity_question(const Scenario& baseline, const Scenario& treatment) {
  const PreparedRun& base = baseline.base();
  return {.work = compared_work(baseline, treatment),
          .options = base.study.sensitivity,
          .repeats = base.study.repeats.value_or(kSensitivityDefaultRepeats),
          .seed = base.config.seed,
          .attainment = base.study.capacity.attainment,
          .with_transfers = base.config.fleet.split.has_value() ||
                            treatment.base().config.fleet.split.has_value()};
}

std::optional<bool> meets_slo(const SensitivityQuestion& question, const ScaledPoint& point,
                              std::size_t side) {
  const std::optional<double> worst = point.worst_met[side];
  if (!worst) return std::nullopt;
  return *worst >= question.attainment;
}

Result<SensitivityResult> find_sensitivity(const SensitivityQuestion& question,
                                           RunExecutor& executor) {
  SensitivityResult result{.question = question};
  QuestionRunner runner(question, executor, result.failures);
  std::vector<ModelScales> scales = {ModelScales{}};
  for (const ModelScale scale : scales_that_act(question)) {
    for (const double value : scan_values(question.options)) {
      if (value != 1) scales.push_back(only_scale(scale, value));
    }
  }
  for (const ModelScales& draw : draw_scales(question)) scales.push_back(draw);
  Result<std::vector<ScaledPoint>> points = runner.run(scales);
  if (!points) return std::unexpected(points.error());

  result.unscaled = points->front();
  auto next = points->begin() + 1;
  for (const ModelScale scale : scales_that_act(question)) {
    ScaleScan scan{.scale = scale};
    for (const double value : scan_values(question.options)) {
      scan.points.push_back(value == 1 ? result.unscaled : *next++);
    }
    result.scans.push_back(std::move(scan));
  }
  result.draws.assign(next, points->end());
  Result<std::vector<ScaleFlip>> flips = find_flips(result.scans, runner);
  if (!flips) return std::unexpected(flips.error());
  result.flips = std::move(*flips);
  for (std::size_t metric = 0; metric < kComparedCount; ++metric) {
    result.rows.push_back(row_of(result, metric));
  }
  result.alike = result.unscaled.alike && std::ranges::all_of(result.draws, &ScaledPoint::alike);
  return result;
}

}  // namespace inferscale

#include "study/tune/tune.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/config_json.h"
#include "base/number_text.h"
#include "study/tune/tune_notes.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kLargestSeed = 9223372036854775807U;

// The mean of what all have; nothing unless they do.
std::optional<double> mean_of(const std::vector<std::optional<double>>& values) {
  double sum = 0;
  for (const std::optional<double>& value : values) {
    if (!value) return std::nullopt;
    sum += *value;
  }
  if (values.empty()) return std::nullopt;
  return sum / static_cast<double>(values.size());
}

std::vector<std::optional<double>> scores_of(std::span<const RunResult> records, Metric metric) {
  std::vector<std::optional<double>> scores;
  for (const RunResult& record : records) scores.push_back(record.figures[metric]);
  return scores;
}

bool all_alike(std::span<const RunResult> records) {
  return std::ranges::all_of(records, [&](const RunResult& record) {
    return record.simulated() && record.figures == records.front().figures;
  });
}

// Why no candidate can be simulated, at either end of the ranges; nothing when one can.
std::optional<Error> why_none_runs(const Scenario& scenario, const TuneSpace& space) {
  std::optional<Error> first;
  for (const double end : {0.0, 1.0}) {
    std::vector<double> values;
    for (const TuneDimension& one : space.dimensions) values.push_back(one.value_at(end));
    const Result<PreparedRun> run = scenario.prepare({.scenario = 0,
                                                      .settings = space.at(values).settings(),
                                                      .seed = scenario.base().config.seed,
                                                      .scales = {}});
    if (run) return std::nullopt;
    if (!first) first = run.error();
  }
  return first;
}

class Tuning {
 public:
  Tuning(const Scenario& scenario, const Scenario& bare, RunExecutor& executor, TuneResult& result)
      : scenario_(scenario), bare_(bare), executor_(executor), result_(result) {}

  Result<void> run();

 private:
  // The records of each setting, by load and then by seed. `settings` are one for all loads each.
  Result<std::vector<RunResult>> run_all(std::span<const TuneSetting> settings, std::uint64_t seed,
                                         std::int64_t repeats);
  void add_requests(const TuneSetting& setting, const TuneLoad& load, std::uint64_t seed,
                    std::int64_t repeats, std::vector<RunRequest>& requests) const;
  // The worst case of one candidate's records.
  std::optional<double> score_of(std::span<const RunResult> records);
  Result<TuneSearch> search(const TuneSpace& space);
  Result<TuneSide> on_fresh_seeds(std::string name, std::vector<TuneSetting> settings);
  std::vector<TuneSetting> equal_volume() const;
  TuneComparison compare(TuneSide control) const;
  std::vector<double> differences(const TuneSide& control) const;
  Result<void> run_controls(const TuneSpace& space);

  const Scenario& scenario_;
  const Scenario& bare_;
  RunExecutor& executor_;
  TuneResult& result_;
};

void Tuning::add_requests(const TuneSetting& setting, const TuneLoad& load, std::uint64_t seed,
                          std::int64_t repeats, std::vector<RunRequest>& requests) const {
  std::vector<Setting> settings = setting.settings();
  settings.insert(settings.end(), load.settings.begin(), load.settings.end());
  for (std::int64_t i = 0; i < repeats; ++i) {
    requests.push_back(
        {.scenario = 0, .settings = settings, .seed = repetition_seed(seed, i), .scales = {}});
  }
}

Result<std::vector<RunResult>> Tuning::run_all(std::span<const TuneSetting> settings,
                                               std::uint64_t seed, std::int64_t repeats) {
  std::vector<RunRequest> requests;
  for (const TuneSetting& setting : settings) {
    for (const TuneLoad& load : result_.loads.loads) {
      add_requests(setting, load, seed, repeats, requests);
    }
  }
  return executor_.run(requests);
}

std::optional<double> Tuning::score_of(std::span<const RunResult> records) {
  const auto each = static_cast<std::size_t>(result_.repeats);
  std::optional<double> worst;
  for (std::size_t load = 0; load < result_.loads.loads.size(); ++load) {
    const auto here = records.subspan(load * each, each);
    for (const RunResult& record : here) {
      if (record.simulated()) continue;
      const bool known =
          std::ranges::find(result_.failures, record.failure) != result_.failures.end();
      if (!known) result_.failures.push_back(record.failure);
      return std::nullopt;
    }
    const std::optional<double> mean = mean_of(scores_of(here, result_.metric));
    if (!mean) return std::nullopt;
    worst = std::min(worst.value_or(*mean), *mean);
  }
  return worst;
}

Result<TuneSearch> Tuning::search(const TuneSpace& space) {
  const std::size_t each = result_.loads.loads.size() * static_cast<std::size_t>(result_.repeats);
  const auto scorer = [&](const std::vector<std::vector<double>>& batch)
      -> Result<std::vector<std::optional<double>>> {
    std::vector<TuneSetting> settings;
    for (const std::vector<double>& values : batch) settings.push_back(space.at(values));
    const Result<std::vector<RunResult>> records = run_all(settings, result_.seed, result_.repeats);
    if (!records) return std::unexpected(records.error());
    std::vector<std::optional<double>> scores;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      scores.push_back(score_of(std::span(*records).subspan(i * each, each)));
    }
    return scores;
  };
  return search_parameters(space.dimensions, result_.options.candidates, scorer);
}

Result<TuneSide> Tuning::on_fresh_seeds(std::string name, std::vector<TuneSetting> settings) {
  const std::int64_t repeats = result_.options.fresh_repeats;
  const std::vector<TuneLoad>& loads = result_.loads.loads;
  std::vector<RunRequest> requests;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const TuneSetting& setting = settings.size() == 1 ? settings.front() : settings[i];
    add_requests(setting, loads[i], result_.seed + kFreshSeeds, repeats, requests);
  }
  const Result<std::vector<RunResult>> records = executor_.run(requests);
  if (!records) return std::unexpected(records.error());
  TuneSide side{.name = std::move(name), .settings = std::move(settings), .alike = repeats > 1};
  std::optional<double> worst;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const auto each = static_cast<std::size_t>(repeats);
    const auto here = std::span(*records).subspan(i * each, each);
    for (const RunResult& record : here) {
      if (!record.simulated() && side.failure.empty()) side.failure = record.failure;
    }
    side.alike = side.alike && all_alike(here);
    TuneLevel level{.scores = scores_of(here, result_.metric), .figures = {}};
    const auto metrics = tune_figures(result_.metric);
    for (std::size_t k = 0; k < metrics.size(); ++k) level.figures[k] = spread_of(here, metrics[k]);
    const std::optional<double> mean = mean_of(level.scores);
    side.levels.push_back(std::move(level));
    if (mean && (!worst || *mean < *worst)) {
      worst = mean;
      side.worst_at = i;
    }
  }
  const bool complete = std::ranges::all_of(
      side.levels, [](const TuneLevel& level) { return mean_of(level.scores).has_value(); });
  if (!complete) side.worst_at.reset();
  return side;
}

// At each load the part of attempts that the tuned policy turned away there.
std::vector<TuneSetting> Tuning::equal_volume() const {
  std::vector<TuneSetting> settings;
  for (const TuneLevel& level : result_.tuned.levels) {
    const double rejected = level.figures[1] ? level.figures[1]->mean : 0;
    const double deferred = level.figures[2] ? level.figures[2]->mean : 0;
    TuneSetting setting{.policy = "equal_volume_shed"};
    setting.parameters.emplace_back("rate",
                                    number_node(std::min(1.0, rejected + deferred), "study.tune"));
    settings.push_back(std::move(setting));
  }
  return settings;
}

// Of each seed; their mean is the difference of the worst cases.
std::vector<double> Tuning::differences(const TuneSide& control) const {
  const TuneSide& tuned = result_.tuned;
  const auto& ours = tuned.levels[*tuned.worst_at].scores;
  const auto& theirs = control.levels[*control.worst_at].scores;
  std::vector<double> values;
  for (std::size_t i = 0; i < ours.size(); ++i) values.push_back(*ours[i] - *theirs[i]);
  return values;
}

TuneComparison Tuning::compare(TuneSide control) const {
  const TuneSide& tuned = result_.tuned;
  TuneComparison comparison{.control = std::move(control)};
  const TuneSide& other = comparison.control;
  if (!tuned.worst_at || !other.worst_at) return comparison;
  comparison.difference = *tuned.worst() - *other.worst();
  const std::vector<double> values = differences(other);
  comparison.better_seeds =
      std::ranges::count_if(values, [](double difference) { return difference > 0; });
  const bool equal = std::ranges::all_of(values, [](double value) { return value == 0; });
  if (equal) {
    comparison.verdict = TuneVerdict::kIdentical;
  } else if (tuned.alike && other.alike) {
    comparison.verdict = TuneVerdict::kDiffers;
  } else {
    // The same resamples for all controls: equal differences have equal intervals.
    const BootstrapMeans means(values, result_.options.resamples,
                               RandomStream(result_.seed, "bootstrap"));
    comparison.interval = means.expanded(kTuneConfidence);
    const auto& interval = comparison.interval;
    comparison.verdict = !interval            ? TuneVerdict::kTooFew
                         : interval->holds(0) ? TuneVerdict::kDoesNotMatter
                         : interval->low > 0  ? TuneVerdict::kBetter
                                              : TuneVerdict::kWorse;
  }
  return comparison;
}

Result<void> Tuning::run_controls(const TuneSpace& space) {
  Result<TuneSide> none = on_fresh_seeds("none", {TuneSetting{.policy = "none"}});
  if (!none) return std::unexpected(none.error());
  result_.controls.push_back(compare(std::move(*none)));
  if (space.policy != "fixed_concurrency") {
    const Result<TuneSpace> limits = fixed_concurrency_space(scenario_, space);
    if (!limits) return std::unexpected(limits.error());
    const Result<TuneSearch> found = search(*limits);
    if (!found) return std::unexpected(found.error());
    if (found->best) {
      const TuneTrial& best = found->trials[*found->best];
      Result<TuneSide> limit = on_fresh_seeds("fixed_concurrency", {limits->at(best.values)});
      if (!limit) return std::unexpected(limit.error());
      result_.controls.push_back(compare(std::move(*limit)));
      result_.controls.back().search_score = best.score;
    }
  }
  Result<TuneSide> shed = on_fresh_seeds("equal_volume_shed", equal_volume());
  if (!shed) return std::unexpected(shed.error());
  result_.controls.push_back(compare(std::move(*shed)));
  return {};
}

Result<void> Tuning::run() {
  const Result<TuneSpace> space = tune_space(scenario_, result_.policy);
  if (!space) return std::unexpected(space.error());
  result_.dimensions = space->dimensions;
  Result<TuneLoads> loads = tune_loads(bare_, 1, executor_);
  if (!loads) return std::unexpected(loads.error());
  result_.loads = std::move(*loads);
  Result<TuneSearch> found = search(*space);
  if (!found) return std::unexpected(found.error());
  result_.search = std::move(*found);
  if (!result_.search.best) {
    return fail(ErrorCode::kInvalidConfig,
                "no candidate of " + result_.policy + " gave a goodput" +
                    (result_.failures.empty() ? "" : ": " + result_.failures.front()),
                scenario_.label());
  }
  Result<TuneSide> tuned = on_fresh_seeds(result_.policy, {space->at(result_.best().values)});
  if (!tuned) return std::unexpected(tuned.error());
  result_.tuned = std::move(*tuned);
  if (result_.tuned.worst_at && !result_.tuned.alike) {
    std::vector<double> values;
    for (const auto& score : result_.tuned.levels[*result_.tuned.worst_at].scores) {
      values.push_back(*score);
    }
    result_.tuned_interval =
        BootstrapMeans(values, result_.options.resamples, RandomStream(result_.seed, "bootstrap"))
            .expanded(kTuneConfidence);
  }
  if (const Result<void> ran = run_controls(*space); !ran) return ran;
  result_.notes = tune_notes(result_);
  return {};
}

}  // namespace

std::optional<double> TuneSide::worst() const {
  return worst_at ? mean_of(levels[*worst_at].scores) : std::nullopt;
}

std::array<Metric, kTuneFigures> tune_figures(Metric counts) {
  const Metric ttft = counts == Metric::kTurnAttainment ? Metric::kTurnTtftP95 : Metric::kTtftP95;
  return {counts, Metric::kRejectedShare, Metric::kDeferredShare, ttft};
}

Result<void> check_tune(const Scenario& scenario, const Scenario& bare, const std::string& policy) {
  const PreparedRun& run = scenario.base();
  const Result<TuneSpace> space = tune_space(scenario, policy);
  if (!space) return std::unexpected(space.error());
  const std::int64_t least = least_trials(space->dimensions.size());
  if (run.study.tune.candidates < least) {
    return fail(ErrorCode::kInvalidConfig,
                "study.tune.candidates: '" + std::to_string(run.study.tune.candidates) +
                    "': expected at least " + std::to_string(least) + " for " +
                    std::to_string(space->dimensions.size()) + " parameters",
                scenario.label());
  }
  const std::uint64_t beyond =
      kFreshSeeds + static_cast<std::uint64_t>(run.study.tune.fresh_repeats);
  if (run.config.seed > kLargestSeed - beyond) {
    return fail(ErrorCode::kInvalidConfig,
                "seed: '" + std::to_string(run.config.seed) + "': expected at most " +
                    std::to_string(kLargestSeed - beyond) +
                    ": the fresh seeds are 1,000,000 higher",
                scenario.label());
  }
  if (const Result<void> right = check_tune_loads(bare); !right) return right;
  const std::optional<Error> why = why_none_runs(scenario, *space);
  if (why) return std::unexpected(*why);
  return {};
}

Result<TuneResult> run_tune(const Scenario& scenario, const Scenario& bare,
                            const std::string& policy, RunExecutor& executor) {
  const PreparedRun& base = scenario.base();
  TuneResult result{.label = scenario.label(), .policy = policy, .options = base.study.tune};
  result.metric = base.programs ? Metric::kTurnAttainment : Metric::kGoodput;
  result.slo = base.config.slo;
  result.repeats = base.study.repeats.value_or(kTuneRepeats);
  result.seed = base.config.seed;
  if (const Result<void> ran = Tuning(scenario, bare, executor, result).run(); !ran) {
    return std::unexpected(ran.error());
  }
  return result;
}

}  // namespace inferscale

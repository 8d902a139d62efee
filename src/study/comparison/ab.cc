#include "study/comparison/ab.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace inferscale {
namespace {

// The repetitions after which the comparison is looked at.
std::vector<std::int64_t> looks_of(const AbQuestion& question) {
  if (!question.options.max_repeats) return {question.repeats};
  const std::int64_t most = *question.options.max_repeats;
  std::vector<std::int64_t> looks;
  for (std::int64_t n = std::min(question.repeats, most); n < most; n *= 2) looks.push_back(n);
  looks.push_back(most);
  return looks;
}

std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

AbVerdict verdict_of(const AbRow& row, bool alike) {
  const PairedComparison& paired = row.paired;
  if (paired.pairs == 0) return AbVerdict::kNotComparable;
  if (paired.equal == paired.pairs) return AbVerdict::kIdentical;
  if (alike) return AbVerdict::kDiffers;
  if (!row.expanded) return AbVerdict::kTooFew;
  if (row.expanded->holds(0)) return AbVerdict::kNoDifferenceShown;
  const bool higher = row.expanded->low > 0;
  const Better better = info_of(row.metric).better;
  if (better == Better::kNeither) return higher ? AbVerdict::kHigher : AbVerdict::kLower;
  return higher == (better == Better::kHigher) ? AbVerdict::kBetter : AbVerdict::kWorse;
}

// Whether more repetitions could still tell something worth knowing.
bool undecided(const AbRow& row, double half_width) {
  if (row.verdict == AbVerdict::kTooFew || row.verdict == AbVerdict::kDiffers) return true;
  if (row.verdict != AbVerdict::kNoDifferenceShown) return false;
  const double half = 0.5 * (row.expanded->high - row.expanded->low);
  return half > half_width * std::fabs(row.paired.baseline_mean);
}

// Of a trace, or constant lengths and arrivals: repetitions are then one run over again.
bool all_alike(std::span<const Metric> metrics, const std::vector<RunResult>& records) {
  return records.size() > 1 && records.front().simulated() &&
         std::ranges::all_of(records, [&](const RunResult& record) {
           return std::ranges::all_of(metrics, [&](Metric metric) {
             return record.figures[metric] == records.front().figures[metric];
           });
         });
}

// Things that sessions may have and these do not: transfers, say, without a host tier.
bool does_not_occur(const AbRow& row, ComparedWork work) {
  return work == ComparedWork::kSessions && row.baseline_mean.value_or(0) == 0 &&
         row.treatment_mean.value_or(0) == 0 &&
         std::ranges::count(headline_metrics(work), row.metric) == 0;
}

class Comparison {
 public:
  Comparison(const AbQuestion& question, RunExecutor& executor)
      : question_(question), executor_(executor) {}

  Result<AbResult> result();

 private:
  Result<void> run_up_to(std::int64_t repeats);
  AbRow row_of(Metric metric, double confidence) const;
  std::vector<Metric> undecided_headline(double confidence) const;
  bool alike() const;
  void conclude(AbResult& result) const;

  const AbQuestion& question_;
  RunExecutor& executor_;
  std::array<std::vector<RunResult>, 2> records_;  // of each side, by repetition
};

Result<void> Comparison::run_up_to(std::int64_t repeats) {
  const auto done = static_cast<std::int64_t>(records_[kBaseline].size());
  std::vector<RunRequest> requests;
  for (std::int64_t i = done; i < repeats; ++i) {
    for (const std::size_t side : {kBaseline, kTreatment}) {
      requests.push_back({.scenario = side, .seed = ab_seed(question_, side, i)});
    }
  }
  Result<std::vector<RunResult>> records = executor_.run(requests);
  if (!records) return std::unexpected(records.error());
  for (std::size_t i = 0; i < records->size(); ++i) {
    records_[requests[i].scenario].push_back(std::move((*records)[i]));
  }
  return {};
}

AbRow Comparison::row_of(Metric metric, double confidence) const {
  AbRow row{.metric = metric};
  std::array<std::vector<double>, 2> all;
  std::array<std::vector<double>, 2> paired;
  for (std::size_t i = 0; i < records_[kBaseline].size(); ++i) {
    const RunResult& baseline = records_[kBaseline][i];
    const RunResult& treatment = records_[kTreatment][i];
    const std::optional<double> before = baseline.figures[metric];
    const std::optional<double> after = treatment.figures[metric];
    if (before) all[kBaseline].push_back(*before);
    if (after) all[kTreatment].push_back(*after);
    if (!baseline.simulated() || !treatment.simulated()) continue;
    row.baseline_missing += before ? 0 : 1;
    row.treatment_missing += after ? 0 : 1;
    if (!before || !after) continue;
    paired[kBaseline].push_back(*before);
    paired[kTreatment].push_back(*after);
  }
  row.baseline_mean = mean_of(all[kBaseline]);
  row.treatment_mean = mean_of(all[kTreatment]);
  row.paired = compare_pairs(paired[kBaseline], paired[kTreatment]);
  if (row.paired.pairs > 0) {
    row.baseline_mean = row.paired.baseline_mean;
    row.treatment_mean = row.paired.treatment_mean;
  }
  const bool same_again = alike();
  if (row.paired.pairs > 0 && !same_again) {
    const BootstrapMeans means(
        paired_deltas(paired[kBaseline], paired[kTreatment]), question_.options.resamples,
        // The same resamples for all metrics: equal differences have equal intervals.
        RandomStream(question_.seed, "bootstrap"));
    row.percentile = means.percentile(kAbConfidence);
    row.expanded = means.expanded(confidence);
  }
  row.verdict = verdict_of(row, same_again);
  return row;
}

std::vector<Metric> Comparison::undecided_headline(double confidence) const {
  std::vector<Metric> left;
  for (const Metric metric : headline_metrics(question_.work)) {
    if (undecided(row_of(metric, confidence), question_.options.half_width)) left.push_back(metric);
  }
  return left;
}

AbSide side_of(const std::vector<RunResult>& records) {
  AbSide side;
  for (const RunResult& record : records) {
    if (!record.simulated()) continue;
    ++side.simulated;
    const std::optional<double> saturated = record.figures[Metric::kSaturated];
    side.saturated += saturated && *saturated != 0 ? 1 : 0;
    side.unsteady += saturated ? 0 : 1;
    double unserved = 0;
    for (const Metric metric : {Metric::kRefused, Metric::kLost, Metric::kUnfinished}) {
      unserved += record.figures[metric].value_or(0);
    }
    side.unserved_mean += unserved;
    side.with_unserved += unserved > 0 ? 1 : 0;
    const double incomplete = record.figures[Metric::kSessions].value_or(0) -
                              record.figures[Metric::kSessionsComplete].value_or(0);
    side.incomplete_mean += incomplete;
    side.with_incomplete += incomplete > 0 ? 1 : 0;
  }
  if (side.simulated > 0) {
    side.unserved_mean /= static_cast<double>(side.simulated);
    side.incomplete_mean /= static_cast<double>(side.simulated);
  }
  return side;
}

bool Comparison::alike() const {
  const std::span<const Metric> metrics = judged_metrics(question_.work);
  return all_alike(metrics, records_[kBaseline]) && all_alike(metrics, records_[kTreatment]);
}

void Comparison::conclude(AbResult& result) const {
  result.repeats = static_cast<std::int64_t>(records_[kBaseline].size());
  for (const Metric metric : judged_metrics(question_.work)) {
    const AbRow row = row_of(metric, result.confidence);
    if (!row.baseline_mean && !row.treatment_mean) continue;
    if (!does_not_occur(row, question_.work)) result.rows.push_back(row);
  }
  for (std::int64_t i = 0; i < result.repeats; ++i) {
    const auto at = static_cast<std::size_t>(i);
    bool both = true;
    for (const std::size_t side : {kBaseline, kTreatment}) {
      const RunResult& record = records_[side][at];
      if (record.simulated()) continue;
      both = false;
      result.failures.push_back(
          {side, {.scenario = side, .seed = ab_seed(question_, side, i)}, record.failure});
    }
    result.pairs += both ? 1 : 0;
  }
  for (const std::size_t side : {kBaseline, kTreatment}) {
    result.sides[side] = side_of(records_[side]);
  }
  result.alike = result.pairs > 0 && alike();
}

Result<AbResult> Comparison::result() {
  const std::vector<std::int64_t> looks = looks_of(question_);
  const bool budget = question_.options.max_repeats.has_value();
  AbResult result{.question = question_};
  result.confidence = 1 - (1 - kAbConfidence) / static_cast<double>(looks.size());
  result.end = budget ? AbEnd::kBudget : AbEnd::kFixed;
  for (const std::int64_t repeats : looks) {
    const Result<void> ran = run_up_to(repeats);
    if (!ran) return std::unexpected(ran.error());
    if (!budget) break;
    result.looks.push_back({repeats, undecided_headline(result.confidence)});
    if (alike()) {
      result.end = AbEnd::kAlike;
      break;
    }
    if (!result.looks.back().undecided.empty() || repeats == looks.back()) continue;
    result.end = AbEnd::kDecided;
    break;
  }
  conclude(result);
  return result;
}

}  // namespace

StudyOwnKeys ab_own_keys() {
  return {.keys = {"study.ab"}, .default_repeats = kAbDefaultRepeats};
}

AbQuestion ab_question(const Scenario& baseline, const Scenario& treatment) {
  const PreparedRun& base = baseline.base();
  return {.work = compared_work(baseline, treatment),
          .options = base.study.ab,
          .repeats = base.study.repeats.value_or(kAbDefaultRepeats),
          .seed = base.config.seed};
}

std::uint64_t ab_seed(const AbQuestion& question, std::size_t scenario, std::int64_t repetition) {
  const bool shifted = scenario == kTreatment && !question.options.common_random_numbers;
  return repetition_seed(question.seed + (shifted ? kIndependentSeeds : 0), repetition);
}

Result<AbResult> compare_ab(const AbQuestion& question, RunExecutor& executor) {
  return Comparison(question, executor).result();
}

}  // namespace inferscale

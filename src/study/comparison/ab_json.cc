#include "study/comparison/ab_json.h"

#include <algorithm>
#include <string>

#include "base/number_text.h"

namespace inferscale {
namespace {

std::string_view verdict_name(AbVerdict verdict) {
  switch (verdict) {
    case AbVerdict::kBetter:
      return "better";
    case AbVerdict::kWorse:
      return "worse";
    case AbVerdict::kHigher:
      return "higher";
    case AbVerdict::kLower:
      return "lower";
    case AbVerdict::kNoDifferenceShown:
      return "no_difference_shown";
    case AbVerdict::kIdentical:
      return "identical";
    case AbVerdict::kDiffers:
      return "differs";
    case AbVerdict::kTooFew:
      return "too_few_pairs";
    case AbVerdict::kNotComparable:
      break;
  }
  return "not_comparable";
}

std::string_view better_name(Better better) {
  if (better == Better::kLower) return "lower";
  return better == Better::kHigher ? "higher" : "neither";
}

std::string_view end_name(AbEnd end) {
  if (end == AbEnd::kFixed) return "fixed";
  if (end == AbEnd::kAlike) return "alike";
  return end == AbEnd::kDecided ? "decided" : "budget";
}

bool is_headline(const AbResult& result, Metric metric) {
  return std::ranges::count(headline_metrics(result.question.work), metric) > 0;
}

JsonValue names_of(const std::vector<Metric>& metrics) {
  JsonValue names = JsonValue::array();
  for (const Metric metric : metrics) names.append(info_of(metric).name);
  return names;
}

// The headline in one word.
std::string_view overall_name(const AbResult& result) {
  const auto count = [&](AbVerdict verdict) {
    return std::ranges::count_if(result.rows, [&](const AbRow& row) {
      return is_headline(result, row.metric) && row.verdict == verdict;
    });
  };
  const auto better = count(AbVerdict::kBetter);
  const auto worse = count(AbVerdict::kWorse);
  if (better > 0) return worse > 0 ? "trade" : "better";
  if (worse > 0) return "worse";
  if (count(AbVerdict::kDiffers) > 0) return "differs";
  if (count(AbVerdict::kNoDifferenceShown) > 0) return "no_difference_shown";
  if (count(AbVerdict::kTooFew) > 0) return "too_few_pairs";
  return count(AbVerdict::kIdentical) > 0 ? "identical" : "not_comparable";
}

// Pairs that the treatment won, lost and tied; absent where neither way is better, or where all
// pairs are one over again.
void add_wins(JsonValue& row_json, const AbRow& row, bool alike) {
  const PairedComparison& paired = row.paired;
  const Better better = info_of(row.metric).better;
  const bool judged = better != Better::kNeither && paired.pairs > 0 && !alike;
  const bool by_more = better == Better::kHigher;
  const auto only = [&](std::int64_t count) {
    return judged ? std::optional(count) : std::nullopt;
  };
  const std::int64_t wins = by_more ? paired.higher : paired.lower;
  row_json.add("wins", only(wins));
  row_json.add("ties", only(paired.equal));
  row_json.add("losses", only(by_more ? paired.lower : paired.higher));
  row_json.add("win_rate",
               judged ? std::optional(static_cast<double>(wins) / static_cast<double>(paired.pairs))
                      : std::nullopt);
}

// An interval, and the same over the baseline's mean, which has no unit.
void add_interval(JsonValue& row_json, const std::string& name,
                  const std::optional<MeanInterval>& interval, double baseline_mean) {
  std::optional<double> low;
  std::optional<double> high;
  if (interval) low = interval->low;
  if (interval) high = interval->high;
  row_json.add(name + "_low", low);
  row_json.add(name + "_high", high);
  const double size = baseline_mean < 0 ? -baseline_mean : baseline_mean;
  row_json.add(name + "_low_relative", low && size > 0 ? std::optional(*low / size) : std::nullopt);
  row_json.add(name + "_high_relative",
               high && size > 0 ? std::optional(*high / size) : std::nullopt);
}

JsonValue row_json_of(const AbResult& result, const AbRow& row) {
  const MetricInfo& info = info_of(row.metric);
  const PairedComparison& paired = row.paired;
  const bool any = paired.pairs > 0;
  const auto only = [&](double value) { return any ? std::optional(value) : std::nullopt; };
  const double size = paired.baseline_mean < 0 ? -paired.baseline_mean : paired.baseline_mean;
  JsonValue json = JsonValue::object();
  json.add("metric", info.name);
  json.add("label", info.label);
  json.add("unit", info.unit);
  json.add("better", better_name(info.better));
  json.add("headline", is_headline(result, row.metric));
  json.add("verdict", verdict_name(row.verdict));
  json.add("pairs", paired.pairs);
  json.add("baseline_missing", row.baseline_missing);
  json.add("treatment_missing", row.treatment_missing);
  json.add("baseline_mean", row.baseline_mean);
  json.add("treatment_mean", row.treatment_mean);
  json.add("delta_mean", only(paired.delta_mean));
  json.add("delta_median", only(paired.delta_median));
  json.add("delta_mean_relative",
           any && size > 0 ? std::optional(paired.delta_mean / size) : std::nullopt);
  add_wins(json, row, result.alike);
  json.add("relative_change_mean", paired.relative_change_mean);
  json.add("relative_pairs", paired.relative_pairs);
  add_interval(json, "percentile", row.percentile, paired.baseline_mean);
  add_interval(json, "interval", row.expanded, paired.baseline_mean);
  return json;
}

std::string runs_of(std::int64_t some, std::int64_t all) {
  return std::to_string(some) + " of " + std::to_string(all) + " runs";
}

void add_side_notes(const std::string& side, const AbSide& runs, ComparedWork work,
                    std::vector<std::string>& notes) {
  if (runs.saturated > 0) {
    notes.push_back("The " + side + " is saturated in " + runs_of(runs.saturated, runs.simulated) +
                    ": its backlog grows, so its latencies and their differences grow with the "
                    "length of the run.");
  }
  if (runs.with_unserved > 0 && work == ComparedWork::kRequests) {
    notes.push_back("The " + side + " leaves requests unserved (refused, lost or unfinished) in " +
                    runs_of(runs.with_unserved, runs.simulated) + ", " +
                    number_text(runs.unserved_mean) +
                    " a run on average: latencies are of those that were served; goodput counts "
                    "all.");
  }
  if (runs.with_incomplete > 0) {
    notes.push_back("The " + side + " leaves sessions incomplete in " +
                    runs_of(runs.with_incomplete, runs.simulated) + ", " +
                    number_text(runs.incomplete_mean) +
                    " a run on average: makespans are of complete sessions and latencies of turns "
                    "that finished, which makes it look faster; turn attainment counts all turns.");
  }
}

// Verdicts that chance alone is expected to give: each judged metric errs at the level's rate.
double expected_by_chance(const AbResult& result, std::int64_t judged) {
  return static_cast<double>(judged) * (1 - result.confidence);
}

JsonValue looks_json(const AbResult& result) {
  JsonValue looks = JsonValue::array();
  for (const AbLook& look : result.looks) {
    looks.append(JsonValue::object()
                     .add("repeats", look.repeats)
                     .add("undecided", names_of(look.undecided)));
  }
  return looks;
}

JsonValue side_json(const AbSide& side) {
  return JsonValue::object()
      .add("simulated", side.simulated)
      .add("saturated", side.saturated)
      .add("unsteady", side.unsteady)
      .add("with_unserved", side.with_unserved)
      .add("unserved_mean", side.unserved_mean);
}

}  // namespace

JsonValue ab_json(const AbResult& result, const Alternatives& alternatives) {
  const AbQuestion& question = result.question;
  const auto judged = static_cast<std::int64_t>(std::ranges::count_if(
      result.rows, [](const AbRow& row) { return row.expanded.has_value(); }));
  std::vector<std::string> notes = alternatives.notes;
  add_side_notes("baseline", result.sides[kBaseline], question.work, notes);
  add_side_notes("treatment", result.sides[kTreatment], question.work, notes);
  const auto both = [&](std::int64_t AbSide::* count) {
    return result.sides[kBaseline].*count + result.sides[kTreatment].*count;
  };
  if (const std::int64_t unsteady = both(&AbSide::unsteady); unsteady > 0) {
    notes.push_back(runs_of(unsteady, both(&AbSide::simulated)) +
                    " are too short to tell whether the backlog grows.");
  }

  if (result.alike) {
    notes.emplace_back(
        "All repetitions gave the same figures: nothing in these runs is drawn at random. They are "
        "one comparison over again: its differences are those of this one workload, without "
        "intervals, and say nothing of how another one would come out.");
  }

  JsonValue json = JsonValue::object();
  json.add("kind", "ab").add("simulated", true);
  json.add("verdict", overall_name(result));
  add_alternatives(json, alternatives);
  json.add("seed", question.seed);
  json.add("common_random_numbers", question.options.common_random_numbers);
  json.add("repeats", result.repeats);
  json.add("pairs", result.pairs);
  json.add("ended", end_name(result.end));
  json.add("max_repeats", question.options.max_repeats);
  json.add("half_width", question.options.half_width);
  json.add("looks", looks_json(result));
  json.add("resamples", question.options.resamples);
  json.add("percentile_confidence", kAbConfidence);
  json.add("interval_confidence", result.confidence);
  json.add("judged", judged);
  json.add("expected_by_chance", expected_by_chance(result, judged));
  JsonValue rows = JsonValue::array();
  for (const AbRow& row : result.rows) rows.append(row_json_of(result, row));
  json.add("metrics", std::move(rows));
  json.add("baseline_runs", side_json(result.sides[kBaseline]));
  json.add("treatment_runs", side_json(result.sides[kTreatment]));
  json.add("failures", failed_runs_json(result.failures));
  JsonValue notes_json = JsonValue::array();
  for (const std::string& note : notes) notes_json.append(note);
  json.add("notes", std::move(notes_json));
  return json;
}

}  // namespace inferscale

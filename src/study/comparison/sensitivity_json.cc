#include "study/comparison/sensitivity_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/number_text.h"

namespace inferscale {
namespace {

std::string_view winner_name(Winner winner) {
  switch (winner) {
    case Winner::kTreatmentWins:
      return "treatment";
    case Winner::kBaselineWins:
      return "baseline";
    case Winner::kTie:
      return "tie";
    case Winner::kUnknown:
      break;
  }
  return "unknown";
}

// The scales and each metric of both sides, with who is ahead.
JsonValue point_json(const SensitivityQuestion& question, const ScaledPoint& point) {
  JsonValue json = JsonValue::object();
  json.add("prefill", point.scales.prefill);
  json.add("decode", point.scales.decode);
  json.add("transfer", point.scales.transfer);
  for (std::size_t metric = 0; metric < kComparedCount; ++metric) {
    const std::string name(info_of(compared_metrics(question.work)[metric]).name);
    json.add(name + "_baseline", point.means[kBaseline][metric]);
    json.add(name + "_treatment", point.means[kTreatment][metric]);
    json.add(name + "_winner", winner_name(point.winner(metric)));
  }
  json.add("baseline_meets_slo", meets_slo(question, point, kBaseline));
  json.add("treatment_meets_slo", meets_slo(question, point, kTreatment));
  return json;
}

JsonValue scales_json(const SensitivityQuestion& question) {
  JsonValue scales = JsonValue::array();
  for (const ModelScale scale : kModelScales) {
    const bool acts = scale != ModelScale::kTransfer || question.with_transfers;
    const double high = 1 + question.options.band;
    scales.append(JsonValue::object()
                      .add("scale", scale_name(scale))
                      .add("acts", acts)
                      .add("low", acts ? 1 / high : 1.0)
                      .add("high", acts ? high : 1.0));
  }
  return scales;
}

JsonValue row_json(const SensitivityResult& result, const SensitivityRow& row) {
  const MetricInfo& info = info_of(compared_metrics(result.question.work)[row.metric]);
  const bool any = row.over_draws.pairs > 0;
  const auto only = [&](double value) { return any ? std::optional(value) : std::nullopt; };
  JsonValue json = JsonValue::object();
  json.add("metric", info.name);
  json.add("label", info.label);
  json.add("unit", info.unit);
  json.add("better", info.better == Better::kHigher ? "higher" : "lower");
  json.add("unscaled_baseline", result.unscaled.means[kBaseline][row.metric]);
  json.add("unscaled_treatment", result.unscaled.means[kTreatment][row.metric]);
  json.add("unscaled_winner", winner_name(result.unscaled.winner(row.metric)));
  json.add("wins", row.wins).add("losses", row.losses).add("ties", row.ties);
  json.add("unknown", row.unknown);
  json.add("as_unscaled", row.as_unscaled);
  json.add("delta_least", only(row.delta_least));
  json.add("delta_median", only(row.over_draws.delta_median));
  json.add("delta_most", only(row.delta_most));
  json.add("relative_change_mean", row.over_draws.relative_change_mean);
  JsonValue separations = JsonValue::array();
  for (const ScaleSeparation& separation : row.separations) {
    separations.append(JsonValue::object()
                           .add("scale", separation.name)
                           .add("lost_is_larger", separation.lost_is_larger));
  }
  json.add("separations", std::move(separations));
  return json;
}

// How many draws a predicate over (baseline meets, treatment meets) holds for.
template <typename Predicate>
std::int64_t count_draws(const SensitivityResult& result, const Predicate& holds) {
  return std::ranges::count_if(result.draws, [&](const ScaledPoint& draw) {
    return holds(meets_slo(result.question, draw, kBaseline),
                 meets_slo(result.question, draw, kTreatment));
  });
}

// Draws in which a side is known not to meet the SLO.
std::int64_t misses(const SensitivityResult& result, std::size_t side) {
  return std::ranges::count_if(result.draws, [&](const ScaledPoint& draw) {
    return meets_slo(result.question, draw, side) == false;
  });
}

// Whether a side meets the SLO at one place that was looked at, and misses it at another.
bool slo_changes(const SensitivityResult& result, std::size_t side) {
  bool met = false;
  bool missed = false;
  const auto look = [&](const ScaledPoint& point) {
    const std::optional<bool> meets = meets_slo(result.question, point, side);
    met |= meets == true;
    missed |= meets == false;
  };
  look(result.unscaled);
  for (const ScaledPoint& draw : result.draws) look(draw);
  for (const ScaleScan& scan : result.scans) std::ranges::for_each(scan.points, look);
  return met && missed;
}

JsonValue slo_json(const SensitivityResult& result) {
  using Meets = std::optional<bool>;
  JsonValue json = JsonValue::object();
  json.add("attainment", result.question.attainment);
  json.add("unscaled_baseline", meets_slo(result.question, result.unscaled, kBaseline));
  json.add("unscaled_treatment", meets_slo(result.question, result.unscaled, kTreatment));
  json.add("baseline",
           count_draws(result, [](Meets baseline, Meets) { return baseline.value_or(false); }));
  json.add("treatment",
           count_draws(result, [](Meets, Meets treatment) { return treatment.value_or(false); }));
  json.add("both", count_draws(result, [](Meets baseline, Meets treatment) {
             return baseline.value_or(false) && treatment.value_or(false);
           }));
  json.add("neither", count_draws(result, [](Meets baseline, Meets treatment) {
             return !baseline.value_or(true) && !treatment.value_or(true);
           }));
  json.add("unknown", count_draws(result, [](Meets baseline, Meets treatment) {
             return !baseline || !treatment;
           }));
  json.add("baseline_misses", misses(result, kBaseline));
  json.add("treatment_misses", misses(result, kTreatment));
  json.add("baseline_changes", slo_changes(result, kBaseline));
  json.add("treatment_changes", slo_changes(result, kTreatment));
  return json;
}

JsonValue flips_json(const SensitivityResult& result) {
  JsonValue flips = JsonValue::array();
  for (const ScaleFlip& flip : result.flips) {
    flips.append(
        JsonValue::object()
            .add("metric", info_of(compared_metrics(result.question.work)[flip.metric]).name)
            .add("scale", scale_name(flip.scale))
            .add("from", winner_name(flip.from))
            .add("to", winner_name(flip.to))
            .add("holds_at", flip.holds_at)
            .add("flips_at", flip.flips_at));
  }
  return flips;
}

JsonValue scan_json(const SensitivityResult& result) {
  JsonValue scan = JsonValue::array();
  for (const ScaleScan& one : result.scans) {
    for (const ScaledPoint& point : one.points) {
      JsonValue json = JsonValue::object();
      json.add("scale", scale_name(one.scale));
      json.add("value", scale_of(point.scales, one.scale));
      const JsonValue figures = point_json(result.question, point);
      for (const JsonValue::Member& member : figures.members()) json.add(member.key, member.value);
      scan.append(std::move(json));
    }
  }
  return scan;
}

// "holds": whoever is ahead stays ahead wherever it was looked; "tied": nobody ever is.
std::string_view verdict_name(const SensitivityResult& result) {
  const bool unknown = std::ranges::any_of(
      result.rows, [](const SensitivityRow& row) { return row.wins + row.losses + row.ties == 0; });
  if (unknown) return "unknown";
  const bool holds =
      result.flips.empty() && std::ranges::all_of(result.rows, [](const SensitivityRow& row) {
        return row.as_unscaled == row.wins + row.losses + row.ties;
      });
  if (!holds) return "flips";
  const bool tied = std::ranges::all_of(
      result.rows, [](const SensitivityRow& row) { return row.wins + row.losses == 0; });
  return tied ? "tied" : "holds";
}

// What a reader must know of scales that both sides share.
std::vector<std::string> notes_of(const SensitivityResult& result,
                                  const Alternatives& alternatives) {
  std::vector<std::string> notes = alternatives.notes;
  const bool other_model = std::ranges::any_of(
      std::array{"deployment.hardware", "deployment.model", "deployment.latency"},
      [&](const char* key) { return changes_below(alternatives.changes, key); });
  if (other_model) {
    const std::string scale = number_text(1 + result.question.options.band);
    notes.push_back(
        "The two sides differ in hardware, model or latency, and each draw gives both the same "
        "scales: errors of two machines need not be alike, and what they do to one side alone is "
        "not looked at. Each side by itself: inferscale capacity CONFIG --set "
        "deployment.latency.prefill_scale=" +
        scale + " --set deployment.latency.decode_scale=" + scale + ".");
  }
  if (result.alike) {
    notes.emplace_back(
        "All repetitions gave the same figures: nothing but the scales is drawn at random, and "
        "what is compared is this one workload. repeats: 1 would say as much.");
  }
  return notes;
}

}  // namespace

JsonValue sensitivity_json(const SensitivityResult& result, const Alternatives& alternatives) {
  const SensitivityQuestion& question = result.question;
  JsonValue json = JsonValue::object();
  json.add("kind", "sensitivity").add("simulated", true);
  json.add("verdict", verdict_name(result));
  add_alternatives(json, alternatives);
  json.add("band", question.options.band);
  json.add("draws", question.options.draws);
  json.add("repeats", question.repeats);
  json.add("seed", question.seed);
  json.add("scales", scales_json(question));
  JsonValue rows = JsonValue::array();
  for (const SensitivityRow& row : result.rows) rows.append(row_json(result, row));
  json.add("metrics", std::move(rows));
  json.add("slo", slo_json(result));
  json.add("flips", flips_json(result));
  json.add("unscaled", point_json(question, result.unscaled));
  json.add("scan", scan_json(result));
  JsonValue draws = JsonValue::array();
  for (const ScaledPoint& draw : result.draws) draws.append(point_json(question, draw));
  json.add("draw_points", std::move(draws));
  json.add("failures", failed_runs_json(result.failures));
  JsonValue notes = JsonValue::array();
  for (const std::string& note : notes_of(result, alternatives)) notes.append(note);
  json.add("notes", std::move(notes));
  return json;
}

}  // namespace inferscale

#include "report/studies/comparison/sensitivity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "report/studies/comparison_text.h"
#include "report/studies/study_json.h"
#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

struct Separation {
  std::string scale;
  double lost_is_larger = 0.5;
};

struct Row {
  std::string metric;
  std::string label;
  std::string unit;
  std::optional<double> baseline;
  std::optional<double> treatment;
  std::string winner;
  std::int64_t wins = 0;
  std::int64_t losses = 0;
  std::int64_t ties = 0;
  std::int64_t unknown = 0;
  std::optional<double> least;
  std::optional<double> median;
  std::optional<double> most;
  std::vector<Separation> separations;
};

struct Flip {
  std::string metric;
  std::string scale;
  std::string from;
  std::string to;
  double holds_at = 1;
  double flips_at = 1;
};

struct ScanPoint {
  std::string scale;
  double value = 1;
  std::vector<std::string> winners;  // by row
};

struct Parsed {
  std::int64_t draws = 0;
  std::vector<Row> rows;
  std::vector<Flip> flips;
  std::vector<ScanPoint> scan;
};

Row read_row(JsonFields& fields) {
  Row row;
  row.metric = fields.text("metric");
  row.label = fields.text("label");
  row.unit = fields.text("unit");
  row.baseline = fields.optional_number("unscaled_baseline");
  row.treatment = fields.optional_number("unscaled_treatment");
  row.winner = fields.text("unscaled_winner");
  row.wins = fields.integer("wins");
  row.losses = fields.integer("losses");
  row.ties = fields.integer("ties");
  row.unknown = fields.integer("unknown");
  row.least = fields.optional_number("delta_least");
  row.median = fields.optional_number("delta_median");
  row.most = fields.optional_number("delta_most");
  each_member(fields, "separations", [&](JsonFields& separation) {
    row.separations.push_back({separation.text("scale"), separation.number("lost_is_larger")});
  });
  return row;
}

Parsed read_all(JsonFields& result) {
  Parsed parsed{.draws = result.integer("draws")};
  each_member(result, "metrics", [&](JsonFields& row) { parsed.rows.push_back(read_row(row)); });
  each_member(result, "flips", [&](JsonFields& flip) {
    parsed.flips.push_back({flip.text("metric"), flip.text("scale"), flip.text("from"),
                            flip.text("to"), flip.number("holds_at"), flip.number("flips_at")});
  });
  each_member(result, "scan", [&](JsonFields& point) {
    ScanPoint at{.scale = point.text("scale"), .value = point.number("value")};
    for (const Row& row : parsed.rows) {
      at.winners.push_back(point.text((row.metric + "_winner").c_str()));
    }
    parsed.scan.push_back(std::move(at));
  });
  return parsed;
}

// "1.14 x".
std::string times(double scale) {
  return fmt::format("{:.3g} x", scale);
}

// Whether all values of the scan beyond a flip have the winner that it leads to.
bool holds_beyond(const Parsed& parsed, std::size_t row, const Flip& flip) {
  return std::ranges::all_of(parsed.scan, [&](const ScanPoint& point) {
    const bool beyond =
        flip.flips_at > 1 ? point.value >= flip.flips_at : point.value <= flip.flips_at;
    return point.scale != flip.scale || !beyond || point.winners[row] == flip.to;
  });
}

// "it loses where decode takes more than 1.14 x as modelled"
std::string flip_words(const Parsed& parsed, std::size_t row, const Flip& flip) {
  const bool above = flip.flips_at > 1;
  std::string what = "they tie";
  if (flip.to == "treatment") what = "it wins";
  if (flip.to == "baseline") what = "it loses";
  const std::string at = times(std::sqrt(flip.holds_at * flip.flips_at));
  if (!holds_beyond(parsed, row, flip)) {
    return fmt::format("{} from where {} takes {} as modelled ({} it changes again)", what,
                       flip.scale, at, above ? "above that" : "below that");
  }
  return fmt::format("{} where {} takes {} {} as modelled", what, flip.scale,
                     above ? "more than" : "less than", at);
}

std::string row_sentence(const Parsed& parsed, std::size_t index) {
  const Row& row = parsed.rows[index];
  const std::int64_t known = parsed.draws - row.unknown;
  if (known == 0) return row.label + ": there is no such figure of both sides in any draw.";
  const bool tied = row.ties == known;
  std::string out = fmt::format("{}: the treatment {} in {} of {} draws", row.label,
                                tied ? "ties" : "wins", tied ? row.ties : row.wins, known);
  if (row.ties > 0 && !tied) out += fmt::format(" and ties in {}", row.ties);
  if (row.winner == "treatment") out += ", and with the model as it is";
  if (row.winner == "baseline") out += ", and loses with the model as it is";
  if (row.winner == "tie") {
    out += tied ? ", and with the model as it is" : ", and ties with the model as it is";
  }
  std::vector<std::string> flips;
  for (const Flip& flip : parsed.flips) {
    if (flip.metric == row.metric) flips.push_back(flip_words(parsed, index, flip));
  }
  if (!flips.empty()) return out + "; " + enumeration(flips) + ".";
  const bool mixed = (row.wins > 0) + (row.losses > 0) + (row.ties > 0) > 1;
  if (mixed) return out + "; no scale by itself changes that inside the band, several together do.";
  return out + "; nothing inside the band changes that.";
}

std::string misses_words(std::int64_t misses, std::int64_t draws) {
  if (misses == 0) return "in none";
  return misses == draws ? fmt::format("in all {}", number_of(draws, "draw"))
                         : fmt::format("in {} of {}", misses, number_of(draws, "draw"));
}

struct SloFinding {
  bool changes = false;  // inside the band, of either side
  std::string sentence;
};

SloFinding slo_finding(JsonFields& result, std::int64_t draws) {
  const Json* slo = result.object("slo");
  if (slo == nullptr) return {};
  JsonFields fields(*slo, kResultPlace, "slo.");
  const std::int64_t baseline = fields.integer("baseline_misses");
  const std::int64_t treatment = fields.integer("treatment_misses");
  const bool baseline_changes = fields.boolean("baseline_changes");
  const bool treatment_changes = fields.boolean("treatment_changes");
  const bool known = fields.integer("unknown") < draws;
  if (fields.failed()) result.fail("slo", fields.error().message);
  if (!known) return {.changes = baseline_changes || treatment_changes};
  SloFinding found{.changes = baseline_changes || treatment_changes};
  found.sentence = fmt::format("The baseline misses the SLO {}, the treatment {}.",
                               misses_words(baseline, draws), misses_words(treatment, draws));
  if (baseline == 0 && treatment == 0) found.sentence = "No draw makes either side miss the SLO.";
  // Seen only where one scale is changed by itself.
  const auto ends_only = [&](const char* side, bool changes, std::int64_t misses) {
    if (!changes || (misses > 0 && misses < draws)) return;
    found.sentence +=
        fmt::format(" Of the {} that changes where the model is scaled otherwise.", side);
  };
  ends_only("baseline", baseline_changes, baseline);
  ends_only("treatment", treatment_changes, treatment);
  return found;
}

std::string verdict_sentence(const std::string& verdict, const std::vector<Row>& rows,
                             bool slo_changes) {
  std::vector<std::string> without;  // any draw that could be compared
  bool gaps = false;
  for (const Row& row : rows) {
    if (row.wins + row.losses + row.ties == 0) without.push_back(row.label);
    gaps |= row.unknown > 0;
  }
  const std::string where = gaps ? "every draw and scan of the band that could be compared"
                                 : "every draw and scan of the band";
  const std::string but = slo_changes ? "; but whether the SLO is met changes inside it." : ".";
  if (verdict == "holds") {
    const std::string head = slo_changes ? "Who" : "The comparison holds: who";
    return head + " is ahead stays ahead in " + where + but;
  }
  if (verdict == "tied") {
    return "A tie: neither side is ahead of the other, in " + where + but;
  }
  if (verdict == "flips") {
    return "The comparison depends on the latency model: inside the band some of it is reversed.";
  }
  return "No verdict on all of it: " + enumeration(without) + " could be compared in no draw.";
}

std::string draws_line(JsonFields& result, const Parsed& parsed) {
  std::vector<std::string> scales;
  bool without_transfer = false;
  double low = 1;
  double high = 1;
  each_member(result, "scales", [&](JsonFields& scale) {
    const std::string name = scale.text("scale");
    const bool acts = scale.boolean("acts");
    const double from = scale.number("low");
    const double to = scale.number("high");
    if (!acts) {
      without_transfer = true;
      return;
    }
    scales.push_back(name);
    low = from;
    high = to;
  });
  std::string text = fmt::format(
      "{} of {} times from {} to {}, the same for both; {} of each side at every draw, seeds from "
      "{} on.",
      number_of(parsed.draws, "draw"), enumeration(scales), times(low), times(high),
      number_of(result.integer("repeats"), "repetition"), result.integer("seed", INT64_MIN));
  if (without_transfer) text += " No KV cache is transferred, so that scale has no effect.";
  return wrapped("Draws      ", text);
}

std::string draws_table(const Parsed& parsed) {
  TextTable table({"metric", ">baseline", ">treatment", ">won", ">lost", ">tied", ">unknown",
                   ">least delta", ">median", ">most"});
  for (const Row& row : parsed.rows) {
    const auto shown = [&](const std::optional<double>& value) {
      return value ? figure(*value, row.unit) : std::string("-");
    };
    const auto delta = [&](const std::optional<double>& value) {
      return value ? delta_figure(*value, row.unit) : std::string("-");
    };
    table.add({row.label + (row.unit.empty() ? "" : ", " + row.unit), shown(row.baseline),
               shown(row.treatment), std::to_string(row.wins), std::to_string(row.losses),
               std::to_string(row.ties), std::to_string(row.unknown), delta(row.least),
               delta(row.median), delta(row.most)});
  }
  return table.text();
}

std::string unscaled_words(JsonFields& slo) {
  const std::optional<bool> baseline = slo.optional_boolean("unscaled_baseline");
  const std::optional<bool> treatment = slo.optional_boolean("unscaled_treatment");
  if (!baseline || !treatment) return "that is unknown of one of them";
  if (*baseline && *treatment) return "both do";
  if (!*baseline && !*treatment) return "neither does";
  return *treatment ? "the treatment does, the baseline does not"
                    : "the baseline does, the treatment does not";
}

std::string slo_line(JsonFields& result, const Parsed& parsed) {
  const Json* slo = result.object("slo");
  if (slo == nullptr) return {};
  JsonFields fields(*slo, kResultPlace, "slo.");
  const std::int64_t baseline = fields.integer("baseline");
  const std::int64_t treatment = fields.integer("treatment");
  const std::int64_t neither = fields.integer("neither");
  const std::int64_t unknown = fields.integer("unknown");
  const bool of_turns = std::ranges::any_of(
      parsed.rows, [](const Row& row) { return row.metric == "turn_attainment"; });
  std::string text = fmt::format(
      "the baseline meets it in {} of {} draws, the treatment in {}, both in {}, "
      "neither in {}",
      baseline, parsed.draws, treatment, fields.integer("both"), neither);
  if (unknown > 0) text += fmt::format(", unknown in {}", unknown);
  text += fmt::format(" ({} of {} or more in every repetition). With the model as it is, {}.",
                      of_turns ? "turn attainment" : "goodput", figure(fields.number("attainment")),
                      unscaled_words(fields));
  if (unknown == parsed.draws && baseline + treatment == 0) {
    text = std::string("no draw has ") + (of_turns ? "turn attainments" : "goodputs") +
           " of both sides, so whether it is met is unknown.";
  }
  if (fields.failed()) result.fail("slo", fields.error().message);
  return "\n" + wrapped("SLO: ", text);
}

char letter_of(const std::string& winner) {
  if (winner == "treatment") return 'T';
  if (winner == "baseline") return 'B';
  return winner == "tie" ? '=' : '?';
}

// Who is ahead along each scale: one letter for each value looked at.
std::string scan_text(const Parsed& parsed) {
  std::vector<std::string> scales;
  for (const ScanPoint& point : parsed.scan) {
    if (scales.empty() || scales.back() != point.scale) scales.push_back(point.scale);
  }
  std::string out =
      "\nWho is ahead when one scale is changed by itself (T treatment, B baseline, = tie):\n";
  TextTable table({"metric", "scale", ">from", "", "to"});
  for (std::size_t row = 0; row < parsed.rows.size(); ++row) {
    for (const std::string& scale : scales) {
      std::string letters;
      double low = 0;
      double high = 0;
      for (const ScanPoint& point : parsed.scan) {
        if (point.scale != scale) continue;
        if (letters.empty()) low = point.value;
        high = point.value;
        if (point.value == 1) letters += '(';
        letters += letter_of(point.winners[row]);
        if (point.value == 1) letters += ')';
      }
      table.add({parsed.rows[row].label, scale, times(low), letters, times(high)});
    }
  }
  return out + table.text();
}

// Which scale tells draws lost from draws won.
std::string separations_text(const Parsed& parsed) {
  std::string out;
  for (const Row& row : parsed.rows) {
    if (row.separations.empty()) continue;
    const Separation& best = *std::max_element(
        row.separations.begin(), row.separations.end(), [](const auto& a, const auto& b) {
          return std::fabs(a.lost_is_larger - 0.5) < std::fabs(b.lost_is_larger - 0.5);
        });
    const bool larger = best.lost_is_larger > 0.5;
    const std::string what = best.scale == "prefill/decode"
                                 ? "ratio of the prefill to the decode scale"
                                 : best.scale + " scale";
    out +=
        wrapped("  ", fmt::format("{}: of a draw lost and a draw won, the lost one has the {} {} "
                                  "in {} of all pairs.",
                                  row.label, larger ? "larger" : "smaller", what,
                                  percent(larger ? best.lost_is_larger : 1 - best.lost_is_larger)));
  }
  return out.empty() ? out : "\nWhat tells the draws apart best:\n" + out;
}

}  // namespace

Result<std::string> sensitivity_text(const std::string& result_json, PlotGlyphs) {
  const Result<Json> json = parse_study_result(result_json, "sensitivity");
  if (!json) return std::unexpected(json.error());
  JsonFields result(*json, kResultPlace);
  const Parsed parsed = read_all(result);
  std::string out = "Sensitivity of a comparison to the latency model (simulated)\n";
  const SloFinding slo = slo_finding(result, parsed.draws);
  out += wrapped("Verdict    ", verdict_sentence(result.text("verdict"), parsed.rows, slo.changes));
  if (!slo.sentence.empty()) out += wrapped("           ", slo.sentence);
  if (!result.failed()) {
    for (std::size_t row = 0; row < parsed.rows.size(); ++row) {
      out += wrapped("           ", row_sentence(parsed, row));
    }
  }
  out += alternatives_text(result);
  out += draws_line(result, parsed);
  out += "\n" + draws_table(parsed) + slo_line(result, parsed);
  if (!result.failed()) out += scan_text(parsed) + separations_text(parsed);
  out += "\n" + wrapped("",
                        "The draws look around inside the band; they are no belief about real "
                        "hardware, and a share of them is no probability.");
  out += closing_text(result);
  if (result.failed()) return std::unexpected(result.error());
  return out;
}

}  // namespace inferscale

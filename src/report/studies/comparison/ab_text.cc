#include "report/studies/comparison/ab_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/studies/comparison/ab_rows.h"
#include "report/studies/comparison_text.h"
#include "report/studies/study_json.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

std::string words_of(const std::string& verdict) {
  static const std::map<std::string, std::string> words = {
      {"better", "treatment better"},
      {"worse", "treatment worse"},
      {"higher", "treatment higher"},
      {"lower", "treatment lower"},
      {"no_difference_shown", "no difference shown"},
      {"identical", "identical"},
      {"differs", "differs here"},
      {"too_few_pairs", "too few pairs"},
      {"not_comparable", "not comparable"}};
  const auto found = words.find(verdict);
  return found == words.end() ? verdict : found->second;
}

// "goodput (0.4447 -> 0.9863)"
std::string with_means(const AbTextRow& row) {
  if (!row.baseline_mean || !row.treatment_mean) return row.name;
  const std::string after = figure_with_unit(*row.treatment_mean, row.unit);
  std::string before = figure_with_unit(*row.baseline_mean, row.unit);
  // One unit for both where it is the same.
  const bool same = before.substr(before.find(' ') + 1) == after.substr(after.find(' ') + 1);
  if (same) before = before.substr(0, before.find(' '));
  return row.name + " (" + before + " -> " + after + ")";
}

// The headline metrics with `verdict`, those that are decided with their means.
std::vector<std::string> headline(const std::vector<AbTextRow>& rows, const std::string& verdict) {
  std::vector<std::string> names;
  for (const AbTextRow& row : rows) {
    if (!row.headline || row.verdict != verdict) continue;
    const bool decided = verdict == "better" || verdict == "worse";
    names.push_back(decided ? with_means(row) : row.name);
  }
  return names;
}

// What speaks against the headline.
std::string others(const std::vector<AbTextRow>& rows, const std::string& verdict) {
  std::vector<std::string> names;
  for (const AbTextRow& row : rows) {
    if (!row.headline && row.verdict == verdict) names.push_back(row.name);
  }
  if (names.empty()) return {};
  return " It is " + verdict + " in " + enumeration(names) + ".";
}

// "goodput on every repetition, and in TTFT p95 on the 9 pairs that have it"
std::string identical_words(const std::vector<AbTextRow>& rows) {
  std::vector<std::string> everywhere;
  std::vector<std::string> parts;
  for (const AbTextRow& row : rows) {
    if (!row.headline || row.verdict != "identical") continue;
    if (row.baseline_missing + row.treatment_missing == 0) {
      everywhere.push_back(row.name);
    } else {
      parts.push_back(fmt::format("in {} on the {} that {} it", row.name,
                                  number_of(row.pairs, "pair"), row.pairs == 1 ? "has" : "have"));
    }
  }
  if (!everywhere.empty()) {
    parts.insert(parts.begin(), "in " + enumeration(everywhere) + " on every repetition");
  }
  return enumeration(parts);
}

// Where all repetitions are one over again: what differs in it, and no more than that.
std::string one_workload_words(const std::vector<AbTextRow>& rows) {
  std::vector<std::string> better;
  std::vector<std::string> worse;
  std::vector<std::string> names;
  for (const AbTextRow& row : rows) {
    if (!row.headline || row.verdict != "differs" || !row.delta_mean) continue;
    const bool higher = *row.delta_mean > 0;
    std::vector<std::string>& side = higher == (row.better == "higher") ? better : worse;
    side.push_back(with_means(row));
  }
  std::string found;
  if (!better.empty()) found = "better in " + enumeration(better);
  if (!worse.empty()) found += (found.empty() ? "" : " and ") + ("worse in " + enumeration(worse));
  return "They differ on this one workload: the treatment is " + found +
         ". All repetitions are the same run again, so how it is on others is not known.";
}

// Latencies are of those who were served: where one side refused more, of other requests.
std::string survivors_words(const std::vector<AbTextRow>& rows) {
  const auto is_decided = [](const AbTextRow& row) {
    return row.verdict == "better" || row.verdict == "worse";
  };
  const bool judges_latency = std::ranges::any_of(rows, [&](const AbTextRow& row) {
    return row.headline && row.unit == "ms" && is_decided(row);
  });
  const auto refused = std::ranges::find(rows, "refused", &AbTextRow::metric);
  if (!judges_latency || refused == rows.end() || !is_decided(*refused)) return {};
  return fmt::format(
      " Latencies are of the requests that were served, and the treatment refused {} of them: {}. "
      "Goodput counts all.",
      refused->verdict == "worse" ? "more" : "fewer", with_means(*refused));
}

std::string verdict_sentence(const std::string& verdict, const std::vector<AbTextRow>& rows) {
  const std::string better = enumeration(headline(rows, "better"));
  const std::string worse = enumeration(headline(rows, "worse"));
  const std::string open = enumeration(headline(rows, "no_difference_shown"));
  const std::string rest = open.empty() ? "" : " For " + open + " no difference is shown.";
  if (verdict == "better") {
    return "The treatment is better: " + better + "." + rest + others(rows, "worse");
  }
  if (verdict == "worse") {
    return "The treatment is worse: " + worse + "." + rest + others(rows, "better");
  }
  if (verdict == "trade") {
    return "A trade: the treatment is better in " + better + " and worse in " + worse + "." + rest;
  }
  if (verdict == "no_difference_shown") {
    return "No difference shown in " + open +
           ". That is not yet the same as no difference: the intervals below say how large one "
           "could be.";
  }
  if (verdict == "identical") {
    return "Identical " + identical_words(rows) + ".";
  }
  if (verdict == "differs") {
    return one_workload_words(rows);
  }
  if (verdict == "too_few_pairs") {
    return "No verdict: too few repetitions for an interval. Raise repeats, to 10, say.";
  }
  return "No verdict: there is no repetition in which both have the figures.";
}

// The labels of the headline metrics that the last look left undecided.
std::vector<std::string> still_undecided(JsonFields& result, const std::vector<AbTextRow>& rows) {
  std::vector<std::string> names;
  each_member(result, "looks", [&](JsonFields& look) {
    names.clear();
    const Json* undecided = look.list("undecided");
    if (undecided == nullptr) return;
    for (const AbTextRow& row : rows) {
      if (std::ranges::find(*undecided, Json(row.metric)) != undecided->end()) {
        names.push_back(row.name);
      }
    }
  });
  return names;
}

std::string runs_line(JsonFields& result, const std::vector<AbTextRow>& rows) {
  const std::int64_t repeats = result.integer("repeats");
  const std::int64_t pairs = result.integer("pairs");
  const std::int64_t seed = result.integer("seed", INT64_MIN);
  std::string out =
      number_of(repeats, "repetition") + " of each, seeds from " + std::to_string(seed) + " on, ";
  out += result.boolean("common_random_numbers") ? "the same for both"
                                                 : "the treatment's 1,000,000 higher";
  if (pairs < repeats) out += fmt::format("; {} could be compared", number_of(pairs, "pair"));
  const std::string ended = result.text("ended");
  const std::optional<std::int64_t> most = result.optional_integer("max_repeats");
  const double half_width = result.number("half_width");
  if (ended == "alike") {
    out += fmt::format("; no more of the {} allowed were made, since all gave the same figures",
                       most.value_or(0));
  } else if (ended == "decided") {
    out += fmt::format(
        "; ended before {}, since the headline metrics are decided or known to "
        "within {} % of the baseline",
        most.value_or(0), figure(100 * half_width));
  } else if (ended == "budget") {
    out += "; all that max_repeats allows";
    const std::vector<std::string> open = still_undecided(result, rows);
    out += open.empty() ? ", and the headline metrics are decided or known to within " +
                              figure(100 * half_width) + " % of the baseline"
                        : ", and still undecided: " + enumeration(open);
  }
  return wrapped("Runs       ", out + ".");
}

std::string won(const AbTextRow& row) {
  if (!row.wins) return "-";
  std::string text = fmt::format("{} of {}", *row.wins, row.pairs);
  if (row.ties.value_or(0) > 0) text += fmt::format(", {} tied", *row.ties);
  return text;
}

std::string mean_text(const std::optional<double>& mean, const AbTextRow& row) {
  return mean ? figure(*mean, row.unit) : "-";
}

std::string relative_text(const std::optional<double>& change) {
  return change ? signed_percent(*change) : "-";
}

std::string verdicts_table(const std::vector<AbTextRow>& rows) {
  TextTable table({"metric", ">baseline", ">treatment", ">change", ">won", "verdict"});
  for (const AbTextRow& row : rows) {
    table.add({(row.headline ? "* " : "  ") + row.label, mean_text(row.baseline_mean, row),
               mean_text(row.treatment_mean, row), relative_text(row.delta_mean_relative), won(row),
               words_of(row.verdict)});
  }
  return table.text();
}

// The end of the axis, as a part of the baseline, that holds the intervals; at most 1.
double axis_end(const std::vector<AbTextRow>& rows) {
  double widest = 0;
  for (const AbTextRow& row : rows) {
    if (!row.interval_low_relative || !row.interval_high_relative) continue;
    widest = std::max(
        {widest, std::fabs(*row.interval_low_relative), std::fabs(*row.interval_high_relative)});
  }
  for (const double end : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5}) {
    if (widest <= end) return end;
  }
  return 1;
}

// The interval around its mean on an axis from -end to +end; what is beyond is an arrow.
std::string strip(const AbTextRow& row, double end, PlotGlyphs glyphs) {
  constexpr int kHalf = 15;
  constexpr std::size_t kMiddle = kHalf;
  const bool unicode = glyphs == PlotGlyphs::kUnicode;
  std::vector<std::string> cells(2 * kMiddle + 1, " ");
  cells[kMiddle] = unicode ? "│" : "|";
  if (!row.interval_low_relative || !row.interval_high_relative || !row.delta_mean_relative) {
    return {};
  }
  const auto column = [&](double relative) {
    return static_cast<int>(std::lround(relative / end * kHalf));
  };
  const auto place_of = [](int at) { return kMiddle + static_cast<std::size_t>(at); };
  const int low = column(*row.interval_low_relative);
  const int high = column(*row.interval_high_relative);
  for (int at = std::max(low, -kHalf); at <= std::min(high, kHalf); ++at) {
    cells[place_of(at)] = unicode ? "─" : "-";
  }
  const int mean = column(*row.delta_mean_relative);
  if (std::abs(mean) <= kHalf) {
    cells[place_of(mean)] = unicode ? "●" : "o";
  }
  if (low < -kHalf) cells.front() = "<";
  if (high > kHalf) cells.back() = ">";
  std::string out;
  for (const std::string& cell : cells) out += cell;
  return out;
}

std::string differences_table(JsonFields& result, const std::vector<AbTextRow>& rows) {
  const double plain = 100 * result.number("percentile_confidence");
  const double level = 100 * result.number("interval_confidence");
  TextTable table({"treatment - baseline", ">mean", ">median",
                   fmt::format(">{:.4g} % bootstrap", plain),
                   fmt::format(">{:.4g} % expanded", level)});
  for (const AbTextRow& row : rows) {
    if (row.pairs == 0) continue;
    const auto interval = [&](const std::optional<double>& low, const std::optional<double>& high) {
      return low && high ? interval_text(*low, *high, row.unit) : std::string("-");
    };
    const auto delta = [&](const std::optional<double>& value) {
      return value ? delta_figure(*value, row.unit) : std::string("-");
    };
    table.add({(row.headline ? "* " : "  ") + row.label, delta(row.delta_mean),
               delta(row.delta_median), interval(row.percentile_low, row.percentile_high),
               interval(row.interval_low, row.interval_high)});
  }
  return table.text();
}

// Changes relative to the baseline: of the mean, with its interval drawn, and of the pairs.
std::string strips(const std::vector<AbTextRow>& rows, PlotGlyphs glyphs) {
  const bool drawn = std::ranges::any_of(
      rows, [&](const AbTextRow& row) { return !strip(row, 1, glyphs).empty(); });
  const double end = axis_end(rows);
  TextTable table(
      {drawn ? fmt::format("{:+.0f} % to {:+.0f} % of the baseline", -100 * end, 100 * end)
             : "relative to the baseline",
       "", ">change", ">per pair"});
  bool any = false;
  for (const AbTextRow& row : rows) {
    if (!row.delta_mean_relative && !row.relative_change_mean) continue;
    any = true;
    table.add({(row.headline ? "* " : "  ") + row.label, strip(row, end, glyphs),
               relative_text(row.delta_mean_relative), relative_text(row.relative_change_mean)});
  }
  return any ? "\n" + table.text() : std::string();
}

// What rows rest on when it is not all pairs.
std::string gaps_text(const std::vector<AbTextRow>& rows) {
  std::string out;
  for (const AbTextRow& row : rows) {
    if (row.baseline_missing + row.treatment_missing > 0) {
      out += wrapped("  ", fmt::format("{}: {} compared; the baseline lacks the figure in {}, the "
                                       "treatment in {}.",
                                       row.name, number_of(row.pairs, "pair"),
                                       number_of(row.baseline_missing, "run"),
                                       number_of(row.treatment_missing, "run")));
    }
    if (row.relative_change_mean && row.relative_pairs < row.pairs) {
      out += wrapped("  ",
                     fmt::format("{}: the change per pair is over the {} whose baseline is not 0.",
                                 row.name, number_of(row.relative_pairs, "pair")));
    }
  }
  return out.empty() ? out : "\n" + out;
}

std::string how_to_read(JsonFields& result, const std::vector<AbTextRow>& rows) {
  const std::int64_t judged = result.integer("judged");
  if (judged == 0) return {};
  const double confidence = result.number("interval_confidence");
  const auto headline = std::ranges::count_if(
      rows, [](const AbTextRow& row) { return row.headline && row.interval_low.has_value(); });
  std::string text = "* The overall verdict rests on these";
  if (headline > 0) {
    text += fmt::format(
        ", and any one of them makes it: were nothing different, chance alone would do so in up to "
        "about {} % of such comparisons",
        figure(100 * static_cast<double>(headline) * (1 - confidence)));
  }
  return "\n" +
         wrapped("", fmt::format("{}. A metric is decided when its expanded interval does not hold "
                                 "0. {} metrics are judged, each at {:.4g} %: chance alone would "
                                 "show {} of them as different on average.",
                                 text, judged, 100 * confidence,
                                 figure(result.number("expected_by_chance"))));
}

}  // namespace

Result<std::string> ab_text(const std::string& result_json, PlotGlyphs glyphs) {
  const Result<Json> parsed = parse_study_result(result_json, "ab");
  if (!parsed) return std::unexpected(parsed.error());
  JsonFields result(*parsed, kResultPlace);
  const std::vector<AbTextRow> rows = read_ab_rows(result);
  std::string out = "Paired comparison (simulated)\n";
  out += wrapped("Verdict    ",
                 verdict_sentence(result.text("verdict"), rows) + survivors_words(rows));
  out += alternatives_text(result);
  out += runs_line(result, rows);
  out += "\n" + verdicts_table(rows);
  out += strips(rows, glyphs);
  out += "\n" + differences_table(result, rows);
  out += gaps_text(rows) + how_to_read(result, rows) + closing_text(result);
  if (result.failed()) return std::unexpected(result.error());
  return out;
}

}  // namespace inferscale

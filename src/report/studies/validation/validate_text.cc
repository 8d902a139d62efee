#include "report/studies/validation/validate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "report/studies/ratio_strip.h"
#include "report/studies/validation/validation_rows.h"
#include "report/studies/validation/validation_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr std::size_t kMostNames = 3;    // of a list in a table's cell
constexpr std::size_t kMostRows = 40;    // of the tables by hardware and by model
constexpr std::size_t kMostDetails = 4;  // of a reason
constexpr std::size_t kLongestDetail = 48;

// Long words are cut at a space: result.json has all of them.
std::string shortened(const std::string& text) {
  if (text.size() <= kLongestDetail) return text;
  const std::size_t space = text.rfind(' ', kLongestDetail);
  return (space == std::string::npos ? text : text.substr(0, space)) + " ...";
}

std::string counted(const std::vector<CountedText>& texts, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) {
    out +=
        fmt::format("{}{} {}", out.empty() ? "" : ", ", shortened(texts[i].text), texts[i].count);
  }
  if (texts.size() > most) out += fmt::format(", {} more", texts.size() - most);
  return out;
}

// Of few cases every figure, before any statistics.
std::string all_figures(const ValidationRows& rows) {
  TextTable table({"case", "load", "metric", ">measured", ">predicted", ">error"});
  std::string last;
  for (const FigureRow& row : rows.figures) {
    const bool same = row.id == last;
    last = row.id;
    table.add({same ? "" : row.id, same ? "" : row.regime, row.metric, short_number(row.measured),
               row.predicted ? short_number(*row.predicted) : "-",
               row.relative_error ? error_percent(*row.relative_error) : "-"});
  }
  return "Measured and predicted\n\n" + table.text() + "\n";
}

std::string composition(const ValidationRows& rows) {
  TextTable table({"load", ">cases", "hardware", "models", "spread of lengths", "load told by"});
  for (const RegimeRow& row : rows.regimes) {
    table.add({row.regime, std::to_string(row.cases), counted(row.hardware, kMostNames),
               counted(row.models, kMostNames), counted(row.lengths, kMostNames),
               counted(row.basis, kMostNames)});
  }
  return "What the cases are\n\n" + table.text();
}

std::string by_metric(const ValidationRows& rows) {
  TextTable table(
      {"load", "metric", ">n", ">MAPE", ">median APE", ">max APE", ">bias", ">within 25 %"});
  bool empty = true;
  for (const ErrorRow& row : rows.errors) {
    if (row.by != "regime" || (rows.has_few_cases() && row.n == 1)) continue;
    empty = false;
    table.add({row.regime, row.metric, std::to_string(row.n), ape_percent(row.mape),
               ape_percent(row.median_ape), ape_percent(row.max_ape), error_percent(row.bias),
               fmt::format("{} of {}", row.within_quarter, row.n)});
  }
  return empty ? "" : "\nErrors by load and metric\n\n" + table.text();
}

// Families of figures, one column each where there is no room for all.
struct Family {
  std::string_view title;
  std::string_view prefix;
  std::string_view other_prefix;
};
constexpr std::array kFamilies = {Family{"first token", "ttft_ms_", "ttft_ms_"},
                                  Family{"between tokens", "tpot_ms_", "itl_ms_"},
                                  Family{"whole answer", "e2e_ms_", "e2e_ms_"},
                                  Family{"throughput", "finished_rps", "output_tokens_per_s"}};

// What a metric adds to the name of its family.
std::string within_family(const std::string& metric) {
  if (metric == "finished_rps") return "requests";
  if (metric == "output_tokens_per_s") return "tokens";
  for (const std::string_view prefix : {"ttft_ms_", "e2e_ms_"}) {
    if (metric.starts_with(prefix)) return metric.substr(prefix.size());
  }
  if (metric.starts_with("tpot_ms_")) return "TPOT " + metric.substr(8);
  if (metric.starts_with("itl_ms_")) return "ITL " + metric.substr(7);
  return metric;
}

// Of a family the metric that most of a regime's cases have; empty: none has one.
std::string headline_metric(const ValidationRows& rows, const std::string& regime,
                            const Family& family) {
  const ErrorRow* best = nullptr;
  for (const ErrorRow& row : rows.errors) {
    const bool member =
        row.metric.starts_with(family.prefix) || row.metric.starts_with(family.other_prefix);
    if (row.by != "regime" || row.regime != regime || !member) continue;
    if (best == nullptr || row.n > best->n) best = &row;
  }
  return best == nullptr ? std::string() : best->metric;
}

using PartKey = std::array<std::string, 3>;  // hardware, model, regime

// Median errors of the headline metrics, a row for each part and load.
std::string by_part(const ValidationRows& rows, const std::string& by, const std::string& title) {
  std::map<PartKey, std::map<std::string, const ErrorRow*>> parts;
  for (const ErrorRow& row : rows.errors) {
    if (row.by == by) parts[{row.hardware, row.model, row.regime}][row.metric] = &row;
  }
  const bool models = by != "hardware";
  std::vector<std::string> columns = {"hardware"};
  if (models) columns.push_back("model");
  columns.push_back("load");
  for (const Family& family : kFamilies) columns.push_back(">" + std::string(family.title));
  TextTable table(std::move(columns));
  std::size_t shown = 0;
  for (const auto& [key, errors] : parts) {
    if (shown++ == kMostRows) break;
    std::vector<std::string> cells = {key[0]};
    if (models) cells.push_back(key[1]);
    cells.push_back(key[2]);
    for (const Family& family : kFamilies) {
      const auto found = errors.find(headline_metric(rows, key[2], family));
      if (found == errors.end()) {
        cells.push_back("-");
        continue;
      }
      cells.push_back(fmt::format("{} {} ({})", within_family(found->first),
                                  ape_percent(found->second->median_ape), found->second->n));
    }
    table.add(std::move(cells));
  }
  std::string text = "\n" + title + "\n\n" + table.text();
  if (parts.size() > kMostRows) {
    text += fmt::format("  {} more rows are in result.json\n", parts.size() - kMostRows);
  }
  return text;
}

std::string spread(const ValidationRows& rows, PlotGlyphs glyphs) {
  std::string lines;
  for (const RegimeRow& regime : rows.regimes) {
    for (const Family& family : kFamilies) {
      const std::string metric = headline_metric(rows, regime.regime, family);
      std::vector<double> ratios;
      for (const FigureRow& figure : rows.figures) {
        if (figure.regime != regime.regime || figure.metric != metric) continue;
        if (const auto ratio = figure.ratio()) ratios.push_back(*ratio);
      }
      if (ratios.size() < (rows.has_few_cases() ? 2 : 1)) continue;
      lines += fmt::format("  {:<12}  {:<20}  {}  n {}\n", regime.regime, metric,
                           ratio_strip(ratios, glyphs), ratios.size());
    }
  }
  if (lines.empty()) return {};
  return "\nPredicted / measured, from a quarter to four times\n\n" + lines + std::string(38, ' ') +
         ratio_axis() + "\n";
}

std::string worst(const ValidationRows& rows) {
  if (rows.worst.empty()) return {};
  TextTable table({"case", "load", "metric", ">measured", ">predicted", ">error"});
  for (const WorstRow& row : rows.worst) {
    table.add({row.id, row.regime, row.metric, short_number(row.measured),
               short_number(row.predicted), error_percent(row.relative_error)});
  }
  return "\nFarthest off, one figure of a case\n\n" + table.text();
}

std::string left_out(const ValidationRows& rows) {
  std::string text;
  if (!rows.reasons.empty()) {
    TextTable table({">cases", "reason", "which"});
    for (const ReasonRow& row : rows.reasons) {
      table.add({std::to_string(row.count), row.reason, counted(row.details, kMostDetails)});
    }
    text += fmt::format("\nNot simulated: {} of {} cases\n\n", rows.not_simulated, rows.read) +
            table.text();
  }
  if (!rows.unscored.empty()) {
    TextTable table({">figures", "reason", "which"});
    for (const ReasonRow& row : rows.unscored) {
      table.add({std::to_string(row.count), row.reason, counted(row.details, kMostDetails)});
    }
    text += "\nFigures of simulated cases that were not compared\n\n" + table.text();
  }
  if (!rows.assumptions.empty()) {
    TextTable table({">cases", "what"});
    for (const CountedText& each : rows.assumptions) {
      table.add({std::to_string(each.count), each.text});
    }
    text += "\nAssumed, where a case does not say it\n\n" + table.text();
  }
  return text;
}

// The largest deviation of a prediction over its repetitions, as a part of it.
std::string own_spread(const ValidationRows& rows) {
  double largest = 0;
  bool repeated = false;
  for (const FigureRow& figure : rows.figures) {
    if (!figure.predicted_sd || figure.predicted.value_or(0) <= 0) continue;
    repeated = true;
    largest = std::max(largest, *figure.predicted_sd / *figure.predicted);
  }
  if (!repeated) return {};
  return fmt::format(
      "\nOver repetitions a prediction's own standard deviation is at most {} of it.\n",
      ape_percent(largest));
}

std::string notes(const ValidationRows& rows) {
  std::string text = own_spread(rows);
  std::int64_t assumed = 0;
  for (const RegimeRow& row : rows.regimes) {
    for (const CountedText& each : row.lengths) {
      if (each.text == "assumed") assumed += each.count;
    }
  }
  if (assumed > 0) {
    text += fmt::format(
        "\nFor {} cases only mean lengths are known: prompts are lognormal with a deviation of {} "
        "times the mean, answers of {}.\n",
        assumed, short_number(rows.prompt_cv), short_number(rows.output_cv));
  }
  if (rows.with_refusals > 0) {
    text += fmt::format(
        "\nIn {} cases the simulated engine refused some requests, too long for it: their figures "
        "are of the others.\n",
        rows.with_refusals);
  }
  return text;
}

}  // namespace

Result<std::string> validate_text(const std::string& result_json, PlotGlyphs glyphs) {
  const Result<ValidationRows> rows = read_validation_rows(result_json);
  if (!rows) return std::unexpected(rows.error());
  std::string text = validation_verdict(*rows);
  if (rows->compared > 0) {
    if (rows->has_few_cases()) text += all_figures(*rows);
    text += composition(*rows) + by_metric(*rows);
    if (!rows->has_few_cases()) {
      text += by_part(*rows, "hardware",
                      "Median APE by hardware and load (cases; of all models there)");
      text +=
          by_part(*rows, "hardware_and_model", "Median APE by hardware, model and load (cases)");
    }
    text += spread(*rows, glyphs);
    if (!rows->has_few_cases()) text += worst(*rows);
  }
  return text + left_out(*rows) + notes(*rows);
}

}  // namespace inferscale

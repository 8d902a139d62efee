#include "report/studies/validation/validation_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/text/text_table.h"

namespace inferscale {
namespace {

// Fewer cases than these say nothing about the next one.
constexpr std::int64_t kFewestCases = 5;
// Between these a factor looks like the one between seconds and milliseconds; of a prediction that
// is honestly that wrong the note is only a question.
constexpr double kUnitStepFrom = 300;
constexpr double kUnitStepTo = 3000;
constexpr std::size_t kMostUnitNotes = 3;

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string load_words(const std::string& regime) {
  if (regime == "light") return "Light load";
  if (regime == "knee") return "Near the knee";
  if (regime == "overload") return "Overload";
  if (regime == "burst") return "All requests at once";
  if (regime == "batch") return "One static batch";
  return "Load undetermined";
}

std::string cases_words(std::int64_t cases) {
  return fmt::format("{} case{}", cases, cases == 1 ? "" : "s");
}

// Metrics by how many of their predictions are near what was measured.
struct Reliance {
  std::vector<std::string> mostly;  // nine of ten
  std::vector<std::string> partly;
  std::vector<std::string> rarely;   // fewer than half
  std::vector<std::string> unclear;  // too few cases
};

Reliance reliance_of(const ValidationRows& rows, const std::string& regime) {
  Reliance found;
  for (const ErrorRow& row : rows.errors) {
    if (row.by != "regime" || row.regime != regime) continue;
    const double share = static_cast<double>(row.within_quarter) / static_cast<double>(row.n);
    if (row.n < kFewestCases) {
      found.unclear.push_back(row.metric);
    } else if (share >= 0.9) {
      found.mostly.push_back(row.metric);
    } else if (share >= 0.5) {
      found.partly.push_back(row.metric);
    } else {
      found.rarely.push_back(row.metric);
    }
  }
  return found;
}

std::string regime_sentence(const ValidationRows& rows, const RegimeRow& regime) {
  const Reliance found = reliance_of(rows, regime.regime);
  std::vector<std::string> parts;
  const auto add = [&](const std::vector<std::string>& metrics, const std::string& words) {
    if (!metrics.empty()) parts.push_back(words + " " + listed(metrics));
  };
  add(found.mostly, "within 25 % of the measured figure in at least nine of ten cases:");
  add(found.partly, "in at least half:");
  add(found.rarely, "in fewer than half:");
  if (parts.empty()) {
    return fmt::format("{} ({}): no figure has {} cases or more, too few to say what to expect.",
                       load_words(regime.regime), cases_words(regime.cases), kFewestCases);
  }
  add(found.unclear, fmt::format("with fewer than {} cases, too few to say:", kFewestCases));
  std::string text = fmt::format("{} ({})", load_words(regime.regime), cases_words(regime.cases));
  std::string separator = ": ";
  for (const std::string& part : parts) {
    text += separator + part;
    separator = "; ";
  }
  return text + ".";
}

std::string load_rule(const ValidationRows& rows) {
  return fmt::format(
      "Light is less than {} of the load that the simulated deployment carries at most, the knee "
      "from there to {}, overload beyond; but a measured throughput decides where it shows that "
      "the engine fell behind, or kept up.\n\n",
      short_number(rows.knee_from), short_number(rows.overload_from));
}

std::string undetermined_note(const ValidationRows& rows) {
  for (const RegimeRow& row : rows.regimes) {
    if (row.regime != "undetermined") continue;
    return fmt::format(
        "How hard the system was loaded is undetermined in {}: a load factor needs an open stream "
        "of requests at a constant mean rate. If you know it, say it in the case: `regime: light`, "
        "`knee` or `overload`.\n\n",
        cases_words(row.cases));
  }
  return {};
}

// Latencies that differ by the step from one unit to the next.
std::string unit_notes(const ValidationRows& rows) {
  std::string text;
  std::size_t notes = 0;
  for (const FigureRow& row : rows.figures) {
    const auto ratio = row.ratio();
    if (!ratio || row.metric.find("_ms_") == std::string::npos) continue;
    const bool seconds = *ratio > kUnitStepFrom && *ratio < kUnitStepTo;
    const bool microseconds = 1 / *ratio > kUnitStepFrom && 1 / *ratio < kUnitStepTo;
    if (!seconds && !microseconds) continue;
    if (++notes > kMostUnitNotes) continue;
    text += fmt::format(
        "Check the unit: case '{}' has {} {}, the prediction is {}, {:.0f} times as {}. "
        "Milliseconds "
        "are expected: is it in {}?\n\n",
        row.id, row.metric, short_number(row.measured), short_number(*row.predicted),
        seconds ? *ratio : 1 / *ratio, seconds ? "much" : "little",
        seconds ? "seconds" : "microseconds");
  }
  if (notes > kMostUnitNotes) {
    text += fmt::format("{} more figures are as far off.\n\n", notes - kMostUnitNotes);
  }
  return text;
}

// Whether a figure of some load has cases enough to say what to expect.
bool says_anything(const ValidationRows& rows) {
  return std::any_of(rows.errors.begin(), rows.errors.end(), [](const ErrorRow& row) {
    return row.by == "regime" && row.n >= kFewestCases;
  });
}

std::string expectations(const ValidationRows& rows) {
  if (!says_anything(rows)) {
    return fmt::format(
        "Too few to say what to expect of the next one: no figure has {} cases or more of the same "
        "load.\n\n",
        kFewestCases);
  }
  std::string text;
  for (const RegimeRow& regime : rows.regimes) text += regime_sentence(rows, regime) + "\n\n";
  return text;
}

}  // namespace

std::string ape_percent(double ape) {
  return fmt::format("{:.{}f} %", 100 * ape, ape < 10 ? 1 : 0);
}

std::string error_percent(double relative_error) {
  return (relative_error < 0 ? "-" : "+") + ape_percent(std::fabs(relative_error));
}

std::string validation_verdict(const ValidationRows& rows) {
  if (rows.compared == 0) {
    return fmt::format("No prediction could be compared: none of {} can be simulated.\n\n",
                       cases_words(rows.read));
  }
  std::string text = fmt::format(
      "Predictions are simulated, measurements are as their sources give them: {} compared, {} not "
      "simulated.\n\n",
      cases_words(rows.compared), rows.not_simulated);
  text += unit_notes(rows) + expectations(rows) + undetermined_note(rows);
  const bool has_load =
      std::any_of(rows.regimes.begin(), rows.regimes.end(), [](const RegimeRow& row) {
        return row.regime == "light" || row.regime == "knee" || row.regime == "overload";
      });
  return has_load ? text + load_rule(rows) : text;
}

}  // namespace inferscale

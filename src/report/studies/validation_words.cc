#include "report/studies/validation_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/text/text_table.h"

namespace inferscale {
namespace {

// Fewer cases than these say nothing about the next one.
constexpr std::int64_t kFewestCases = 5;

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
  for (const RegimeRow& regime : rows.regimes) text += regime_sentence(rows, regime) + "\n\n";
  const bool has_load = std::any_of(
      rows.regimes.begin(), rows.regimes.end(),
      [](const RegimeRow& row) { return row.regime != "burst" && row.regime != "batch"; });
  return has_load ? text + load_rule(rows) : text;
}

}  // namespace inferscale

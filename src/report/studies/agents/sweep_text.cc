#include "report/studies/agents/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/studies/agents/sweep_plot.h"
#include "report/studies/agents/sweep_rows.h"
#include "report/studies/agents/sweep_table.h"
#include "report/studies/agents/sweep_verdict.h"
#include "report/studies/comparison_text.h"

namespace inferscale {
namespace {

std::string not_simulated(const std::vector<SweepRowFields>& rows) {
  std::string text;
  std::int64_t count = 0;
  for (const SweepRowFields& row : rows) {
    if (row.simulated()) continue;
    ++count;
    text += wrapped("  ", row.name + ": " + row.failure);
  }
  if (count == 0) return {};
  return fmt::format("\n{} of {} could not be simulated:\n", count,
                     number_of(std::ssize(rows), "point")) +
         text;
}

std::string runs_line(JsonFields& result) {
  const std::int64_t repeats = result.integer("repeats", 1);
  const std::int64_t seed = result.integer("seed");
  if (repeats == 1) {
    return wrapped("", fmt::format("All figures are simulated: one run (seed {}) for every point, "
                                   "each with the same program trace.",
                                   seed));
  }
  return wrapped("", fmt::format("All figures are simulated: means of {} repetitions (seeds {} to "
                                 "{}), each with the same program trace for every point.",
                                 repeats, seed, seed + repeats - 1));
}

}  // namespace

Result<std::string> sweep_text(const std::string& result_json, PlotGlyphs glyphs) {
  const Result<Json> parsed = parse_json_object(result_json, kResultPlace);
  if (!parsed) return std::unexpected(parsed.error());
  JsonFields result(*parsed, kResultPlace);
  const SweepWords* words = sweep_words(result.text("kind"));
  if (words == nullptr) result.fail("kind", "expected a sweep over agent sessions");
  const std::vector<SweepRowFields> rows = read_sweep_rows(result);
  if (result.failed()) return std::unexpected(result.error());

  const auto simulated = std::count_if(rows.begin(), rows.end(),
                                       [](const SweepRowFields& row) { return row.simulated(); });
  std::string text =
      wrapped("", fmt::format("{}: {}, {} of {} simulated", result.text("name"), words->swept,
                              simulated, number_of(std::ssize(rows), "point"))) +
      "\n" + sweep_verdict(result, *words, rows);
  if (simulated > 0) text += "\n" + sweep_table(*words, rows);
  const std::string plot = sweep_plot(*words, rows, glyphs);
  if (!plot.empty()) text += "\n" + plot;
  text += not_simulated(rows) + "\n" + runs_line(result) + notes_text(result);
  if (result.failed()) return std::unexpected(result.error());
  return text;
}

}  // namespace inferscale

#include "report/studies/comparison/ab_rows.h"

#include "report/studies/comparison_text.h"

namespace inferscale {
namespace {

AbTextRow read_row(JsonFields& fields) {
  AbTextRow row;
  row.metric = fields.text("metric");
  row.name = fields.text("label");
  row.unit = fields.text("unit");
  row.label = row.name + (row.unit.empty() ? "" : ", " + row.unit);
  row.verdict = fields.text("verdict");
  row.better = fields.text("better");
  row.headline = fields.boolean("headline");
  row.pairs = fields.integer("pairs");
  row.baseline_missing = fields.integer("baseline_missing");
  row.treatment_missing = fields.integer("treatment_missing");
  row.baseline_mean = fields.optional_number("baseline_mean");
  row.treatment_mean = fields.optional_number("treatment_mean");
  row.delta_mean = fields.optional_number("delta_mean");
  row.delta_median = fields.optional_number("delta_median");
  row.delta_mean_relative = fields.optional_number("delta_mean_relative");
  row.relative_change_mean = fields.optional_number("relative_change_mean");
  row.relative_pairs = fields.integer("relative_pairs");
  row.wins = fields.optional_integer("wins");
  row.ties = fields.optional_integer("ties");
  row.percentile_low = fields.optional_number("percentile_low");
  row.percentile_high = fields.optional_number("percentile_high");
  row.interval_low = fields.optional_number("interval_low");
  row.interval_high = fields.optional_number("interval_high");
  row.interval_low_relative = fields.optional_number("interval_low_relative");
  row.interval_high_relative = fields.optional_number("interval_high_relative");
  return row;
}

}  // namespace

std::vector<AbTextRow> read_ab_rows(JsonFields& result) {
  std::vector<AbTextRow> rows;
  each_member(result, "metrics", [&](JsonFields& row) { rows.push_back(read_row(row)); });
  return rows;
}

}  // namespace inferscale

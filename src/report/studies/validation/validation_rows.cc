#include "report/studies/validation/validation_rows.h"

#include <utility>

#include "report/studies/study_json.h"

namespace inferscale {
namespace {

// Reads lists of maps one after the other, and keeps the first error.
class RowReader {
 public:
  std::optional<Error> error;

  template <typename Row>
  std::vector<Row> rows(JsonFields& parent, const char* key, Row (RowReader::*one)(JsonFields&)) {
    std::vector<Row> result;
    const Json* list = parent.list(key);
    if (list == nullptr) return result;
    for (const Json& item : *list) {
      if (!item.is_object()) {
        parent.fail(key, "expected a list of maps");
        break;
      }
      JsonFields fields(item, {"result.json"}, std::string(key) + "[].");
      result.push_back((this->*one)(fields));
      keep(fields);
    }
    return result;
  }
  void keep(const JsonFields& fields) {
    if (fields.failed() && !error) error = fields.error();
  }

  // A count of texts: {what: text, count: number}.
  std::vector<CountedText> counts(JsonFields& parent, const char* key, const char* what,
                                  const char* count) {
    std::vector<CountedText> result;
    const Json* list = parent.list(key);
    if (list == nullptr) return result;
    for (const Json& item : *list) {
      if (!item.is_object()) {
        parent.fail(key, "expected a list of maps");
        break;
      }
      JsonFields fields(item, {"result.json"}, std::string(key) + "[].");
      result.push_back({fields.text(what), fields.integer(count)});
      keep(fields);
    }
    return result;
  }

  RegimeRow regime(JsonFields& fields) {
    return {.regime = fields.text("regime"),
            .cases = fields.integer("cases"),
            .hardware = counts(fields, "hardware", "name", "cases"),
            .models = counts(fields, "models", "name", "cases"),
            .lengths = counts(fields, "lengths", "known", "cases"),
            .basis = counts(fields, "basis", "by", "cases")};
  }

  ErrorRow error_row(JsonFields& fields) {
    const auto named = [&](const char* key) {
      return fields.is_null(key) ? std::string() : fields.text(key);
    };
    return {.by = fields.text("by"),
            .hardware = named("hardware"),
            .model = named("model"),
            .regime = fields.text("regime"),
            .metric = fields.text("metric"),
            .n = fields.integer("n", 1),
            .mape = fields.number("mape"),
            .median_ape = fields.number("median_ape"),
            .max_ape = fields.number("max_ape"),
            .bias = fields.number("bias"),
            .within_quarter = fields.integer("within_25_percent")};
  }

  WorstRow worst(JsonFields& fields) {
    return {.id = fields.text("id"),
            .regime = fields.text("regime"),
            .metric = fields.text("metric"),
            .measured = fields.number("measured"),
            .predicted = fields.number("predicted"),
            .relative_error = fields.number("relative_error")};
  }

  ReasonRow reason(JsonFields& fields) { return reason_of(fields, "cases"); }
  ReasonRow unscored(JsonFields& fields) { return reason_of(fields, "figures"); }
  ReasonRow reason_of(JsonFields& fields, const char* count) {
    return {.reason = fields.text("reason"),
            .count = fields.integer(count),
            .details = counts(fields, "details", "detail", "cases")};
  }

  FigureRow figure(JsonFields& fields) {
    FigureRow row{.id = {},
                  .regime = {},
                  .metric = fields.text("metric"),
                  .measured = fields.number("measured"),
                  .predicted = fields.optional_number("predicted"),
                  .predicted_sd = {},
                  .relative_error = fields.optional_number("relative_error")};
    if (fields.has("predicted_sd")) row.predicted_sd = fields.optional_number("predicted_sd");
    return row;
  }

  // A case adds to the figures; there is no row for itself.
  struct Nothing {};
  Nothing compared_case(JsonFields& fields) {
    const std::string id = fields.text("id");
    const std::string regime = fields.text("regime");
    if (fields.integer("refused") > 0) ++into->with_refusals;
    for (FigureRow& row : rows(fields, "figures", &RowReader::figure)) {
      row.id = id;
      row.regime = regime;
      into->figures.push_back(std::move(row));
    }
    return {};
  }
  ValidationRows* into = nullptr;
};

void read_options(JsonFields& fields, RowReader& reader, ValidationRows& rows) {
  const Json* options = fields.object("options");
  if (options == nullptr) return;
  JsonFields of(*options, {"result.json"}, "options.");
  rows.prompt_cv = of.number("prompt_cv");
  rows.output_cv = of.number("output_cv");
  rows.knee_from = of.number("knee_from");
  rows.overload_from = of.number("overload_from");
  rows.served_below = of.number("served_below");
  reader.keep(of);
}

constexpr std::int64_t kFewCases = 10;

}  // namespace

bool ValidationRows::has_few_cases() const {
  return compared <= kFewCases;
}

Result<ValidationRows> read_validation_rows(const std::string& result_json) {
  const Result<Json> result = parse_study_result(result_json, "validate");
  if (!result) return std::unexpected(result.error());
  JsonFields fields(*result, {"result.json"});
  RowReader reader;
  ValidationRows rows;
  reader.into = &rows;
  rows.read = fields.integer("cases_read");
  rows.compared = fields.integer("cases_compared");
  rows.not_simulated = fields.integer("cases_not_simulated");
  read_options(fields, reader, rows);
  rows.regimes = reader.rows(fields, "regimes", &RowReader::regime);
  rows.errors = reader.rows(fields, "errors", &RowReader::error_row);
  rows.worst = reader.rows(fields, "worst", &RowReader::worst);
  rows.reasons = reader.rows(fields, "not_simulated_reasons", &RowReader::reason);
  rows.unscored = reader.rows(fields, "unscored_reasons", &RowReader::unscored);
  rows.assumptions = reader.counts(fields, "assumptions", "assumption", "cases");
  reader.rows(fields, "cases", &RowReader::compared_case);
  reader.keep(fields);
  if (reader.error) return std::unexpected(*reader.error);
  return rows;
}

}  // namespace inferscale

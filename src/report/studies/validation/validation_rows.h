// What the text of a validation needs of its result.json, read into plain rows.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace inferscale {

struct CountedText {
  std::string text;
  std::int64_t count = 0;
};

struct RegimeRow {
  std::string regime;
  std::int64_t cases = 0;
  std::vector<CountedText> hardware;
  std::vector<CountedText> models;
  std::vector<CountedText> lengths;
  std::vector<CountedText> basis;
};

struct ErrorRow {
  std::string by;        // "regime", "hardware", "model", "hardware_and_model"
  std::string hardware;  // empty: all
  std::string model;
  std::string regime;
  std::string metric;
  std::int64_t n = 0;
  double mape = 0;
  double median_ape = 0;
  double max_ape = 0;
  double bias = 0;
  std::int64_t within_quarter = 0;
};

struct WorstRow {
  std::string id;
  std::string regime;
  std::string metric;
  double measured = 0;
  double predicted = 0;
  double relative_error = 0;
};

struct FigureRow {
  std::string id;  // of the case
  std::string regime;
  std::string metric;
  double measured = 0;
  std::optional<double> predicted;
  std::optional<double> predicted_sd;
  std::optional<double> relative_error;

  // Nothing where one of the two is missing or 0.
  std::optional<double> ratio() const {
    if (measured <= 0 || predicted.value_or(0) <= 0) return std::nullopt;
    return *predicted / measured;
  }
};

struct ReasonRow {
  std::string reason;
  std::int64_t count = 0;  // of cases, or of figures
  std::vector<CountedText> details;
};

struct ValidationRows {
  std::int64_t read = 0;
  std::int64_t compared = 0;
  std::int64_t not_simulated = 0;
  std::int64_t with_refusals = 0;  // cases of which some requests could never be served
  double prompt_cv = 0;
  double output_cv = 0;
  double knee_from = 0;
  double overload_from = 0;
  double served_below = 0;
  std::vector<RegimeRow> regimes;
  std::vector<ErrorRow> errors;
  std::vector<WorstRow> worst;
  std::vector<ReasonRow> reasons;
  std::vector<ReasonRow> unscored;
  std::vector<CountedText> assumptions;
  std::vector<FigureRow> figures;  // all, in the order of the cases

  bool has_few_cases() const;  // each can be read by itself
};

Result<ValidationRows> read_validation_rows(const std::string& result_json);

}  // namespace inferscale

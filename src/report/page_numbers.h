// Numbers of a page's plots as JSON, with the digits that a plot can show.

#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "report/distribution_plots.h"

namespace inferscale {

inline constexpr int kValueDigits = 4;
inline constexpr int kTimeDigits = 7;  // on a zoomed axis

// NaN and infinity become null.
void append_rounded(std::string& out, double value, int digits);

// The numbers `number(item)` of all items as a JSON array.
template <typename Items, typename Number>
JsonValue numbers(const Items& items, int digits, Number number) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    append_rounded(text, static_cast<double>(number(item)), digits);
  }
  return JsonValue::raw(text + "]");
}

template <typename Items>
JsonValue numbers(const Items& items, int digits) {
  return numbers(items, digits, [](auto item) { return item; });
}

// {count, ms, percent}: how many of the values are at most so many milliseconds.
JsonValue cdf_json(std::vector<double> values_ms);

}  // namespace inferscale

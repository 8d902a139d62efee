#include "report/page_numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace inferscale {

void append_rounded(std::string& out, double value, int digits) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::general, digits)
                       .ptr;
  out.append(buffer.data(), end);
}

JsonValue cdf_json(std::vector<double> values_ms) {
  // Enough for a screen, few enough for a page that opens at once.
  constexpr std::size_t kCdfPoints = 900;
  constexpr int kMsDigits = 5;
  constexpr int kPercentDigits = 6;
  const std::size_t count = values_ms.size();
  const std::vector<CdfPoint> points = cdf_points(std::move(values_ms), kCdfPoints);
  return JsonValue::object()
      .add("count", count)
      .add("ms", numbers(points, kMsDigits, [](const CdfPoint& p) { return p.value; }))
      .add("percent",
           numbers(points, kPercentDigits, [](const CdfPoint& p) { return p.share * 100; }));
}

}  // namespace inferscale

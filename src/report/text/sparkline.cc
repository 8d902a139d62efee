#include "report/text/sparkline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/exact_math.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 9> kAscii = {" ", ".", ".", ":", ":", "-", "=", "#", "#"};

// A cell filled from the bottom to `fill`, 0 to 1.
const char* cell(double fill, PlotGlyphs glyphs) {
  const auto eighths = static_cast<std::size_t>(std::lround(std::clamp(fill, 0.0, 1.0) * 8.0));
  return glyphs == PlotGlyphs::kUnicode ? kBlocks[eighths] : kAscii[eighths];
}

std::string axis_line(double low, double high, const std::string& unit, int columns) {
  const std::string left = short_number(low) + " " + unit;
  const std::string middle = short_number(std::sqrt(low * high));
  const std::string right = short_number(high) + " " + unit;
  const int gap =
      std::max<int>(2, columns - static_cast<int>(left.size() + middle.size() + right.size()));
  return left + std::string(static_cast<std::size_t>(gap / 2), ' ') + middle +
         std::string(static_cast<std::size_t>(gap - gap / 2), ' ') + right;
}

}  // namespace

std::string sparkline(std::span<const double> values, double top, int columns, PlotGlyphs glyphs) {
  std::string out;
  if (values.empty() || columns < 1) return out;
  const std::size_t cells = std::min(values.size(), static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < cells; ++i) {
    const std::size_t begin = i * values.size() / cells;
    const std::size_t end = (i + 1) * values.size() / cells;
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += values[j];
    const double mean = sum / static_cast<double>(end - begin);
    // Something is never drawn as nothing.
    const double fill = top > 0 ? mean / top : 0;
    out += cell(mean > 0 ? std::max(fill, 0.125) : 0, glyphs);
  }
  return out;
}

std::string cdf_plot(std::span<const double> sorted, const std::string& unit, int columns, int rows,
                     PlotGlyphs glyphs) {
  if (sorted.empty() || sorted.back() <= 0) return {};
  const double low = std::max(sorted.front(), sorted.back() * 1e-6);
  const double high = std::max(sorted.back(), low * 1.01);
  std::vector<double> share;
  for (int column = 0; column < columns; ++column) {
    const double part = static_cast<double>(column + 1) / static_cast<double>(columns);
    const double edge = column + 1 == columns ? high : low * exact_pow(high / low, part);
    const auto below = std::upper_bound(sorted.begin(), sorted.end(), edge) - sorted.begin();
    share.push_back(static_cast<double>(below) / static_cast<double>(sorted.size()));
  }
  std::string out;
  for (int row = rows - 1; row >= 0; --row) {
    const double top = 100.0 * (row + 1) / rows;
    out += fmt::format("  {:>5.0f} % ", top);
    for (const double value : share) out += cell(value * rows - row, glyphs);
    out += "\n";
  }
  out += "          " + axis_line(low, high, unit, columns) + "\n";
  return out;
}

}  // namespace inferscale

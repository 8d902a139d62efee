#include "report/studies/ratio_strip.h"

#include <algorithm>
#include <array>
#include <vector>

namespace inferscale {
namespace {

// Upper ends of the cells but the last: 2^((2 i - 31) / 16) for i = 0 to 31, so that the middle one
// of 33 cells reaches from 2^(-1/16) to 2^(1/16), 4 % about 1.
constexpr std::array kEnds = {0.261068, 0.284697, 0.310464, 0.338564, 0.369207, 0.402623, 0.439063,
                              0.478802, 0.522137, 0.569394, 0.620929, 0.677128, 0.738413, 0.805245,
                              0.878126, 0.957603, 1.044274, 1.138789, 1.241858, 1.354256, 1.476826,
                              1.610490, 1.756252, 1.915207, 2.088548, 2.277577, 2.483716, 2.708511,
                              2.953652, 3.220981, 3.512504, 3.830413};
constexpr std::size_t kCells = kEnds.size() + 1;

}  // namespace

std::string ratio_strip(std::span<const double> ratios, PlotGlyphs glyphs) {
  std::vector<double> counts(kCells, 0);
  for (const double ratio : ratios) {
    const auto end = std::upper_bound(kEnds.begin(), kEnds.end(), ratio);
    counts[static_cast<std::size_t>(end - kEnds.begin())] += 1;
  }
  const double top = *std::max_element(counts.begin(), counts.end());
  return sparkline(counts, top, static_cast<int>(kCells), glyphs);
}

std::string ratio_axis() {
  // The digits stand below the cells 0, 8, 16, 24 and 32.
  return "1/4     1/2     1       2       4";
}

}  // namespace inferscale

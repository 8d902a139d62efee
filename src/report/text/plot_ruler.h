// One axis of a plot: which cell of the terminal a value belongs to, and where its numbers stand.

#pragma once

#include <optional>
#include <vector>

#include "report/text/xy_plot.h"

namespace inferscale {

// First all values are include()d, then settle() fixes the ends; the rest is for afterwards.
class PlotRuler {
 public:
  PlotRuler(const PlotAxis& axis, int cells);

  // Whether the axis can show it at all: finite, and positive where it is logarithmic.
  bool takes(double value) const;
  void include(double value);
  // False when there is nothing to span. One value alone gets room on both sides.
  bool settle();

  // In cells, from 0 to cells - 1; a value beyond the axis gives a place beyond them.
  double place(double value) const;
  std::optional<int> cell(double value) const;  // nothing beyond the axis

  // Round values within the axis, at most about `most` of them, from low to high; the ends where
  // no two round ones are on it.
  std::vector<double> ticks(int most) const;

 private:
  double along(double value) const;
  std::vector<double> linear_ticks(int most) const;
  std::vector<double> log_ticks(int most) const;

  bool log_;
  int cells_;
  bool given_low_;
  bool given_high_;
  std::optional<double> low_;
  std::optional<double> high_;
};

}  // namespace inferscale

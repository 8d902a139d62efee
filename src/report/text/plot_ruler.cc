#include "report/text/plot_ruler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/exact_math.h"

namespace inferscale {
PlotRuler::PlotRuler(const PlotAxis& axis, int cells)
    : log_(axis.scale == AxisScale::kLog),
      cells_(cells),
      given_low_(axis.low.has_value()),
      given_high_(axis.high.has_value()),
      low_(axis.low),
      high_(axis.high) {}

bool PlotRuler::takes(double value) const {
  return std::isfinite(value) && (!log_ || value > 0);
}

void PlotRuler::include(double value) {
  if (!takes(value)) return;
  if (!given_low_ && (!low_ || value < *low_)) low_ = value;
  if (!given_high_ && (!high_ || value > *high_)) high_ = value;
}

bool PlotRuler::settle() {
  if (!low_ || !high_ || !takes(*low_) || !takes(*high_)) return false;
  if (*low_ < *high_) return true;
  const double room = log_ ? 0 : std::max(std::fabs(*low_) * 0.1, 0.5);
  if (!given_low_ || given_high_) *low_ = log_ ? *high_ / 1.5 : *high_ - room;
  if (!given_high_) *high_ = log_ ? *low_ * 2.25 : *low_ + 2 * room;
  return *low_ < *high_;
}

double PlotRuler::along(double value) const {
  return log_ ? exact_log(value) : value;
}

double PlotRuler::place(double value) const {
  const double from = along(*low_);
  return (along(value) - from) / (along(*high_) - from) * (cells_ - 1);
}

std::optional<int> PlotRuler::cell(double value) const {
  if (!takes(value) || value < *low_ || value > *high_) return std::nullopt;
  return static_cast<int>(std::lround(place(value)));
}

std::vector<double> PlotRuler::ticks(int most) const {
  std::vector<double> found = log_ ? log_ticks(most) : linear_ticks(most);
  if (found.size() < 2) found = {*low_, *high_};
  for (double& value : found) value = std::clamp(value, *low_, *high_);
  return found;
}

std::vector<double> PlotRuler::linear_ticks(int most) const {
  const double raw = (*high_ - *low_) / std::max(most, 1);
  const double decade = exact_pow(10, std::floor(exact_log(raw) / std::numbers::ln10));
  std::vector<double> found;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    const double step = factor * decade;
    if (step < raw) continue;
    const double first = std::ceil(*low_ / step - 1e-9);
    for (int i = 0; i < 1000 && (first + i) * step <= *high_ + step * 1e-9; ++i) {
      found.push_back((first + i) * step);
    }
    break;
  }
  return found;
}

std::vector<double> PlotRuler::log_ticks(int most) const {
  static const std::array<std::vector<double>, 4> kFactors = {
      {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 5}, {1, 3}, {1}}};
  const int first = static_cast<int>(std::floor(exact_log(*low_) / std::numbers::ln10)) - 1;
  const int last = static_cast<int>(std::ceil(exact_log(*high_) / std::numbers::ln10)) + 1;
  const int stride = std::max(1, (last - first) / std::max(most, 1));
  for (const std::vector<double>& factors : kFactors) {
    std::vector<double> found;
    for (int decade = first; decade <= last; ++decade) {
      if (factors.size() == 1 && decade % stride != 0) continue;
      for (const double factor : factors) {
        const double value = factor * exact_pow(10, decade);
        const double slack = value * 1e-9;
        if (value >= *low_ - slack && value <= *high_ + slack) found.push_back(value);
      }
    }
    if (static_cast<int>(found.size()) <= most || factors.size() == 1) return found;
  }
  return {};
}

}  // namespace inferscale

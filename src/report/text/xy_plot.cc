#include "report/text/xy_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/text/plot_ruler.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr std::size_t kLabelColumns = 8;  // for the numbers left of the plot

const char* line_glyph(PlotGlyphs glyphs) {
  return glyphs == PlotGlyphs::kUnicode ? "·" : ".";
}

class Canvas {
 public:
  Canvas(const PlotFrame& frame, const PlotRuler& x, const PlotRuler& y)
      : frame_(frame),
        x_(x),
        y_(y),
        cells_(static_cast<std::size_t>(frame.columns) * static_cast<std::size_t>(frame.rows), " "),
        taken_(cells_.size(), false) {}

  void draw(const PlotSeries& series) {
    if (series.line == PlotLine::kStraight) {
      for (std::size_t i = 1; i < series.points.size(); ++i) {
        join(series.points[i - 1], series.points[i]);
      }
    }
    if (series.mark == PlotMark::kNone) return;
    for (const PlotPoint& point : series.points) {
      const auto column = x_.cell(point.x);
      const auto row = y_.cell(point.y);
      if (!column || !row) {
        ++outside_;
        continue;
      }
      cells_[at(*column, *row)] = mark_glyph(series.mark, frame_.glyphs);
      taken_[at(*column, *row)] = true;
    }
  }

  // After all marks, which labels must not cover.
  void write_labels(const PlotSeries& series) {
    for (const PlotPoint& point : series.points) {
      const auto column = x_.cell(point.x);
      const auto row = y_.cell(point.y);
      if (point.label.empty() || !column || !row) continue;
      const int width = static_cast<int>(display_width(point.label));
      if (write(point.label, *column + 1, *row, width)) continue;
      write(point.label, *column - width, *row, width);
    }
  }

  std::string row(int row) const {
    std::string text;
    for (int column = 0; column < frame_.columns; ++column) text += cells_[at(column, row)];
    return text;
  }
  std::int64_t outside() const { return outside_; }

 private:
  std::size_t at(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(frame_.columns) +
           static_cast<std::size_t>(column);
  }

  // The cells on the part of a segment that is on the canvas, by Liang and Barsky's clipping.
  void join(const PlotPoint& from, const PlotPoint& to) {
    for (const PlotPoint* point : {&from, &to}) {
      if (!x_.takes(point->x) || !y_.takes(point->y)) return;
    }
    const double x0 = x_.place(from.x);
    const double y0 = y_.place(from.y);
    const double dx = x_.place(to.x) - x0;
    const double dy = y_.place(to.y) - y0;
    double begin = 0;
    double end = 1;
    const auto clip = [&](double start, double delta, double most) {
      if (delta == 0) return start >= -0.5 && start <= most + 0.5;
      const double one = (-0.4 - start) / delta;
      const double other = (most + 0.4 - start) / delta;
      begin = std::max(begin, std::min(one, other));
      end = std::min(end, std::max(one, other));
      return begin <= end;
    };
    if (!clip(x0, dx, frame_.columns - 1) || !clip(y0, dy, frame_.rows - 1)) return;
    const double length = (end - begin) * std::max(std::fabs(dx), std::fabs(dy));
    const int steps = std::max(1, static_cast<int>(std::lround(length)));
    for (int i = 0; i <= steps; ++i) {
      const double part = begin + (end - begin) * i / steps;
      const int column = static_cast<int>(std::lround(x0 + part * dx));
      const int row = static_cast<int>(std::lround(y0 + part * dy));
      if (!taken_[at(column, row)]) cells_[at(column, row)] = line_glyph(frame_.glyphs);
    }
  }

  bool write(const std::string& label, int column, int row, int width) {
    if (column < 0 || column + width > frame_.columns) return false;
    for (int i = 0; i < width; ++i) {
      if (taken_[at(column + i, row)]) return false;
    }
    // The whole label sits in its first cell; the others become nothing.
    for (int i = 0; i < width; ++i) {
      cells_[at(column + i, row)] = i == 0 ? label : "";
      taken_[at(column + i, row)] = true;
    }
    return true;
  }

  PlotFrame frame_;
  const PlotRuler& x_;
  const PlotRuler& y_;
  std::vector<std::string> cells_;
  std::vector<bool> taken_;
  std::int64_t outside_ = 0;
};

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string left_part(const std::string& number, const char* edge) {
  const std::size_t width = display_width(number);
  const std::string pad(kLabelColumns > width ? kLabelColumns - width : 0, ' ');
  return pad + number + " " + edge;
}

// The axis below the plot, with its numbers under their ticks.
std::string x_axis_text(const PlotRuler& x, const PlotFrame& frame) {
  const bool unicode = frame.glyphs == PlotGlyphs::kUnicode;
  std::vector<std::string> line(static_cast<std::size_t>(frame.columns), unicode ? "─" : "-");
  const std::size_t offset = kLabelColumns + 2;
  std::string numbers;
  for (const double tick : x.ticks(frame.columns / 7)) {
    const auto column = x.cell(tick);
    if (!column) continue;
    const std::string number = short_number(tick);
    const std::size_t middle = offset + static_cast<std::size_t>(*column);
    const std::size_t start = middle - std::min(middle, number.size() / 2);
    if (!numbers.empty() && start < numbers.size() + 2) continue;
    numbers.resize(std::max(start, numbers.size()), ' ');
    numbers += number;
    line[static_cast<std::size_t>(*column)] = unicode ? "┬" : "+";
  }
  std::string text = left_part("", unicode ? "└" : "+");
  for (const std::string& part : line) text += part;
  return text + "\n" + trimmed(numbers);
}

std::string legend(std::span<const PlotSeries> series, PlotGlyphs glyphs) {
  std::string text;
  for (const PlotSeries& one : series) {
    if (one.name.empty()) continue;
    const char* glyph =
        one.mark == PlotMark::kNone ? line_glyph(glyphs) : mark_glyph(one.mark, glyphs);
    text += fmt::format("{}{} {}", text.empty() ? "" : "   ", glyph, one.name);
  }
  return text.empty() ? text : std::string(kLabelColumns + 2, ' ') + text + "\n";
}

std::string drawn(const Canvas& canvas, const PlotRuler& y, const PlotFrame& frame) {
  std::vector<std::string> numbers(static_cast<std::size_t>(frame.rows));
  for (const double tick : y.ticks(std::max(2, frame.rows / 3))) {
    if (const auto row = y.cell(tick)) numbers[static_cast<std::size_t>(*row)] = short_number(tick);
  }
  const bool unicode = frame.glyphs == PlotGlyphs::kUnicode;
  const char* plain = unicode ? "│" : "|";
  const char* ticked = unicode ? "┤" : "+";
  std::string text;
  for (int row = frame.rows - 1; row >= 0; --row) {
    const std::string& number = numbers[static_cast<std::size_t>(row)];
    const char* edge = number.empty() ? plain : ticked;
    text += trimmed(left_part(number, edge) + canvas.row(row));
  }
  return text;
}

}  // namespace

const char* mark_glyph(PlotMark mark, PlotGlyphs glyphs) {
  static constexpr std::array<std::array<const char*, 2>, 8> kGlyphs = {{{" ", " "},
                                                                         {"•", ":"},
                                                                         {"●", "o"},
                                                                         {"○", "O"},
                                                                         {"◆", "*"},
                                                                         {"■", "#"},
                                                                         {"×", "x"},
                                                                         {"+", "+"}}};
  return kGlyphs[static_cast<std::size_t>(mark)][glyphs == PlotGlyphs::kUnicode ? 0 : 1];
}

std::string xy_plot(std::span<const PlotSeries> series, const PlotAxis& x, const PlotAxis& y,
                    const PlotFrame& frame) {
  PlotRuler across(x, frame.columns);
  PlotRuler up(y, frame.rows);
  for (const PlotSeries& one : series) {
    for (const PlotPoint& point : one.points) {
      // A point that one axis can't show says nothing about the other's span.
      if (!across.takes(point.x) || !up.takes(point.y)) continue;
      across.include(point.x);
      up.include(point.y);
    }
  }
  if (!across.settle() || !up.settle()) return {};

  Canvas canvas(frame, across, up);
  for (const PlotSeries& one : series) canvas.draw(one);
  for (const PlotSeries& one : series) canvas.write_labels(one);
  std::string text;
  if (!y.label.empty()) text += "  " + y.label + "\n";
  text += drawn(canvas, up, frame) + x_axis_text(across, frame);
  if (!x.label.empty()) {
    const std::size_t width = display_width(x.label);
    const std::size_t room = kLabelColumns + 2 + static_cast<std::size_t>(frame.columns);
    text += std::string(room > width ? room - width : 0, ' ') + x.label + "\n";
  }
  text += legend(series, frame.glyphs);
  if (canvas.outside() > 0) {
    text += fmt::format("{}{} outside of the plot\n", std::string(kLabelColumns + 2, ' '),
                        canvas.outside() == 1 ? std::string("1 point is")
                                              : fmt::format("{} points are", canvas.outside()));
  }
  return text;
}

}  // namespace inferscale

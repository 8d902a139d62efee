#include "base/straight_line.h"

namespace inferscale {

void StraightLine::add(double x, double y) {
  weight_ = keep_ * weight_ + 1;
  const double from_x = x - mean_x_;
  const double from_y = y - mean_y_;
  mean_x_ += from_x / weight_;
  mean_y_ += from_y / weight_;
  s_xx_ = keep_ * s_xx_ + from_x * (x - mean_x_);
  s_xy_ = keep_ * s_xy_ + from_x * (y - mean_y_);
  s_yy_ = keep_ * s_yy_ + from_y * (y - mean_y_);
}

}  // namespace inferscale

// The straight line through points (x, y) that are added one by one: least squares in running means
// and sums of squared deviations, which stay exact where plain sums would cancel (D. H. D. West,
// "Updating mean and variance estimates: an improved method", CACM 22(9) 1979).
//
//   slope = S_xy / S_xx    intercept = mean y - slope mean x    R^2 = S_xy^2 / (S_xx S_yy)
//
// With `keep` below 1 each further point makes the older ones count less by that factor: the line
// then follows about the last 1 / (1 - keep) points.

#pragma once

namespace inferscale {

class StraightLine {
 public:
  // REQUIRES: 0 < keep <= 1.
  explicit StraightLine(double keep = 1) : keep_(keep) {}
  void add(double x, double y);

  double weight() const { return weight_; }
  double mean_x() const { return mean_x_; }
  double mean_y() const { return mean_y_; }
  // Mean squared deviations of x. REQUIRES: weight() > 0.
  double variance_x() const { return s_xx_ / weight_; }
  // Whether there are two different x.
  bool has_slope() const { return s_xx_ > 0; }
  // REQUIRES: has_slope().
  double slope() const { return s_xy_ / s_xx_; }
  double intercept() const { return mean_y_ - slope() * mean_x_; }
  // Of the line through the origin. REQUIRES: some x is not 0.
  double slope_through_origin() const {
    return (s_xy_ + weight_ * mean_x_ * mean_y_) / (s_xx_ + weight_ * mean_x_ * mean_x_);
  }
  // Part of the deviations of y that the line explains; 1 when y never changes.
  // REQUIRES: has_slope().
  double r_squared() const { return s_yy_ > 0 ? s_xy_ * s_xy_ / (s_xx_ * s_yy_) : 1; }

 private:
  double keep_;
  double weight_ = 0;
  double mean_x_ = 0;
  double mean_y_ = 0;
  double s_xx_ = 0;
  double s_xy_ = 0;
  double s_yy_ = 0;
};

}  // namespace inferscale

// A run of decode steps over an unchanged batch, in closed form.
//
// Step j (from 1) costs first + growth (j - 1) nanoseconds, so k steps end at
//
//   time_after(k) = start + round(k first + growth k (k - 1) / 2)
//
// evaluated afresh from the segment's start for each k: jumping to step k and stepping there one by
// one give the same nanosecond. A gap is the difference of two such instants, an integer; the
// counts and maxima below are over these integers, exact, and take constant work unless growth is
// far below a nanosecond a step.

#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "replica/latency/latency_model.h"

namespace inferscale {

class DecodeSegment {
 public:
  DecodeSegment() = default;
  // REQUIRES: cost.first_ns and cost.growth_ns are finite and not negative.
  DecodeSegment(Instant start, const StepCost& cost)
      : start_(start), first_(cost.first_ns), growth_(cost.growth_ns) {}

  Instant start() const { return start_; }
  // When step `steps` has ended; start() for 0.
  Instant time_after(std::int64_t steps) const {
    // Past the end of time one instant is as good as another, but it must be one.
    const double ns = std::min(offset_ns(steps) + 0.5, static_cast<double>(kEndOfTime.ns()));
    return start_ + Duration::nanos(static_cast<std::int64_t>(ns));
  }
  // The same from start(), before rounding.
  double offset_ns(std::int64_t steps) const {
    const double k = static_cast<double>(steps);
    return k * first_ + growth_ * (0.5 * k * (k - 1.0));
  }
  // offset_ns(0), offset_ns(1), ..., each to the bit: the factors are small integers, which sums of
  // doubles count as exactly as products.
  class Offsets {
   public:
    double next() {
      const double offset = k_ * first_ + growth_ * pairs_;
      pairs_ += k_;
      k_ += 1.0;
      return offset;
    }

   private:
    friend class DecodeSegment;
    Offsets(double first, double growth) : first_(first), growth_(growth) {}
    double first_;
    double growth_;
    double k_ = 0;
    double pairs_ = 0;  // k (k - 1) / 2
  };
  Offsets offsets() const { return {first_, growth_}; }
  double growth_ns() const { return growth_; }
  // What is left of it after `steps` steps, for sums over its unrounded times.
  DecodeSegment after(std::int64_t steps) const {
    if (steps == 0) return *this;
    return {time_after(steps), {.first_ns = step_ns(steps + 1), .growth_ns = growth_}};
  }
  // Step j's cost before rounding to instants, j from 1.
  double step_ns(std::int64_t step) const {
    return first_ + growth_ * static_cast<double>(step - 1);
  }
  // The least k from 1 to `limit` whose step ends at or after `at`; `limit` when none before it
  // does.
  std::int64_t first_step_ending_at(Instant at, std::int64_t limit) const;
  // How many of the gaps of steps from..to (time_after(j) - time_after(j - 1)) exceed `limit`.
  std::int64_t gaps_over(Duration limit, std::int64_t from, std::int64_t to) const;
  // The longest of these gaps. REQUIRES: 1 <= from <= to.
  Duration longest_gap(std::int64_t from, std::int64_t to) const;
  // `count` steps at equal distances: what sums over them take that does not depend on where they
  // begin.
  struct Stride {
    Stride(std::int64_t distance, std::int64_t count)
        : n(static_cast<double>(count)),
          d(static_cast<double>(distance)),
          sum_i(0.5 * n * (n - 1.0)),
          sum_ii(n * (n - 1.0) * (2.0 * n - 1.0) / 6.0) {}
    double n;
    double d;
    double sum_i;   // of 0, 1, ... n - 1
    double sum_ii;  // of their squares
  };
  // The sum of offset_ns(x) over x = from, from + d, ... (n terms).
  double sum_of_offsets(std::int64_t from, const Stride& stride) const {
    const auto& [n, d, sum_i, sum_ii] = stride;
    const double a = static_cast<double>(from);
    const double sum_x = n * a + d * sum_i;
    const double sum_xx = n * a * a + 2.0 * a * d * sum_i + d * d * sum_ii;
    return first_ * sum_x + 0.5 * growth_ * (sum_xx - sum_x);
  }

 private:
  double guess_of_steps(double wanted, double most) const;
  Duration gap(std::int64_t step) const { return time_after(step) - time_after(step - 1); }

  Instant start_;
  double first_ = 0;
  double growth_ = 0;
};

}  // namespace inferscale

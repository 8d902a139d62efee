#include "replica/decode_segment.h"

#include <algorithm>
#include <cmath>

namespace inferscale {
namespace {

// A gap differs from the step's cost by less than one rounding of either end; this margin covers
// it and the floating-point error of time_after over segments of many hours.
constexpr double kRoundingMargin = 1.5;

}  // namespace

// About how many steps take `wanted` nanoseconds; `most` when they take none.
double DecodeSegment::guess_of_steps(double wanted, double most) const {
  const double linear = first_ - 0.5 * growth_;
  if (linear > 0) {
    // All as long as the first; growth takes away less than growth/2 k^2 / linear of these k.
    const double steps = wanted / linear;
    if (growth_ * steps * steps < linear) return steps;
  }
  // Root of growth/2 k^2 + linear k = wanted, in the form that is stable for small growth.
  const double denominator = linear + std::sqrt(linear * linear + 2.0 * growth_ * wanted);
  return denominator > 0 ? 2.0 * wanted / denominator : most;
}

std::int64_t DecodeSegment::first_step_ending_at(Instant at, std::int64_t limit) const {
  const double wanted = static_cast<double>((at - start_).ns());
  if (wanted <= 0) return 1;
  const double root = guess_of_steps(wanted, static_cast<double>(limit));
  // The next integer is the answer but for roundings.
  std::int64_t k = root < static_cast<double>(limit) ? static_cast<std::int64_t>(root) + 1 : limit;
  k = std::clamp<std::int64_t>(k, 1, limit);
  while (k > 1 && time_after(k - 1) >= at) --k;
  while (k < limit && time_after(k) < at) ++k;
  return k;
}

std::int64_t DecodeSegment::gaps_over(Duration limit, std::int64_t from, std::int64_t to) const {
  if (to < from) return 0;
  const double bound = static_cast<double>(limit.ns());
  if (step_ns(to) < bound - kRoundingMargin) return 0;
  if (step_ns(from) > bound + kRoundingMargin) return to - from + 1;
  if (growth_ == 0) {
    // Every gap is floor(first) or the next integer; how many are the larger follows from their
    // sum.
    const auto floor_ns = static_cast<std::int64_t>(first_);
    if (limit.ns() < floor_ns) return to - from + 1;
    if (limit.ns() > floor_ns) return 0;
    return (time_after(to) - time_after(from - 1)).ns() - (to - from + 1) * floor_ns;
  }
  // Costs rise along the segment: below the band no gap exceeds the limit, above it all do.
  const auto step_at = [&](double ns) {
    const double step = std::clamp((ns - first_) / growth_ + 1.0, static_cast<double>(from),
                                   static_cast<double>(to));
    return static_cast<std::int64_t>(step);
  };
  const std::int64_t band_begin = std::max(from, step_at(bound - kRoundingMargin) - 1);
  const std::int64_t band_end = std::min(to, step_at(bound + kRoundingMargin) + 1);
  std::int64_t count = to - band_end;
  for (std::int64_t step = band_begin; step <= band_end; ++step) {
    if (gap(step) > limit) ++count;
  }
  return count;
}

Duration DecodeSegment::longest_gap(std::int64_t from, std::int64_t to) const {
  if (growth_ == 0) {
    const auto floor_ns = static_cast<std::int64_t>(first_);
    const std::int64_t sum = (time_after(to) - time_after(from - 1)).ns();
    return Duration::nanos(sum > (to - from + 1) * floor_ns ? floor_ns + 1 : floor_ns);
  }
  Duration longest = gap(to);
  // An earlier gap can be longer only by rounding, so only while the costs lie within it.
  for (std::int64_t step = to - 1; step >= from; --step) {
    if (step_ns(step) + kRoundingMargin < static_cast<double>(longest.ns())) break;
    longest = std::max(longest, gap(step));
  }
  return longest;
}

}  // namespace inferscale

#include "base/exact_math.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/exact_math_tables.h"

namespace inferscale {
namespace {

using exact_math::DoubleDouble;
using exact_math::exact_product;
using exact_math::exact_sum;
using exact_math::kIntervalShift;
using exact_math::kLog2;
using exact_math::kLogStart;
using exact_math::kTableSize;
using exact_math::LogEntry;
using exact_math::PowerEntry;

static_assert(FLT_EVAL_METHOD == 0, "doubles must be computed as doubles");
static_assert(std::numeric_limits<double>::is_iec559);

constexpr auto kLogTable = exact_math::make_log_table();
constexpr auto kPowerTable = exact_math::make_power_table();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kSmallestNormalBits = 0x0010000000000000;
constexpr std::uint64_t kInfinityBits = 0x7ff0000000000000;

// x = 2^k * z; r_hi + r_lo = z * inverse - 1 without error; log(x) = base + log_lo + log(1 + r).
struct LogReduction {
  double base;    // k log(2) + the table's logarithm, exact
  double log_lo;  // what is missing from base
  double r_hi;
  double r_lo;
};

// REQUIRES: `bits` are those of a positive normal number.
inline LogReduction reduce_for_log(std::uint64_t bits, std::int64_t extra_exponent) {
  const std::uint64_t shifted = bits - kLogStart;
  const LogEntry& entry = kLogTable[(shifted >> kIntervalShift) % kTableSize];
  const std::int64_t whole = static_cast<std::int64_t>(shifted) >> 52;
  const double k = static_cast<double>(whole + extra_exponent);
  const std::uint64_t z_bits = bits - (static_cast<std::uint64_t>(whole) << 52);
  // 32 leading bits times the inverse's 17 are exact, and so are the 21 others.
  constexpr std::uint64_t kTrailing = (std::uint64_t{1} << 21) - 1;
  const double z_hi = std::bit_cast<double>(z_bits & ~kTrailing);
  const double z_lo = std::bit_cast<double>(z_bits) - z_hi;
  return {k * kLog2.hi + entry.log_hi, k * kLog2.lo + entry.log_lo, z_hi * entry.inverse - 1.0,
          z_lo * entry.inverse};
}

// What log gives for arguments that are not positive normal numbers; the positive subnormal ones
// are scaled by 2^52 first.
double log_of_special(double x) {
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kNan;
  return x;  // infinity
}

constexpr double kScale52 = 4503599627370496.0;

// log(x) with about 66 significant bits. REQUIRES: x positive and finite.
DoubleDouble log_in_two_parts(double x) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  std::int64_t extra = 0;
  if (bits < kSmallestNormalBits) {
    bits = std::bit_cast<std::uint64_t>(x * kScale52);
    extra = -52;
  }
  const LogReduction reduced = reduce_for_log(bits, extra);
  const DoubleDouble r = exact_sum(reduced.r_hi, reduced.r_lo);
  const DoubleDouble square = exact_product(r.hi, r.hi);
  const double z = r.hi;
  const double series =
      1.0 / 3 +
      z * (-1.0 / 4 +
           z * (1.0 / 5 +
                z * (-1.0 / 6 + z * (1.0 / 7 + z * (-1.0 / 8 + z * (1.0 / 9 + z * (-1.0 / 10)))))));
  const double cubic = z * square.hi * series;
  const double half_square_lo = 0.5 * square.lo + z * r.lo;
  const DoubleDouble first = exact_sum(reduced.base, z);
  const DoubleDouble second = exact_sum(first.hi, -0.5 * square.hi);
  const double low = (first.lo + second.lo) + (cubic + ((r.lo - half_square_lo) + reduced.log_lo));
  return exact_sum(second.hi, low);
}

// value * 2^exponent, with gradual underflow. REQUIRES: value in [0.5, 4).
double scale(double value, std::int64_t exponent) {
  const auto power = [](std::int64_t e) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  };
  if (exponent > 1023) return value * 2.0 * power(exponent - 1);
  if (exponent >= -1020) return value * power(exponent);
  return value * power(exponent + 200) * power(-200);
}

// e^(x + x_lo). REQUIRES: |x_lo| tiny beside 1, x not NaN.
double exp_of_sum(double x, double x_lo) {
  if (x > 709.8) return kInfinity;
  if (x < -745.2) return 0;
  constexpr double kPerLog2 = static_cast<double>(kTableSize) / exact_math::kLog2Full.hi;
  constexpr DoubleDouble kStep = exact_math::split_at_42_bits(
      {exact_math::kLog2Full.hi / kTableSize, exact_math::kLog2Full.lo / kTableSize});
  constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52: its addition rounds to whole
  const double steps = (x * kPerLog2 + kRounder) - kRounder;
  const auto whole = static_cast<std::int64_t>(steps);
  const double r = (x - steps * kStep.hi) - steps * kStep.lo + x_lo;
  const PowerEntry& entry = kPowerTable[static_cast<std::uint64_t>(whole) % kTableSize];
  const double square = r * r;
  const double rest =
      (entry.rest + r) + square * ((0.5 + r * (1.0 / 6)) + square * (1.0 / 24 + r * (1.0 / 120)));
  const double value = entry.value + entry.value * rest;
  return scale(value, whole >> exact_math::kTableBits);
}

}  // namespace

double exact_log(double x) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  std::int64_t extra = 0;
  if (bits - kSmallestNormalBits >= kInfinityBits - kSmallestNormalBits) [[unlikely]] {
    if (!(x > 0) || x == kInfinity) return log_of_special(x);
    bits = std::bit_cast<std::uint64_t>(x * kScale52);
    extra = -52;
  }
  const LogReduction reduced = reduce_for_log(bits, extra);
  const double r = reduced.r_hi + reduced.r_lo;
  const double r_rest = (reduced.r_hi - r) + reduced.r_lo;
  const double hi = reduced.base + r;
  const double lo = ((reduced.base - hi) + r) + (r_rest + reduced.log_lo);
  const double square = r * r;
  const double fourth = square * square;
  const double series = ((-1.0 / 2 + r * (1.0 / 3)) + square * (-1.0 / 4 + r * (1.0 / 5))) +
                        fourth * ((-1.0 / 6 + r * (1.0 / 7)) + square * (-1.0 / 8));
  return hi + (lo + square * series);
}

double exact_exp(double x) {
  return std::isnan(x) ? x : exp_of_sum(x, 0);
}

double exact_pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (std::isnan(y) || !(x >= 0)) return kNan;
  if (x == 0) return y > 0 ? 0 : kInfinity;
  if (x == kInfinity) return y > 0 ? kInfinity : 0;
  const DoubleDouble log = log_in_two_parts(x);
  const double estimate = y * log.hi;
  if (estimate > 800) return kInfinity;
  if (estimate < -800) return 0;
  const DoubleDouble exponent = exact_product(y, log.hi);
  return exp_of_sum(exponent.hi, exponent.lo + y * log.lo);
}

}  // namespace inferscale

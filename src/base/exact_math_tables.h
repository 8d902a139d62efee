// Double-double arithmetic and the tables under exact_math.cc, computed at compile time.
//
// A double-double is an unevaluated sum hi + lo with |lo| <= ulp(hi)/2: about 106 bits. The exact
// sum is Knuth's, the exact product Dekker's with Veltkamp's splitting (T. J. Dekker, "A
// floating-point technique for extending the available precision", Numer. Math. 18, 1971); both
// hold as long as nothing overflows or underflows.

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace inferscale::exact_math {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

constexpr DoubleDouble exact_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

constexpr DoubleDouble exact_product(double a, double b) {
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double a_scaled = kSplit * a;
  const double a_hi = a_scaled - (a_scaled - a);
  const double a_lo = a - a_hi;
  const double b_scaled = kSplit * b;
  const double b_hi = b_scaled - (b_scaled - b);
  const double b_lo = b - b_hi;
  const double product = a * b;
  return {product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

constexpr DoubleDouble add(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = exact_sum(a.hi, b.hi);
  const DoubleDouble low = exact_sum(a.lo, b.lo);
  const DoubleDouble middle = exact_sum(high.hi, high.lo + low.hi);
  return exact_sum(middle.hi, middle.lo + low.lo);
}

constexpr DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = exact_product(a.hi, b.hi);
  return exact_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

constexpr DoubleDouble divide(DoubleDouble a, DoubleDouble b) {
  DoubleDouble quotient{a.hi / b.hi, 0};
  for (int i = 0; i < 2; ++i) {
    const DoubleDouble product = multiply(quotient, b);
    const DoubleDouble rest = add(a, {-product.hi, -product.lo});
    quotient = add(quotient, {rest.hi / b.hi, 0});
  }
  return quotient;
}

// log(x) = 2 atanh(s), s = (x - 1) / (x + 1), by its series. REQUIRES: x in [0.5, 2].
constexpr DoubleDouble log_by_series(double x) {
  const DoubleDouble s = divide(exact_sum(x, -1), exact_sum(x, 1));
  const DoubleDouble square = multiply(s, s);
  DoubleDouble power = s;
  DoubleDouble sum = s;
  for (int n = 3; n < 80 && power.hi != 0; n += 2) {
    power = multiply(power, square);
    sum = add(sum, divide(power, {static_cast<double>(n), 0}));
  }
  return {2 * sum.hi, 2 * sum.lo};
}

inline constexpr int kTableBits = 7;
inline constexpr std::size_t kTableSize = std::size_t{1} << kTableBits;

// `value` split into a multiple of 2^-42 and the rest, so that sums of an exponent's multiple of
// log(2) and a table entry are exact.
constexpr DoubleDouble split_at_42_bits(DoubleDouble value) {
  constexpr double kRounder = 6755399441055744.0 / 4398046511104.0;  // 1.5 * 2^52 * 2^-42
  const double hi = (value.hi + kRounder) - kRounder;
  return {hi, (value.hi - hi) + value.lo};
}

inline constexpr DoubleDouble kLog2Full = log_by_series(2.0);
inline constexpr DoubleDouble kLog2 = split_at_42_bits(kLog2Full);

// Arguments of the logarithm are scaled by a power of two into [0.6875, 1.375) and sorted by their
// leading bits into intervals; both intervals that touch 1 use the inverse 1, so that small
// logarithms lose nothing.
inline constexpr std::uint64_t kLogStart = 0x3fe6000000000000;  // 0.6875
inline constexpr int kIntervalShift = 52 - kTableBits;

struct LogEntry {
  double inverse;  // about 1/x in the interval's middle, a multiple of 2^-16
  double log_hi;   // -log(inverse), a multiple of 2^-42 ...
  double log_lo;   // ... and the rest
};

constexpr std::array<LogEntry, kTableSize> make_log_table() {
  std::array<LogEntry, kTableSize> table{};
  for (std::size_t i = 0; i < kTableSize; ++i) {
    const std::uint64_t begin = kLogStart + (static_cast<std::uint64_t>(i) << kIntervalShift);
    const std::uint64_t end = begin + (std::uint64_t{1} << kIntervalShift);
    constexpr std::uint64_t kOne = 0x3ff0000000000000;
    if (begin == kOne || end == kOne) {
      table[i] = {1, 0, 0};
      continue;
    }
    const double middle = std::bit_cast<double>(begin + (end - begin) / 2);
    const double inverse =
        static_cast<double>(static_cast<std::int64_t>(65536.0 / middle + 0.5)) / 65536.0;
    const DoubleDouble log = log_by_series(inverse);
    const DoubleDouble split = split_at_42_bits({-log.hi, -log.lo});
    table[i] = {inverse, split.hi, split.lo};
  }
  return table;
}

struct PowerEntry {
  double value;  // 2^(i/128), rounded
  double rest;   // (2^(i/128) - value) / value
};

constexpr std::array<PowerEntry, kTableSize> make_power_table() {
  const DoubleDouble x{kLog2Full.hi / kTableSize, kLog2Full.lo / kTableSize};
  DoubleDouble step{1, 0};
  DoubleDouble term{1, 0};
  for (int n = 1; n < 16; ++n) {
    term = divide(multiply(term, x), {static_cast<double>(n), 0});
    step = add(step, term);
  }
  std::array<PowerEntry, kTableSize> table{};
  DoubleDouble power{1, 0};
  for (std::size_t i = 0; i < kTableSize; ++i) {
    table[i] = {power.hi, power.lo / power.hi};
    power = multiply(power, step);
  }
  return table;
}

}  // namespace inferscale::exact_math

#include "workload/readers/cell_values.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/number_text.h"
#include "base/utf8.h"
#include "workload/lengths.h"

namespace inferscale {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Appends a decimal digit; false when the number gets too large.
bool push_digit(std::int64_t& number, int digit) {
  return !__builtin_mul_overflow(number, std::int64_t{10}, &number) &&
         !__builtin_add_overflow(number, std::int64_t{digit}, &number);
}

std::optional<std::int64_t> scaled_exponent(std::string_view text, int decimals) {
  const std::optional<double> value = parse_finite(text);
  if (!value) return std::nullopt;
  double scaled = *value;
  for (int i = 0; i < decimals; ++i) scaled *= 10;
  if (!(std::fabs(scaled) < 9.2e18)) return std::nullopt;
  return std::llround(scaled);
}

// The digits text[at .. at + count) as a number, or nothing.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int number = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (i >= text.size() || !is_digit(text[i])) return std::nullopt;
    number = number * 10 + (text[i] - '0');
  }
  return number;
}

}  // namespace

std::optional<std::int64_t> scaled_decimal(std::string_view text, int decimals) {
  if (text.find_first_of("eE") != std::string_view::npos) return scaled_exponent(text, decimals);
  if (text.empty()) return std::nullopt;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  std::int64_t number = 0;
  int taken = -1;  // digits behind the point; -1: before it
  bool any = false;
  bool round_up = false;
  for (char c : text) {
    if (c == '.' && taken < 0) {
      taken = 0;
      continue;
    }
    if (!is_digit(c)) return std::nullopt;
    any = true;
    if (taken == decimals) round_up = c >= '5';
    if (taken < decimals && !push_digit(number, c - '0')) return std::nullopt;
    if (taken >= 0 && taken <= decimals) ++taken;
  }
  if (!any) return std::nullopt;
  for (int i = std::max(taken, 0); i < decimals; ++i) {
    if (!push_digit(number, 0)) return std::nullopt;
  }
  if (round_up && __builtin_add_overflow(number, std::int64_t{1}, &number)) return std::nullopt;
  return negative ? -number : number;
}

std::optional<std::int64_t> utc_nanoseconds(std::string_view text) {
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' ||
      text[16] != ':') {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  // Nanoseconds in 64 bits end in the year 2262.
  if (!date.ok() || *year < 1970 || *year > 2200) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 59) return std::nullopt;

  std::size_t at = 19;
  std::int64_t fraction_ns = 0;
  if (at < text.size() && text[at] == '.') {
    std::size_t end = at + 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    const std::size_t count = end - at - 1;
    if (count == 0 || count > 9) return std::nullopt;
    fraction_ns = *digits(text, at + 1, count);
    for (std::size_t i = count; i < 9; ++i) fraction_ns *= 10;
    at = end;
  }
  const std::string_view zone = text.substr(at);
  if (!zone.empty() && zone != "Z" && zone != "+00:00") return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = ((days * 24 + *hour) * 60 + *minute) * 60 + *second;
  return seconds * kNanosPerSecond + fraction_ns;
}

std::optional<std::uint32_t> token_count(std::string_view text, std::int64_t least) {
  const std::optional<std::int64_t> count = parse_whole(text);
  if (!count || *count < least || *count > std::int64_t{kMostTokens}) return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}

bool is_name(std::string_view text) {
  if (text.size() > 256) return false;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0 || first < 0x20 || first == 0x7f) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace inferscale

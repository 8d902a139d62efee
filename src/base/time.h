// Time in the library: integer nanoseconds since the start of the run.
//
// A `Duration` is a signed span, an `Instant` a point on one run's time line. Both are plain
// 64-bit integers underneath, so arithmetic is exact and the same on every machine; 64 bits of
// nanoseconds last 292 years. Raw numbers with a unit in their name appear only at file and wire
// edges, through `from_seconds`, `seconds()` and their like.

#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

#include "base/check.h"

namespace inferscale {

class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration nanos(std::int64_t ns) { return Duration(ns); }
  // Rounded to the nearest nanosecond. REQUIRES: |value| < 9.2e9 s.
  static Duration from_seconds(double s) { return Duration(std::llround(s * 1e9)); }
  static Duration from_millis(double ms) { return Duration(std::llround(ms * 1e6)); }
  static constexpr Duration max() { return Duration(std::numeric_limits<std::int64_t>::max()); }

  constexpr std::int64_t ns() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }
  constexpr double millis() const { return static_cast<double>(ns_) * 1e-6; }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration other) const { return Duration(ns_ + other.ns_); }
  constexpr Duration operator-(Duration other) const { return Duration(ns_ - other.ns_); }
  constexpr Duration operator*(std::int64_t n) const { return Duration(ns_ * n); }
  constexpr Duration& operator+=(Duration other) {
    ns_ += other.ns_;
    return *this;
  }

 private:
  constexpr explicit Duration(std::int64_t ns) : ns_(ns) {}
  std::int64_t ns_ = 0;
};

class Instant {
 public:
  constexpr Instant() = default;
  static constexpr Instant nanos(std::int64_t ns) { return Instant(ns); }
  // Later than every instant of a run: "no such event".
  static constexpr Instant never() { return Instant(std::numeric_limits<std::int64_t>::max()); }

  constexpr std::int64_t ns() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration d) const { return Instant(ns_ + d.ns()); }
  constexpr Instant operator-(Duration d) const { return Instant(ns_ - d.ns()); }
  constexpr Duration operator-(Instant other) const { return Duration::nanos(ns_ - other.ns_); }

 private:
  constexpr explicit Instant(std::int64_t ns) : ns_(ns) {}
  std::int64_t ns_ = 0;
};

// A run ends before this instant (126 years): sums of an instant and a span below it never
// overflow.
inline constexpr Instant kEndOfTime = Instant::nanos(4'000'000'000'000'000'000);

// Where the current instant comes from: virtual time in the simulator, a steady clock elsewhere.
// Code that waits or measures takes a Clock; nothing below it reads the machine's time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
};

// A clock that shows what it was last set to.
class VirtualClock final : public Clock {
 public:
  Instant now() const override { return now_; }
  // REQUIRES: `to` is not before now(): virtual time never falls.
  void advance_to(Instant to) {
    CHECK(to >= now_) << "virtual time would fall from " << now_.ns() << " to " << to.ns() << " ns";
    now_ = to;
  }

 private:
  Instant now_;
};

}  // namespace inferscale

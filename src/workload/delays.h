// How long somebody waits: times that are drawn, in whole nanoseconds.
//
// | distribution | a delay is |
// |--------------|------------|
// | constant     | always `mean_s` |
// | exponential  | exponential with mean `mean_s` |
// | lognormal    | log-normal of mean `mean_s` and coefficient of variation `cv` |
//
// `min` and `max` clamp, as for lengths: what lies outside becomes the bound itself.

#pragma once

#include <cstdint>
#include <optional>

#include "base/distributions.h"
#include "base/random.h"
#include "base/time.h"

namespace inferscale {

enum class DelayShape : std::uint8_t { kConstant, kExponential, kLognormal };

struct DelayOptions {
  DelayShape shape = DelayShape::kConstant;
  double mean_s = 0;  // of the draw before clamping
  double cv = 0;      // of log-normal delays
  Duration min;
  Duration max = Duration::nanos(kLongest);

  static constexpr std::int64_t kLongest = 1'000'000'000'000'000;  // 11 days
};

class DelaySampler {
 public:
  // REQUIRES: mean_s >= 0, above 0 for log-normal delays; 0 <= min <= max <= kLongest.
  DelaySampler(const DelayOptions& options, RandomStream stream);
  Duration draw();

 private:
  DelayOptions options_;
  RandomStream stream_;
  std::optional<Lognormal> lognormal_;
};

}  // namespace inferscale

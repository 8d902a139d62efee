// The series of samples: the state of each replica, or of the whole fleet, at even intervals.
//
// A run's rows are bounded. When they become too many, every second instant is dropped and the
// interval doubled: they lie as if they had been taken at twice the interval.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/signal_sample.h"

namespace inferscale {

class Sampler {
 public:
  // Appends the rows of one instant, always as many.
  using TakeRows = std::function<void(Instant at, std::vector<SignalSample>& rows)>;

  // Never samples without an interval.
  Sampler(std::optional<Duration> interval, std::size_t rows_each, TakeRows take);

  // Before the events at `now`.
  void sample_until(Instant now) {
    while (next_ < now) sample();
  }
  // The sample at the next instant, when there is one.
  void sample_once_more() {
    if (next_ != Instant::never()) sample();
  }

  std::vector<SignalSample> take_rows() { return std::move(rows_); }
  Duration interval() const { return interval_; }
  bool was_thinned() const { return thinned_; }

 private:
  void sample();
  void thin();

  Duration interval_;
  std::size_t rows_each_;
  std::size_t most_instants_;
  TakeRows take_;
  Instant next_ = Instant::never();
  std::vector<SignalSample> rows_;
  bool thinned_ = false;
};

}  // namespace inferscale

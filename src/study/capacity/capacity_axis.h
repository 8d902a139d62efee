// What a search for the capacity changes, from easy to hard: a rate, a trace's scale, a fleet's
// size.
//
// The whole arrival process is scaled, so that its shape stays: all rates of a schedule, both rates
// of bursts; times (a period, how long a piece lasts) stay. Where a run has a clock of its own the
// number of requests grows with the rate, so that each load sees the same stretch of time.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "study/scenario.h"

namespace inferscale {

class CapacityAxis {
 public:
  // Errors say why this configuration has no such axis, and what to do instead.
  static Result<CapacityAxis> make(const Scenario& scenario);

  const std::string& unit() const { return unit_; }  // "requests/s"
  bool is_whole() const { return whole_; }           // values are whole numbers
  bool falls() const { return falls_; }              // a lower value is harder
  bool keeps_window() const { return keeps_window_; }

  double start() const { return start_; }
  bool contains(double value) const { return value >= least_ && value <= most_; }
  // The next value to try in either direction; `value` itself where the axis ends.
  double harder(double value) const;
  double easier(double value) const;
  // Whether nothing between the two is worth trying.
  bool adjacent(double easy, double hard) const;
  // A value between the two with few digits. REQUIRES: they are not adjacent.
  double between(double easy, double hard) const;
  // The capacity less the headroom; of a fleet, the fleet with that headroom.
  double with_headroom(double capacity) const;
  // A value near `value` with few digits.
  double readable(double value) const;

  std::vector<Setting> settings(double value) const;
  // The load that all fleets of a search for replicas carry, in requests/s (or conversations/s);
  // nothing where the axis is the load itself, or where a trace is replayed.
  const std::optional<double>& fixed_load() const { return fixed_load_; }
  const std::string& fixed_load_unit() const { return fixed_load_unit_; }

 private:
  CapacityAxis() = default;
  Result<void> set_rate(const PreparedRun& run);
  Result<void> set_trace(const PreparedRun& run);
  Result<void> set_replicas(const PreparedRun& run);
  std::vector<Setting> rate_settings(double rate) const;

  CapacityOptions options_;
  std::string unit_;
  bool whole_ = false;
  bool falls_ = false;
  bool keeps_window_ = false;
  double start_ = 1;
  double least_ = 0;
  double most_ = 0;
  // Of generated arrivals as they are configured.
  double rate_ = 1;                   // arrivals/s, the mean over the run
  std::optional<double> rate_scale_;  // of a schedule, which has no rate of its own
  double requests_ = 0;
  std::optional<double> fixed_load_;
  std::string fixed_load_unit_;
};

}  // namespace inferscale

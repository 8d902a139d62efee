// `study.capacity`: what counts as carried, and where the search for the highest load looks.

#pragma once

#include <cstdint>
#include <optional>

#include "base/config_reader.h"
#include "base/time.h"

namespace inferscale {

// What the search changes.
enum class CapacitySearch : std::uint8_t {
  kRate,            // the rate of generated arrivals
  kTraceRateScale,  // workload.trace.rate_scale
  kReplicas,        // deployment.replicas: the smallest fleet for one load
};

// What stays when the rate of generated arrivals changes.
enum class CapacityKeep : std::uint8_t { kAuto, kRequests, kWindow };

struct CapacityOptions {
  CapacitySearch search = CapacitySearch::kRate;
  std::optional<double> for_load;  // of a search for replicas: the load, in place of the configured
  CapacityKeep keep = CapacityKeep::kAuto;
  double attainment = 0.99;  // goodput that every repetition must reach, a fraction of arrivals
  std::optional<Duration> drain_within;  // nothing: derived (docs/commands/capacity.md)
  double tolerance = 0.02;               // the search ends when high <= low (1 + tolerance)
  double headroom = 0.2;                 // recommended load = capacity x (1 - headroom)
  std::optional<double> low;             // requests/s, or trace.rate_scale; nothing: found
  std::optional<double> high;
  std::int64_t scan = 4;  // loads below the capacity that are tried after the search
  std::int64_t max_probes = 40;
  std::int64_t max_replicas = 1024;  // of the search for the smallest fleet
};

CapacityOptions read_capacity_options(ConfigReader& study);

}  // namespace inferscale

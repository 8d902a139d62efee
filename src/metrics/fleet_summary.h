// Figures of a fleet from the reports of its replicas, pool by pool.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/replica_report.h"

namespace inferscale {

// max / mean over the replicas of a pool: 1 is an even spread, n means that one did it all.
struct PoolSummary {
  std::string name;
  std::int64_t replicas = 0;
  std::int64_t finished = 0;
  double up_hours = 0;                       // summed over the replicas
  double accelerator_hours = 0;              // up times accelerators, summed
  std::optional<double> busy_fraction;       // busy time / time up
  std::optional<double> busy_imbalance;      // of busy time; none where nobody was busy
  std::optional<double> finished_imbalance;  // of finished requests; none where nobody finished any
};

struct FleetSummary {
  std::int64_t replicas = 0;
  double accelerator_hours = 0;
  std::vector<PoolSummary> pools;  // in the order in which they first occur
};

FleetSummary summarize_fleet(std::span<const ReplicaReport> replicas);

// A row of the table for people, of one replica or of a quantile over a pool's replicas. Figures
// that none of them has are nothing. Quantiles are nearest-rank, each column for itself: a row of
// quantiles is not a replica.
struct FleetRow {
  std::string pool;
  std::string replica;  // "3", or "min", "p50", "p90", "max" of the pool's
  double up_s = 0;
  std::optional<double> busy_fraction;
  double finished = 0;
  double preemptions = 0;
  std::optional<double> prefix_hit_rate;
  std::optional<double> kv_used_mean;
  std::optional<double> kv_used_peak;
  double queue_peak = 0;
};

constexpr std::size_t kMostFleetRows = 16;

// All replicas when they are at most kMostFleetRows, else four quantiles of each pool.
std::vector<FleetRow> fleet_rows(std::span<const ReplicaReport> replicas);

}  // namespace inferscale

// The replicas of a run as a table for a terminal.

#pragma once

#include <span>
#include <string>

#include "core/replica_report.h"
#include "metrics/fleet_summary.h"

namespace inferscale {

// All replicas when they are few, quantiles of each pool when they are many; then a line for each
// pool that says how even its load was. Empty for fewer than two replicas.
std::string fleet_text(const FleetSummary& fleet, std::span<const ReplicaReport> replicas);

}  // namespace inferscale

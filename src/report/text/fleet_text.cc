#include "report/text/fleet_text.h"

#include <fmt/format.h>

#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

std::string percent_or_dash(const std::optional<double>& fraction) {
  return fraction ? percent(*fraction) : "-";
}

}  // namespace

std::string fleet_text(const FleetSummary& fleet, std::span<const ReplicaReport> replicas) {
  if (replicas.size() < 2) return {};
  const bool quantiles = replicas.size() > kMostFleetRows;
  TextTable table({"pool", quantiles ? "quantile" : "replica", ">up s", ">busy", ">finished",
                   ">preempted", ">prefix hits", ">KV mean", ">KV peak", ">queue peak"});
  for (const FleetRow& row : fleet_rows(replicas)) {
    table.add({row.pool, row.replica, short_number(row.up_s), percent_or_dash(row.busy_fraction),
               fmt::format("{:.0f}", row.finished), fmt::format("{:.0f}", row.preemptions),
               percent_or_dash(row.prefix_hit_rate), percent_or_dash(row.kv_used_mean),
               percent_or_dash(row.kv_used_peak), fmt::format("{:.0f}", row.queue_peak)});
  }
  std::string out = "\n" + table.text() + "\n";
  for (const PoolSummary& pool : fleet.pools) {
    out += fmt::format("Pool       {}: {} replicas, busy {} of the time up", pool.name,
                       pool.replicas, percent_or_dash(pool.busy_fraction));
    if (pool.busy_imbalance) {
      out += fmt::format("; the busiest {} times the mean", short_number(*pool.busy_imbalance));
    }
    if (pool.finished_imbalance) {
      out += fmt::format("; the one that finished most {} times",
                         short_number(*pool.finished_imbalance));
    }
    out += "\n";
  }
  return out;
}

}  // namespace inferscale

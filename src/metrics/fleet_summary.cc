#include "metrics/fleet_summary.h"

#include <algorithm>
#include <array>
#include <utility>

#include "metrics/quantiles.h"

namespace inferscale {
namespace {

using Replicas = std::vector<const ReplicaReport*>;

// The replicas of each pool, pools in the order in which they first occur.
std::vector<Replicas> by_pool(std::span<const ReplicaReport> replicas) {
  std::vector<Replicas> pools;
  for (const ReplicaReport& replica : replicas) {
    const auto pool = std::find_if(pools.begin(), pools.end(), [&](const Replicas& known) {
      return known.front()->pool == replica.pool;
    });
    if (pool == pools.end()) {
      pools.push_back({&replica});
    } else {
      pool->push_back(&replica);
    }
  }
  return pools;
}

template <typename Figure>
std::optional<double> max_over_mean(const Replicas& replicas, Figure figure) {
  double sum = 0;
  double most = 0;
  for (const ReplicaReport* replica : replicas) {
    const auto value = static_cast<double>(figure(*replica));
    sum += value;
    most = std::max(most, value);
  }
  if (sum == 0) return std::nullopt;
  return most / (sum / static_cast<double>(replicas.size()));
}

PoolSummary summarize_pool(const Replicas& replicas) {
  constexpr double kNanosPerHour = 3600e9;
  PoolSummary pool{.name = replicas.front()->pool, .replicas = std::ssize(replicas)};
  double up_ns = 0;
  double busy_ns = 0;
  double accelerator_ns = 0;
  for (const ReplicaReport* replica : replicas) {
    const auto ns = static_cast<double>(replica->up.ns());
    pool.finished += replica->finished;
    up_ns += ns;
    busy_ns += replica->busy_ns;
    accelerator_ns += ns * static_cast<double>(replica->accelerators);
  }
  pool.up_hours = up_ns / kNanosPerHour;
  pool.accelerator_hours = accelerator_ns / kNanosPerHour;
  if (up_ns > 0) pool.busy_fraction = busy_ns / up_ns;
  pool.busy_imbalance =
      max_over_mean(replicas, [](const ReplicaReport& replica) { return replica.busy_ns; });
  pool.finished_imbalance =
      max_over_mean(replicas, [](const ReplicaReport& replica) { return replica.finished; });
  return pool;
}

FleetRow row_of(const ReplicaReport& replica) {
  return {.pool = replica.pool,
          .replica = std::to_string(replica.index),
          .up_s = replica.up.seconds(),
          .busy_fraction = replica.busy_fraction(),
          .finished = static_cast<double>(replica.finished),
          .preemptions = static_cast<double>(replica.preemptions),
          .prefix_hit_rate = replica.prefix_hit_rate(),
          .kv_used_mean = replica.kv_used_mean(),
          .kv_used_peak = replica.kv_used_peak(),
          .queue_peak = static_cast<double>(replica.queue_peak)};
}

// The q-quantile over the rows that have the column; q = 0 is the least.
template <typename Column>
auto quantile_of(const std::vector<FleetRow>& rows, Column FleetRow::* column, double q) {
  std::vector<double> values;
  for (const FleetRow& row : rows) {
    const std::optional<double> value = row.*column;
    if (value) values.push_back(*value);
  }
  if (values.empty()) return Column{};
  std::sort(values.begin(), values.end());
  return Column{q == 0 ? values.front() : nearest_rank(values, q)};
}

FleetRow quantile_row(const std::vector<FleetRow>& rows, const char* name, double q) {
  return {.pool = rows.front().pool,
          .replica = name,
          .up_s = quantile_of(rows, &FleetRow::up_s, q),
          .busy_fraction = quantile_of(rows, &FleetRow::busy_fraction, q),
          .finished = quantile_of(rows, &FleetRow::finished, q),
          .preemptions = quantile_of(rows, &FleetRow::preemptions, q),
          .prefix_hit_rate = quantile_of(rows, &FleetRow::prefix_hit_rate, q),
          .kv_used_mean = quantile_of(rows, &FleetRow::kv_used_mean, q),
          .kv_used_peak = quantile_of(rows, &FleetRow::kv_used_peak, q),
          .queue_peak = quantile_of(rows, &FleetRow::queue_peak, q)};
}

}  // namespace

FleetSummary summarize_fleet(std::span<const ReplicaReport> replicas) {
  FleetSummary fleet{.replicas = std::ssize(replicas)};
  for (const Replicas& pool : by_pool(replicas)) {
    fleet.pools.push_back(summarize_pool(pool));
    fleet.accelerator_hours += fleet.pools.back().accelerator_hours;
  }
  return fleet;
}

std::vector<FleetRow> fleet_rows(std::span<const ReplicaReport> replicas) {
  std::vector<FleetRow> rows;
  if (replicas.size() <= kMostFleetRows) {
    for (const ReplicaReport& replica : replicas) rows.push_back(row_of(replica));
    return rows;
  }
  constexpr std::array<std::pair<const char*, double>, 4> kQuantiles = {
      {{"min", 0}, {"p50", 0.5}, {"p90", 0.9}, {"max", 1}}};
  for (const Replicas& pool : by_pool(replicas)) {
    std::vector<FleetRow> all;
    for (const ReplicaReport* replica : pool) all.push_back(row_of(*replica));
    for (const auto& [name, q] : kQuantiles) rows.push_back(quantile_row(all, name, q));
  }
  return rows;
}

}  // namespace inferscale

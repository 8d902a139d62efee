// Agent programs on a replica with a batch: the one that jumps against the one that takes every
// step, in every instant and in everything that is counted of idle KV caches.
//
// Both share the prefix cache and the ledger, which tests of their own compare with single blocks.
// What differs is when they hear of the time: the one at the end of a jump, the other at each step.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "property/replica_runs.h"
#include "property/scenario.h"

namespace inferscale {
namespace {

// Those who are left when a run is stopped are told in no particular order.
std::vector<Report> without_unfinished(std::vector<Report> reports) {
  std::erase_if(reports, [](const Report& report) {
    return report.kind == Report::Kind::kRecord &&
           report.outcome.status == OutcomeStatus::kUnfinished;
  });
  return reports;
}

void expect_same_reports(const std::vector<Report>& jumps, const std::vector<Report>& steps) {
  for (std::size_t i = 0; i < std::min(jumps.size(), steps.size()); ++i) {
    ASSERT_TRUE(jumps[i] == steps[i])
        << "segments: " << jumps[i].describe() << "\nstepwise: " << steps[i].describe();
  }
  ASSERT_EQ(jumps.size(), steps.size());
}

// Sums of the same products in another order.
void expect_same_integral(double jumps, double steps, const char* name) {
  EXPECT_NEAR(jumps, steps, 1e-9 * steps) << name;
}

void expect_same_retention(const KvRetentionUsage& jumps, const KvRetentionUsage& steps) {
  expect_same_integral(jumps.idle_token_ns, steps.idle_token_ns, "idle");
  expect_same_integral(jumps.resident_token_ns, steps.resident_token_ns, "resident");
  expect_same_integral(jumps.host_token_ns, steps.host_token_ns, "host");
  EXPECT_EQ(jumps.resident_peak, steps.resident_peak);
  EXPECT_EQ(jumps.evicted_ttl, steps.evicted_ttl);
  EXPECT_EQ(jumps.evicted_pressure, steps.evicted_pressure);
  EXPECT_EQ(jumps.dropped_ended, steps.dropped_ended);
  EXPECT_EQ(jumps.dropped_recompute, steps.dropped_recompute);
  EXPECT_EQ(jumps.evictions_ttl, steps.evictions_ttl);
  EXPECT_EQ(jumps.evictions_pressure, steps.evictions_pressure);
  EXPECT_EQ(jumps.offloads, steps.offloads);
  EXPECT_EQ(jumps.restores, steps.restores);
  EXPECT_EQ(jumps.offloaded, steps.offloaded);
  EXPECT_EQ(jumps.restored, steps.restored);
  EXPECT_EQ(jumps.host_evicted, steps.host_evicted);
  EXPECT_EQ(jumps.offload_ns, steps.offload_ns);
  EXPECT_EQ(jumps.restore_ns, steps.restore_ns);
  EXPECT_EQ(jumps.exposed_ns, steps.exposed_ns);
  EXPECT_EQ(jumps.host_peak, steps.host_peak);
}

// What is resident and not idle is held by sequences: the integral of held blocks, which is taken
// over the unrounded times of segments without the ledger.
void expect_held_is_the_rest(const ReplicaUsage& usage, const KvLayout& layout) {
  const double tokens_each_block =
      static_cast<double>(layout.block_tokens) / static_cast<double>(layout.full_groups);
  const double held = usage.kv_block_ns * tokens_each_block;
  const double rounding = tokens_each_block * static_cast<double>(usage.kv_blocks_peak) *
                          static_cast<double>(usage.segments + usage.prefill_steps + 1);
  EXPECT_NEAR(usage.retention.resident_token_ns - usage.retention.idle_token_ns, held,
              rounding + 1e-9 * held);
}

class Trial {
 public:
  explicit Trial(Scenario& scenario) : scenario_(scenario), random_(scenario.seed, "retention") {}

  void run(std::map<std::string, std::int64_t>& seen);

 private:
  // At a boundary of the plain run, just beside one, or anywhere.
  Instant some_instant(const ReplicaRun& run) {
    if (run.wakes.empty() || random_.below(3) == 0) {
      return Instant::nanos(
          static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(run.end.ns()) + 1)));
    }
    const Instant wake = run.wakes[random_.below(run.wakes.size())];
    const Duration beside = Duration::nanos(static_cast<std::int64_t>(random_.below(3)) - 1);
    return std::max(Instant(), wake + beside);
  }
  void add_chain_ends(const ReplicaRun& run);
  void count(const ReplicaRun& run, std::map<std::string, std::int64_t>& seen) const;

  Scenario& scenario_;
  RandomStream random_;
};

void Trial::add_chain_ends(const ReplicaRun& run) {
  for (std::uint64_t i = random_.below(6); i > 0; --i) {
    const std::size_t request = random_.below(scenario_.requests.size());
    if (scenario_.requests[request].program == nullptr) continue;
    scenario_.chain_ends.push_back(
        {.at = some_instant(run), .request = request, .after_wakes = random_.below(2) == 0});
  }
  std::sort(scenario_.chain_ends.begin(), scenario_.chain_ends.end(),
            [](const ChainEnd& a, const ChainEnd& b) {
              return a.at != b.at ? a.at < b.at : a.after_wakes < b.after_wakes;
            });
}

void Trial::run(std::map<std::string, std::int64_t>& seen) {
  const ReplicaRun plain = run_replica(ReplicaKind::kStepwise, scenario_);
  if (random_.below(3) == 0) add_chain_ends(plain);
  if (random_.below(4) == 0) {
    scenario_.failures.push_back({.at = some_instant(plain), .retries = random_.below(2) == 0});
  }
  if (random_.below(4) == 0) scenario_.stop = some_instant(plain);
  if (random_.below(3) == 0) {
    add_cancellations(scenario_, {plain.outcomes, plain.wakes, plain.end});
  }
  const ReplicaRun steps = run_replica(ReplicaKind::kStepwise, scenario_);
  const ReplicaRun jumps = run_replica(ReplicaKind::kSegments, scenario_);
  EXPECT_EQ(jumps.broken, "");
  EXPECT_EQ(steps.broken, "");
  expect_same_reports(without_unfinished(jumps.reports), without_unfinished(steps.reports));
  expect_same_retention(jumps.usage[0].retention, steps.usage[0].retention);
  EXPECT_EQ(jumps.usage[0].prompt_tokens_cached, steps.usage[0].prompt_tokens_cached);
  if (!scenario_.stop) {
    EXPECT_EQ(jumps.usage[0].busy_ns, steps.usage[0].busy_ns);
    expect_held_is_the_rest(jumps.usage[0], scenario_.options.layout);
  }
  count(steps, seen);
}

void Trial::count(const ReplicaRun& run, std::map<std::string, std::int64_t>& seen) const {
  const KvRetentionUsage& usage = run.usage[0].retention;
  const bool cut_short = scenario_.stop.has_value();
  seen["expired"] += usage.evictions_ttl;
  seen["evicted"] += usage.evictions_pressure;
  seen["ended"] += usage.dropped_ended > 0 ? 1 : 0;
  seen["recomputed"] += usage.dropped_recompute > 0 ? 1 : 0;
  seen["offloads"] += usage.offloads;
  seen["restores"] += usage.restores;
  seen["exposed"] += usage.exposed_ns > 0 ? 1 : 0;
  seen["evicted from the host"] += usage.host_evicted > 0 ? 1 : 0;
  seen["stopped while somebody ran"] +=
      cut_short && without_unfinished(run.reports).size() < run.reports.size();
  seen["chains that ended elsewhere"] += static_cast<std::int64_t>(scenario_.chain_ends.size());
  seen["preemptions"] += run.usage[0].preemptions;
  for (const Report& report : run.reports) {
    const bool gone = report.outcome.status == OutcomeStatus::kAbandoned;
    seen["abandoned"] += gone ? 1 : 0;
    seen["abandoned at the end of a run"] += gone && scenario_.stop == report.at ? 1 : 0;
  }
}

TEST(Retention, JumpsAndSingleStepsCountTheSame) {
  constexpr std::uint64_t kDefaultTrials = 1200;
  const std::uint64_t count = trials(kDefaultTrials);
  std::map<std::string, std::int64_t> seen;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    Scenario scenario = make_program_scenario(seed);
    SCOPED_TRACE(scenario.describe());
    Trial(scenario).run(seen);
    if (HasFailure()) return;
  }
  for (const auto& [name, value] : seen) RecordProperty(name, std::to_string(value));
  if (count < kDefaultTrials) return;
  const std::map<std::string, std::int64_t> enough = {{"abandoned", 500},
                                                      {"abandoned at the end of a run", 10},
                                                      {"expired", 2000},
                                                      {"evicted", 2000},
                                                      {"ended", 200},
                                                      {"recomputed", 100},
                                                      {"offloads", 2000},
                                                      {"restores", 500},
                                                      {"exposed", 30},
                                                      {"evicted from the host", 50},
                                                      {"stopped while somebody ran", 50},
                                                      {"chains that ended elsewhere", 200},
                                                      {"preemptions", 800}};
  for (const auto& [name, least] : enough) EXPECT_GE(seen[name], least) << name;
}

}  // namespace
}  // namespace inferscale

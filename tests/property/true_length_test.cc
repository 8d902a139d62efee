// No decision reads a true output length before it comes.
//
// Two runs differ in the true length of one request's answer and in nothing else; what was asked
// for is the same. Until the shorter answer ends nobody can know, so everything up to that instant
// is the same: reports, loads, and what the latency model was asked about.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "property/replica_runs.h"
#include "property/scenario.h"

namespace inferscale {
namespace {

// Up to `end`, excluded.
std::vector<Report> reports_before(const ReplicaRun& run, Instant end) {
  std::vector<Report> reports;
  for (const Report& report : run.reports) {
    if (report.at < end) reports.push_back(report);
  }
  return reports;
}

// When the answer of `id` ended; the run's end when it never did.
Instant end_of_answer(const ReplicaRun& run, RequestId id) {
  Instant end = run.end;
  for (const Report& report : run.reports) {
    if (report.id == id && report.kind == Report::Kind::kRecord) end = std::min(end, report.at);
    // A restart begins the answer anew, and it may have been about to end.
    if (report.id == id && report.kind == Report::Kind::kLost) end = std::min(end, report.at);
  }
  return end;
}

void compare(ReplicaKind kind, Scenario& scenario, RequestId id, std::uint32_t shorter,
             const std::vector<Instant>& instants) {
  const std::uint32_t longer = std::exchange(scenario.requests[id].output_tokens, shorter);
  const ReplicaRun soon = run_replica(kind, scenario, instants);
  scenario.requests[id].output_tokens = longer;
  const ReplicaRun late = run_replica(kind, scenario, instants);
  const Instant until = end_of_answer(soon, id);
  const std::vector<Report> a = reports_before(soon, until);
  const std::vector<Report> b = reports_before(late, until);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(a[i] == b[i]) << "shorter: " << a[i].describe() << "\nlonger: " << b[i].describe();
  }
  for (std::size_t i = 0; i < instants.size() && instants[i] < until; ++i) {
    for (std::size_t seat = 0; seat < soon.usage.size(); ++seat) {
      const ReplicaLoad& x = soon.loads[i * soon.usage.size() + seat];
      const ReplicaLoad& y = late.loads[i * soon.usage.size() + seat];
      ASSERT_EQ(x.queue_depth, y.queue_depth) << "at " << instants[i].ns() << " ns";
      ASSERT_EQ(x.running, y.running) << "at " << instants[i].ns() << " ns";
      ASSERT_EQ(x.kv_blocks_held, y.kv_blocks_held) << "at " << instants[i].ns() << " ns";
      ASSERT_EQ(x.tokens_in_flight, y.tokens_in_flight) << "at " << instants[i].ns() << " ns";
    }
  }
}

TEST(TrueLength, NoDecisionReadsItBeforeItComes) {
  constexpr std::uint64_t kDefaultTrials = 400;
  const std::uint64_t count = trials(kDefaultTrials);
  std::int64_t compared = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    Scenario scenario = make_full_scenario(seed);
    SCOPED_TRACE(scenario.describe());
    RandomStream random(seed, "true length test");
    const auto id = static_cast<RequestId>(random.below(scenario.requests.size()));
    Request& request = scenario.requests[id];
    if (request.output_tokens == 1) continue;
    const auto shorter = static_cast<std::uint32_t>(1 + random.below(request.output_tokens - 1));
    const ReplicaRun steps = run_replica(ReplicaKind::kStepwise, scenario);
    std::vector<Instant> instants;
    for (int i = 0; i < 30 && !steps.wakes.empty(); ++i) {
      instants.push_back(steps.wakes[random.below(steps.wakes.size())]);
    }
    std::sort(instants.begin(), instants.end());
    compare(ReplicaKind::kStepwise, scenario, id, shorter, instants);
    compare(ReplicaKind::kSegments, scenario, id, shorter, instants);
    if (HasFailure()) return;
    ++compared;
  }
  if (count >= kDefaultTrials) {
    EXPECT_GE(compared, static_cast<std::int64_t>(count / 2));
  }
}

}  // namespace
}  // namespace inferscale

#include "property/replica_runs.h"

#include <algorithm>

namespace inferscale {
namespace {

class Recorder final : public ReplicaSink {
 public:
  explicit Recorder(ReplicaRun& run) : run_(run) {}
  void record(RequestId id, const Outcome& outcome) override {
    if (seen_[id]) run_.broken = "request " + std::to_string(id) + " ended twice";
    seen_[id] = true;
    run_.outcomes[id] = outcome;
  }
  void prefilled(const Handoff&) override { run_.broken = "a whole replica handed over"; }
  void reserved(RequestId, Instant) override { run_.broken = "a whole replica reserved"; }
  void expect(size_t requests) { seen_.assign(requests, false); }
  bool all_seen() const { return std::count(seen_.begin(), seen_.end(), false) == 0; }

 private:
  ReplicaRun& run_;
  std::vector<bool> seen_;
};

}  // namespace

ReplicaRun run_replica(ReplicaKind kind, const Scenario& scenario,
                       const std::vector<Instant>& look_at) {
  ReplicaRun run;
  run.outcomes.resize(scenario.requests.size());
  Recorder recorder(run);
  recorder.expect(scenario.requests.size());
  run.gaps = std::make_unique<DurationHistogram>();
  const ReplicaSurroundings surroundings{
      .latency = *scenario.latency, .sink = recorder, .gaps = *run.gaps};
  const std::unique_ptr<Replica> replica =
      kind == ReplicaKind::kSegments ? make_segment_replica(scenario.options, surroundings)
                                     : make_stepwise_replica(scenario.options, surroundings);
  size_t arrival = 0;
  size_t look = 0;
  while (true) {
    const bool more = arrival < scenario.requests.size();
    const Instant arrives = more ? scenario.requests[arrival].arrival : Instant::never();
    const Instant wakes = replica->next_wake();
    const Instant now = std::min(arrives, wakes);
    for (; look < look_at.size() && look_at[look] < now; ++look) {
      run.loads.push_back(replica->load_at(look_at[look]));
    }
    if (now == Instant::never()) break;
    run.end = now;
    if (arrives <= wakes) {
      replica->enqueue(scenario.requests[arrival++]);
    } else {
      replica->wake(now);
      run.wakes.push_back(now);
      const char* broken = replica->broken_invariant();
      if (broken != nullptr && run.broken.empty()) run.broken = broken;
    }
  }
  replica->flush();
  if (!recorder.all_seen()) run.broken = "a request never ended";
  run.usage = replica->usage();
  return run;
}

}  // namespace inferscale

#include "sim/simulator.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "sim/checkers/run_checker.h"

namespace inferscale {
namespace {

constexpr std::size_t kMostSamples = 1'000'001;      // odd, so that thinning keeps the last one
constexpr std::uint64_t kEventsBetweenLooks = 4096;  // at the stop flag and the progress

std::unique_ptr<Replica> make_replica(const SimulatorOptions& options,
                                      const ReplicaSurroundings& surroundings) {
  return options.stepwise ? make_stepwise_replica(options.replica, surroundings)
                          : make_segment_replica(options.replica, surroundings);
}

class Simulation final : public ReplicaSink {
 public:
  Simulation(const SimulatorOptions& options, const LatencyModel& latency, RequestSource& source,
             const RunControl& control)
      : options_(options),
        source_(source),
        control_(control),
        gaps_(std::make_unique<DurationHistogram>()),
        replica_(make_replica(options, {.latency = latency, .sink = *this, .gaps = *gaps_})),
        checker_(options.replica) {
    result_.outcomes.reserve(source.size());
    if (options.signals_interval) result_.signals_interval = *options.signals_interval;
  }

  SimulationResult run();
  void record(RequestId id, const Outcome& outcome) override;
  void prefilled(const Handoff&) override {}
  void reserved(RequestId, Instant) override {}

 private:
  // Handles everything at the next instant at which something happens. False: nothing is left.
  bool step();
  void arrive();
  void sample_until(Instant before);
  void sample(Instant at);
  void thin_samples();
  bool should_stop() const {
    return control_.stop != nullptr && control_.stop->load(std::memory_order_relaxed);
  }

  const SimulatorOptions& options_;
  RequestSource& source_;
  const RunControl& control_;
  std::unique_ptr<DurationHistogram> gaps_;
  std::unique_ptr<Replica> replica_;
  VirtualClock clock_;
  Request upcoming_;  // the next arrival, when there is one
  bool has_upcoming_ = false;
  Instant next_sample_;
  std::int64_t finished_ = 0;
  std::int64_t refused_ = 0;
  RunChecker checker_;
  SimulationResult result_;
};

void Simulation::record(RequestId id, const Outcome& outcome) {
  if (outcome.status == OutcomeStatus::kFinished) ++finished_;
  if (outcome.status == OutcomeStatus::kRefused) ++refused_;
  if (options_.verify) checker_.on_outcome(id, outcome);
  result_.outcomes[id] = outcome;
}

void Simulation::arrive() {
  CHECK(upcoming_.id == result_.outcomes.size()) << "request ids are not dense";
  result_.outcomes.emplace_back();
  replica_->enqueue(upcoming_);
  has_upcoming_ = source_.next(upcoming_);
}

bool Simulation::step() {
  const Instant arrival = has_upcoming_ ? upcoming_.arrival : Instant::never();
  const Instant wake = replica_->next_wake();
  const Instant now = std::min(arrival, wake);
  if (now == Instant::never()) return false;
  if (now >= kEndOfTime) {
    result_.beyond_time = true;
    return false;
  }
  if (options_.signals_interval) sample_until(now);
  clock_.advance_to(now);
  ++result_.events;
  if (arrival <= wake) {
    arrive();
  } else {
    replica_->wake(now);
  }
  if (options_.verify) {
    checker_.on_event(now, *replica_, static_cast<std::int64_t>(result_.outcomes.size()));
  }
  return true;
}

void Simulation::sample_until(Instant before) {
  while (next_sample_ < before) sample(next_sample_);
}

// Keeps the samples at even places: they lie as if they had been taken at twice the interval.
void Simulation::thin_samples() {
  std::vector<SignalSample>& samples = result_.signals;
  for (std::size_t i = 0; 2 * i < samples.size(); ++i) samples[i] = samples[2 * i];
  samples.resize((samples.size() + 1) / 2);
  result_.signals_interval = result_.signals_interval * 2;
  result_.signals_thinned = true;
}

void Simulation::sample(Instant at) {
  const ReplicaLoad load = replica_->load_at(at);
  result_.signals.push_back({.at = at,
                             .queue_depth = load.queue_depth,
                             .running = load.running,
                             .kv_blocks_used = load.kv_blocks_held,
                             .kv_used_fraction = static_cast<double>(load.kv_blocks_held) /
                                                 static_cast<double>(options_.replica.kv_blocks),
                             .arrived = static_cast<std::int64_t>(result_.outcomes.size()),
                             .finished = finished_,
                             .refused = refused_,
                             .preemptions = replica_->usage().preemptions});
  if (result_.signals.size() == kMostSamples) thin_samples();
  next_sample_ = result_.signals.back().at + result_.signals_interval;
}

SimulationResult Simulation::run() {
  has_upcoming_ = source_.next(upcoming_);
  while (step()) {
    if (result_.events % kEventsBetweenLooks != 0) continue;
    if (control_.progress) control_.progress(result_.outcomes.size());
    if (should_stop()) {
      result_.interrupted = true;
      break;
    }
  }
  result_.end = clock_.now();
  const bool cut_short = result_.interrupted || result_.beyond_time;
  // The series ends with the first sample that sees the last event; a run that was cut short ends
  // with the last one before it, since the replica can't be asked about a time it has not reached.
  if (options_.signals_interval) {
    sample_until(result_.end);
    if (!cut_short) sample(next_sample_);
  }
  replica_->flush();
  result_.usage = replica_->usage();
  result_.gaps = std::move(gaps_);
  if (options_.verify) {
    checker_.on_end(result_.outcomes, !cut_short);
    result_.violations = checker_.violations();
  }
  return std::move(result_);
}

}  // namespace

SimulationResult simulate(const SimulatorOptions& options, const LatencyModel& latency,
                          RequestSource& source, const RunControl& control) {
  return Simulation(options, latency, source, control).run();
}

}  // namespace inferscale

// Small fleets for tests whose timestamps are worked out by hand.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replica/latency/linear.h"
#include "sim/simulator.h"

namespace inferscale {

class ListSource final : public RequestSource {
 public:
  explicit ListSource(std::vector<Request> requests) : requests_(std::move(requests)) {}
  bool next(Request& request) override {
    if (at_ == requests_.size()) return false;
    request = requests_[at_++];
    return true;
  }
  std::uint64_t size() const override { return requests_.size(); }

 private:
  std::vector<Request> requests_;
  std::size_t at_ = 0;
};

// Arrives at `at_us` microseconds.
inline Request request_at(RequestId id, std::int64_t at_us, std::uint32_t prompt,
                          std::uint32_t output) {
  return {.id = id,
          .prompt_tokens = prompt,
          .output_tokens = output,
          .max_tokens = output,
          .arrival = Instant::nanos(at_us * 1000)};
}

inline Instant at_us(std::int64_t us) {
  return Instant::nanos(us * 1000);
}

inline Duration micros(std::int64_t us) {
  return Duration::nanos(us * 1000);
}

// Every step, whatever it does, takes a millisecond.
inline const LatencyModel& millisecond_steps() {
  static const std::unique_ptr<LatencyModel> model = make_linear({.step_us = 1000}, {});
  return *model;
}

inline GroupOptions group_of(std::int64_t replicas, const std::string& name = "replicas") {
  return {.name = name,
          .replica = {.max_num_seqs = 8,
                      .max_num_batched_tokens = 512,
                      .layout = {.block_tokens = 8},
                      .kv_blocks = 100,
                      .max_model_len = 700},
          .latency = &millisecond_steps(),
          .replicas = replicas};
}

inline FleetOptions fleet_of(std::int64_t replicas, RouterPolicy policy) {
  FleetOptions fleet;
  fleet.groups.push_back(group_of(replicas));
  fleet.router.policy = policy;
  fleet.seed = 7;
  return fleet;
}

// A prefill and a decode pool. A transfer takes 100 us and 10 us for each token of the prompt.
inline FleetOptions split_of(std::int64_t prefill, std::int64_t decode,
                             LinkSharing sharing = LinkSharing::kSerial) {
  FleetOptions fleet = fleet_of(prefill, RouterPolicy::kRoundRobin);
  fleet.groups[0].name = "prefill";
  fleet.groups.push_back(group_of(decode, "decode"));
  fleet.split =
      SplitOptions{.link = {.base_latency = micros(100), .bandwidth = 1e8, .sharing = sharing},
                   .kv_bytes_per_token = 1000};
  return fleet;
}

// Runs it with every check on.
inline SimulationResult run_fleet(const FleetOptions& fleet, std::vector<Request> requests,
                                  RunOptions options = {}) {
  options.verify = true;
  ListSource source(std::move(requests));
  SimulationResult result = simulate_fleet(fleet, options, source, {});
  for (const std::string& violation : result.violations) ADD_FAILURE() << violation;
  return result;
}

}  // namespace inferscale

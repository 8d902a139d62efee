// A latency model that writes down what it is asked.

#pragma once

#include <cstddef>
#include <string_view>

#include "property/replica_runs.h"

namespace inferscale {

// All outlive it; `now` is when it is asked.
class Costing final : public LatencyModel {
 public:
  Costing(const LatencyModel& model, std::size_t replica, const Instant& now, ReplicaRun& run)
      : model_(model), replica_(replica), now_(now), run_(run) {}
  std::string_view name() const override { return model_.name(); }
  StepCost cost(const StepShape& shape) const override {
    const StepCost cost = model_.cost(shape);
    run_.shapes.push_back({now_, replica_, shape, cost.valid_steps});
    return cost;
  }

 private:
  const LatencyModel& model_;
  std::size_t replica_;
  const Instant& now_;
  ReplicaRun& run_;
};

}  // namespace inferscale

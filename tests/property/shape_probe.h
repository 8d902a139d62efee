// A latency model that every field of a step's shape tells on.
//
// It adds to another model's cost a term for each field, so that two replicas which disagree on any
// of them give different times; and it ends the straight line early now and then.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/random.h"
#include "replica/latency/latency_model.h"

namespace inferscale {

class ShapeProbe final : public LatencyModel {
 public:
  // With `whole` all terms are whole nanoseconds.
  ShapeProbe(std::unique_ptr<LatencyModel> model, std::uint64_t seed, bool whole)
      : model_(std::move(model)) {
    RandomStream random(seed, "shape probe");
    for (double& weight : weights_) {
      weight = whole ? static_cast<double>(1 + random.below(50)) : 50 * random.uniform();
    }
    shortest_line_ = random.below(2) == 0 ? 0 : static_cast<std::int64_t>(1 + random.below(30));
  }

  std::string_view name() const override { return "shape_probe"; }
  StepCost cost(const StepShape& shape) const override {
    StepCost cost = model_->cost(shape);
    cost.first_ns += weights_[0] * static_cast<double>(shape.decode_window_context) +
                     weights_[1] * static_cast<double>(shape.prefill_context) +
                     weights_[2] * shape.prefill_pairs + weights_[3] * shape.prefill_window_pairs +
                     weights_[4] * static_cast<double>(shape.prefill_sequences) +
                     weights_[5] * static_cast<double>(shape.decode_context);
    cost.growth_ns += weights_[0] * static_cast<double>(shape.decode_growing) +
                      weights_[5] * static_cast<double>(shape.decode_sequences);
    if (shortest_line_ > 0) {
      const std::int64_t line = shortest_line_ + shape.decode_context % 7;
      cost.valid_steps = std::min(cost.valid_steps, line);
    }
    return cost;
  }

 private:
  std::unique_ptr<LatencyModel> model_;
  double weights_[6] = {};
  std::int64_t shortest_line_ = 0;  // 0: lines are the model's
};

inline std::unique_ptr<LatencyModel> make_shape_probe(std::unique_ptr<LatencyModel> model,
                                                      std::uint64_t seed, bool whole) {
  return std::make_unique<ShapeProbe>(std::move(model), seed, whole);
}

}  // namespace inferscale

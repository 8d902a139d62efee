#include "replica/latency/speculative.h"

#include <algorithm>
#include <utility>

namespace inferscale {
namespace {

StepShape verifying(StepShape shape, std::int64_t tokens) {
  shape.decode_tokens = tokens;
  return shape;
}

class Speculative final : public LatencyModel {
 public:
  Speculative(std::unique_ptr<LatencyModel> target, const SpeculativeOptions& options)
      : target_(std::move(target)),
        verified_(options.draft_tokens + 1),
        draft_weight_(static_cast<double>(options.draft_tokens) * options.draft_cost),
        yield_(expected_tokens(options)) {}

  std::string_view name() const override { return target_->name(); }

  StepCost cost(const StepShape& shape) const override {
    if (shape.decode_sequences == 0) return target_->cost(shape);
    const StepShape decodes = decode_part(shape);
    const StepCost plain = target_->cost(decodes);
    const StepCost verification = target_->cost(verifying(decodes, verified_));
    StepCost cost{.first_ns = (verification.first_ns + draft_weight_ * plain.first_ns) / yield_,
                  .growth_ns = (verification.growth_ns + draft_weight_ * plain.growth_ns) / yield_,
                  .valid_steps = std::min(verification.valid_steps, plain.valid_steps)};
    if (shape.prefill_tokens == 0) return cost;
    const StepCost mixed = target_->cost(verifying(shape, verified_));
    cost.first_ns += std::max(0.0, mixed.first_ns - verification.first_ns);
    cost.growth_ns = mixed.growth_ns;
    cost.valid_steps = mixed.valid_steps;
    return cost;
  }

 private:
  std::unique_ptr<LatencyModel> target_;
  std::int64_t verified_;  // tokens of each sequence in a verification
  double draft_weight_;    // decode steps' worth of drafting before one
  double yield_;           // tokens of each sequence that come of one
};

}  // namespace

std::optional<SpeculativeOptions> read_speculative(ConfigReader& engine) {
  std::optional<ConfigReader> reader = engine.optional_map(
      "speculative", "a draft proposes tokens that the model verifies together (docs/latency.md)");
  if (!reader) return std::nullopt;
  SpeculativeOptions options;
  options.draft_tokens = reader->integer(
      "draft_tokens", {.min = 1,
                       .max = 64,
                       .unit = "tokens",
                       .doc = "tokens that are proposed for each sequence at a time"});
  options.acceptance_rate = reader->number(
      "acceptance_rate", {.min = 0,
                          .max = 1,
                          .unit = "fraction",
                          .doc = "probability that a proposed token is kept, if those before it "
                                 "are"});
  options.draft_cost = reader->number(
      "draft_cost", {.fallback = options.draft_cost,
                     .min = 0,
                     .max = 10,
                     .unit = "fraction",
                     .doc = "time to propose one token, as a part of a decode step of the model"});
  reader->finish();
  return options;
}

double expected_tokens(const SpeculativeOptions& options) {
  double tokens = 1;
  for (std::int64_t i = 0; i < options.draft_tokens; ++i) {
    tokens = 1 + options.acceptance_rate * tokens;
  }
  return tokens;
}

std::unique_ptr<LatencyModel> make_speculative(std::unique_ptr<LatencyModel> target,
                                               const SpeculativeOptions& options) {
  return std::make_unique<Speculative>(std::move(target), options);
}

}  // namespace inferscale

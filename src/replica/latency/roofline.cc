#include "replica/latency/roofline.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "catalog/weight_memory.h"
#include "replica/latency/expert_routing.h"
#include "replica/latency/link_costs.h"

namespace inferscale {
namespace {

// a + b x over the step's growing context x.
struct Line {
  double first = 0;
  double growth = 0;
  Line divided_by(double parts) const { return {first / parts, growth / parts}; }
};

// A figure of layers with full attention, and of those with a window.
struct ByAttention {
  double full = 0;
  double window = 0;
};

class Roofline final : public LatencyModel {
 public:
  Roofline(const ModelSpec& model, const HardwareSpec& hardware, const DeploymentShape& shape,
           const LatencyScales& scales);

  std::string_view name() const override { return "roofline"; }
  StepCost cost(const StepShape& shape) const override;

 private:
  void set_layers(const ModelSpec& model, const DeploymentShape& shape);
  void set_compute(const ModelSpec& model, const HardwareSpec& hardware,
                   const DeploymentShape& shape);
  void set_memory(const ModelSpec& model, const HardwareSpec& hardware,
                  const DeploymentShape& shape);

  StepCost plain_cost(const StepShape& shape) const;
  // Not inlined: what it keeps at hand would cost every plain step.
  [[gnu::noinline]] StepCost full_cost(const StepShape& shape) const;
  StepCost unscaled(const StepShape& shape) const;
  StepCost through_all_stages(const StepShape& shape) const;
  Line compute_line(const StepShape& shape) const;
  Line kv_line(const StepShape& shape) const;
  double expert_ns(std::int64_t tokens) const;

  LatencyScales scales_;
  std::int64_t stages_ = 1;
  std::int64_t window_ = 0;
  // Layers, where every stage counts as the fullest.
  double layers_ = 0;
  double moe_layers_ = 0;
  ByAttention attention_layers_;
  // Nanoseconds by unit of work, at the achievable rates of all accelerators of a stage together.
  double compute_per_token_ = 0;   // dense products of the layers
  double compute_per_sample_ = 0;  // output projection, one for each sequence
  ByAttention compute_per_pair_;
  double memory_weights_ = 0;      // all weights but routed experts and the input embedding
  ByAttention memory_per_kv_;      // one token's K and V, read or written
  double memory_all_experts_ = 0;  // every routed expert of every MoE layer
  std::optional<MoeSpec> moe_;
  std::int64_t token_sources_ = 1;  // data ranks whose tokens visit the same experts
  LinkCosts links_;
  double overhead_step_ = 0;
  double overhead_sequence_ = 0;
  bool is_plain_ = false;  // no windows, no stages, no routed experts, no links, no scales
};

double attention_flops_per_pair_and_layer(const ModelSpec& model) {
  const double heads = static_cast<double>(model.heads);
  if (model.mla) {
    const double rank = static_cast<double>(model.mla->kv_lora_rank);
    const double rope = static_cast<double>(model.mla->qk_rope_head_dim);
    return 2.0 * heads * (2.0 * rank + rope);
  }
  return 4.0 * heads * static_cast<double>(model.head_dim);
}

Roofline::Roofline(const ModelSpec& model, const HardwareSpec& hardware,
                   const DeploymentShape& shape, const LatencyScales& scales)
    : scales_(scales), stages_(shape.pipeline), window_(model.sliding_window), moe_(model.moe) {
  CHECK(hardware.flops_16bit > 0 && hardware.memory_bandwidth > 0) << hardware.name;
  CHECK(hardware.compute_efficiency > 0 && hardware.memory_efficiency > 0) << hardware.name;
  set_layers(model, shape);
  set_compute(model, hardware, shape);
  set_memory(model, hardware, shape);
  if (shape.spreads_experts()) token_sources_ = shape.data;
  links_ = link_costs(model, hardware, shape);
  overhead_step_ = hardware.step_overhead_s * 1e9;
  overhead_sequence_ = hardware.sequence_overhead_s * 1e9;
  is_plain_ = window_ == 0 && stages_ == 1 && memory_all_experts_ == 0 && links_.fixed_ns == 0 &&
              links_.ns_per_token == 0 && scales.prefill == 1.0 && scales.decode == 1.0;
}

void Roofline::set_layers(const ModelSpec& model, const DeploymentShape& shape) {
  const double real = static_cast<double>(model.layers);
  const double uneven =
      static_cast<double>(shape.pipeline * shape.stage_layers(model.layers)) / real;
  const double windowed =
      model.sliding_window > 0 ? static_cast<double>(model.sliding_window_layers) : 0.0;
  layers_ = uneven * real;
  moe_layers_ = uneven * static_cast<double>(model.moe_layers());
  attention_layers_ = {.full = uneven * (real - windowed), .window = uneven * windowed};
}

void Roofline::set_compute(const ModelSpec& model, const HardwareSpec& hardware,
                           const DeploymentShape& shape) {
  const double ranks = static_cast<double>(shape.tensor);
  const double ns_per_flop = 1e9 / (ranks * hardware.flops_16bit * hardware.compute_efficiency);
  const double peak =
      shape.compute_8bit && hardware.flops_8bit > 0 ? hardware.flops_8bit : hardware.flops_16bit;
  const double ns_per_product = 1e9 / (ranks * peak * hardware.compute_efficiency);
  const double attention = layers_ * static_cast<double>(model.attention_parameters_per_layer());
  const double ffn = (layers_ - moe_layers_) * static_cast<double>(model.dense_ffn_parameters());
  const double shared = moe_layers_ * static_cast<double>(model.shared_expert_parameters());
  double routed = 0;
  if (model.moe) {
    routed = moe_layers_ * static_cast<double>(model.moe->experts_per_token) *
             static_cast<double>(model.expert_parameters());
  }
  compute_per_token_ = 2.0 * (attention + ffn + shared + routed) * ns_per_product;
  compute_per_sample_ = 2.0 * static_cast<double>(model.embedding_parameters()) * ns_per_flop;
  const double pair = attention_flops_per_pair_and_layer(model);
  compute_per_pair_ = {.full = attention_layers_.full * pair * ns_per_flop,
                       .window = attention_layers_.window * pair * ns_per_flop};
}

void Roofline::set_memory(const ModelSpec& model, const HardwareSpec& hardware,
                          const DeploymentShape& shape) {
  const double ranks = static_cast<double>(shape.tensor);
  const double ns_per_byte = 1e9 / (ranks * hardware.memory_bandwidth * hardware.memory_efficiency);
  const double attention = layers_ * static_cast<double>(model.attention_parameters_per_layer());
  const double ffn = (layers_ - moe_layers_) * static_cast<double>(model.dense_ffn_parameters());
  const double shared = moe_layers_ * static_cast<double>(model.shared_expert_parameters());
  const double linear_bytes = (attention + ffn + shared) * shape.linear_bits() / 8.0;
  const double head_bytes =
      static_cast<double>(model.embedding_parameters()) * DeploymentShape::kEmbeddingBits / 8.0;
  memory_weights_ = (linear_bytes + head_bytes) * ns_per_byte;
  // Heads that repeat because they are fewer than the accelerators are read on each.
  const double kv = ranks * kv_bytes_per_layer_per_accelerator(model, shape);
  memory_per_kv_ = {.full = attention_layers_.full * kv * ns_per_byte,
                    .window = attention_layers_.window * kv * ns_per_byte};
  if (!model.moe) return;
  double experts = static_cast<double>(model.moe->experts);
  if (shape.spreads_experts()) {
    const std::int64_t each = (model.moe->experts + shape.expert - 1) / shape.expert;
    experts = static_cast<double>(each) * ranks;
  }
  memory_all_experts_ = moe_layers_ * experts * static_cast<double>(model.expert_parameters()) *
                        shape.expert_bits() / 8.0 * ns_per_byte;
}

double Roofline::expert_ns(std::int64_t tokens) const {
  if (memory_all_experts_ == 0) return 0;
  return memory_all_experts_ * visited_part(*moe_, tokens * token_sources_);
}

// The larger of two lines, as far as it stays the larger.
inline StepCost upper(const Line& a, const Line& b) {
  const bool a_leads = a.first > b.first || (a.first == b.first && a.growth >= b.growth);
  const Line& lead = a_leads ? a : b;
  const Line& other = a_leads ? b : a;
  StepCost cost{.first_ns = lead.first, .growth_ns = lead.growth};
  if (other.growth > lead.growth) {
    // At least 0, so cutting it to an integer is its floor.
    const double steps = (lead.first - other.first) / (other.growth - lead.growth);
    if (steps < 1e15) cost.valid_steps = static_cast<std::int64_t>(steps) + 1;
  }
  return cost;
}

std::int64_t tokens_of(const StepShape& shape) {
  return shape.decode_sequences * shape.decode_tokens + shape.prefill_tokens;
}

Line Roofline::compute_line(const StepShape& shape) const {
  const double sequences = static_cast<double>(shape.decode_sequences);
  const double each = static_cast<double>(shape.decode_tokens);
  // The j-th of a sequence's tokens attends to j - 1 more than the first; within a window, not.
  const double pairs = each * static_cast<double>(shape.decode_context) +
                       sequences * each * (each - 1.0) / 2.0 + shape.prefill_pairs;
  const double samples = sequences * each + static_cast<double>(shape.prefill_sequences);
  Line line{.first = compute_per_token_ * static_cast<double>(tokens_of(shape)) +
                     compute_per_sample_ * samples + compute_per_pair_.full * pairs,
            .growth = compute_per_pair_.full * each * sequences};
  if (window_ == 0) return line;
  const double window_pairs =
      each * static_cast<double>(shape.decode_window_context) + shape.prefill_window_pairs;
  line.first += compute_per_pair_.window * window_pairs;
  line.growth += compute_per_pair_.window * each * static_cast<double>(shape.decode_growing);
  return line;
}

Line Roofline::kv_line(const StepShape& shape) const {
  const std::int64_t tokens = tokens_of(shape);
  const double full = static_cast<double>(shape.decode_context + shape.prefill_context + tokens);
  Line line{.first = memory_per_kv_.full * full,
            .growth = memory_per_kv_.full * static_cast<double>(shape.decode_sequences)};
  if (window_ == 0) return line;
  const std::int64_t within = std::min(shape.prefill_context, shape.prefill_sequences * window_);
  const double window = static_cast<double>(shape.decode_window_context + within + tokens);
  line.first += memory_per_kv_.window * window;
  line.growth += memory_per_kv_.window * static_cast<double>(shape.decode_growing);
  return line;
}

// `inline`: only pipelines call it a second time.
inline StepCost Roofline::through_all_stages(const StepShape& shape) const {
  std::int64_t batch_tokens = tokens_of(shape);
  Line compute = compute_line(shape);
  Line memory = kv_line(shape);
  if (stages_ > 1) {
    const std::int64_t batches = std::clamp<std::int64_t>(batch_tokens, 1, stages_);
    batch_tokens = (batch_tokens + batches - 1) / batches;
    compute = compute.divided_by(static_cast<double>(batches));
    memory = memory.divided_by(static_cast<double>(batches));
  }
  memory.first = memory_weights_ + expert_ns(batch_tokens) + memory.first;
  StepCost cost = upper(compute, memory);
  cost.first_ns =
      cost.first_ns + links_.fixed_ns + links_.ns_per_token * static_cast<double>(batch_tokens);
  return cost;
}

StepCost Roofline::unscaled(const StepShape& shape) const {
  StepCost cost = through_all_stages(shape);
  if (stages_ > 1 && shape.prefill_tokens > 0) {
    const double stages = static_cast<double>(stages_);
    cost.first_ns += (stages - 1.0) / stages * through_all_stages(prompt_part(shape)).first_ns;
  }
  const double sequences = static_cast<double>(shape.decode_sequences + shape.prefill_sequences);
  cost.first_ns = cost.first_ns + overhead_step_ + overhead_sequence_ * sequences;
  return cost;
}

// What cost() comes to, to the bit, where every term that is left out here is 0 and every factor 1.
inline StepCost Roofline::plain_cost(const StepShape& shape) const {
  const std::int64_t new_tokens = shape.decode_sequences + shape.prefill_tokens;
  const double tokens = static_cast<double>(new_tokens);
  const double decodes = static_cast<double>(shape.decode_sequences);
  const double sequences = static_cast<double>(shape.decode_sequences + shape.prefill_sequences);
  const double pairs = static_cast<double>(shape.decode_context) + shape.prefill_pairs;
  const double read =
      static_cast<double>(shape.decode_context + shape.prefill_context + new_tokens);
  const Line compute = {.first = compute_per_token_ * tokens + compute_per_sample_ * sequences +
                                 compute_per_pair_.full * pairs,
                        .growth = compute_per_pair_.full * decodes};
  const Line memory = {.first = memory_weights_ + memory_per_kv_.full * read,
                       .growth = memory_per_kv_.full * decodes};
  StepCost cost = upper(compute, memory);
  cost.first_ns = cost.first_ns + overhead_step_ + overhead_sequence_ * sequences;
  if (shape.prefill_tokens == 0) return cost;
  return {.first_ns = cost.first_ns, .growth_ns = 0, .valid_steps = 1};
}

StepCost Roofline::full_cost(const StepShape& shape) const {
  const double decode_ns =
      needs_decode_part(scales_, shape) ? unscaled(decode_part(shape)).first_ns : 0.0;
  return scaled(scales_, shape, unscaled(shape), decode_ns);
}

StepCost Roofline::cost(const StepShape& shape) const {
  return is_plain_ && shape.decode_tokens == 1 ? plain_cost(shape) : full_cost(shape);
}

}  // namespace

std::unique_ptr<LatencyModel> make_roofline(const ModelSpec& model, const HardwareSpec& hardware,
                                            const DeploymentShape& shape,
                                            const LatencyScales& scales) {
  return std::make_unique<Roofline>(model, hardware, shape, scales);
}

}  // namespace inferscale

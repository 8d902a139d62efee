#include "replica/latency/roofline.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "catalog/weight_memory.h"

namespace inferscale {
namespace {

// a + b x over the step's growing context x.
struct Line {
  double first = 0;
  double growth = 0;
};

// base^n for n >= 0 by squaring: only multiplications, so the same bits everywhere.
double power(double base, std::int64_t n) {
  double result = 1.0;
  for (; n > 0; n >>= 1) {
    if ((n & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

class Roofline final : public LatencyModel {
 public:
  Roofline(const ModelSpec& model, const HardwareSpec& hardware, const DeploymentShape& shape,
           const LatencyScales& scales);

  std::string_view name() const override { return "roofline"; }
  StepCost cost(const StepShape& shape) const override;

 private:
  double expert_ns(std::int64_t tokens) const;

  LatencyScales scales_;
  // Nanoseconds by unit of work, at the achievable rates of all accelerators together.
  double compute_per_token_ = 0;    // dense products of the layers
  double compute_per_sample_ = 0;   // output projection, one for each sequence
  double compute_per_pair_ = 0;     // attention
  double memory_weights_ = 0;       // all weights but routed experts and the input embedding
  double memory_per_kv_token_ = 0;  // one token's K and V, read or written
  double memory_all_experts_ = 0;   // every routed expert of every MoE layer
  double expert_miss_ = 0;          // 1 - k/E: a token does not visit a given expert
  double collective_fixed_ = 0;
  double collective_per_token_ = 0;
  double overhead_step_ = 0;
  double overhead_sequence_ = 0;
};

double attention_flops_per_pair(const ModelSpec& model) {
  const double layers = static_cast<double>(model.layers);
  const double heads = static_cast<double>(model.heads);
  if (model.mla) {
    const double rank = static_cast<double>(model.mla->kv_lora_rank);
    const double rope = static_cast<double>(model.mla->qk_rope_head_dim);
    return layers * 2.0 * heads * (2.0 * rank + rope);
  }
  return layers * 4.0 * heads * static_cast<double>(model.head_dim);
}

Roofline::Roofline(const ModelSpec& model, const HardwareSpec& hardware,
                   const DeploymentShape& shape, const LatencyScales& scales)
    : scales_(scales) {
  CHECK(hardware.flops_16bit > 0 && hardware.memory_bandwidth > 0) << hardware.name;
  CHECK(hardware.compute_efficiency > 0 && hardware.memory_efficiency > 0) << hardware.name;
  const double ranks = static_cast<double>(shape.tensor);
  const double peak =
      shape.compute_8bit && hardware.flops_8bit > 0 ? hardware.flops_8bit : hardware.flops_16bit;
  const double ns_per_flop = 1e9 / (ranks * peak * hardware.compute_efficiency);
  const double ns_per_byte = 1e9 / (ranks * hardware.memory_bandwidth * hardware.memory_efficiency);

  const double layers = static_cast<double>(model.layers);
  const double moe_layers = static_cast<double>(model.moe_layers());
  const double dense_layers = layers - moe_layers;
  const double attention = layers * static_cast<double>(model.attention_parameters_per_layer());
  const double dense_ffn = dense_layers * static_cast<double>(model.dense_ffn_parameters());
  const double shared = moe_layers * static_cast<double>(model.shared_expert_parameters());
  const double head = static_cast<double>(model.embedding_parameters());

  double routed_per_token = 0;
  if (model.moe) {
    const double expert = static_cast<double>(model.expert_parameters());
    const double experts = static_cast<double>(model.moe->experts);
    const double visited = static_cast<double>(model.moe->experts_per_token);
    routed_per_token = moe_layers * visited * expert;
    memory_all_experts_ = moe_layers * experts * expert * shape.expert_bits() / 8.0 * ns_per_byte;
    expert_miss_ = 1.0 - visited / experts;
  }
  compute_per_token_ = 2.0 * (attention + dense_ffn + shared + routed_per_token) * ns_per_flop;
  compute_per_sample_ = 2.0 * head * ns_per_flop;
  compute_per_pair_ = attention_flops_per_pair(model) * ns_per_flop;
  const double linear_bytes = (attention + dense_ffn + shared) * shape.linear_bits() / 8.0;
  const double head_bytes = head * DeploymentShape::kEmbeddingBits / 8.0;
  memory_weights_ = (linear_bytes + head_bytes) * ns_per_byte;
  // Heads that repeat because they are fewer than the accelerators are read on each.
  memory_per_kv_token_ = ranks * kv_bytes_per_token_per_accelerator(model, shape) * ns_per_byte;

  if (shape.tensor > 1) {
    const double all_reduces = 2.0 * layers;
    const double bytes_per_token = static_cast<double>(model.hidden_dim) * 2.0;
    collective_fixed_ = all_reduces * hardware.link_latency_s * 1e9;
    collective_per_token_ =
        all_reduces * bytes_per_token * 2.0 * (ranks - 1.0) / ranks / hardware.link_bandwidth * 1e9;
  }
  overhead_step_ = hardware.step_overhead_s * 1e9;
  overhead_sequence_ = hardware.sequence_overhead_s * 1e9;
}

double Roofline::expert_ns(std::int64_t tokens) const {
  if (memory_all_experts_ == 0) return 0;
  return memory_all_experts_ * (1.0 - power(expert_miss_, tokens));
}

// The larger of two lines, as far as it stays the larger.
StepCost upper(const Line& a, const Line& b) {
  const bool a_leads = a.first > b.first || (a.first == b.first && a.growth >= b.growth);
  const Line& lead = a_leads ? a : b;
  const Line& other = a_leads ? b : a;
  StepCost cost{.first_ns = lead.first, .growth_ns = lead.growth};
  if (other.growth > lead.growth) {
    const double steps = std::floor((lead.first - other.first) / (other.growth - lead.growth));
    if (steps < 1e15) cost.valid_steps = static_cast<std::int64_t>(steps) + 1;
  }
  return cost;
}

StepCost Roofline::cost(const StepShape& shape) const {
  const std::int64_t token_count = shape.decode_sequences + shape.prefill_tokens;
  const double tokens = static_cast<double>(token_count);
  const double sequences = static_cast<double>(shape.decode_sequences + shape.prefill_sequences);
  const double context = static_cast<double>(shape.decode_context);
  const double grown = static_cast<double>(shape.decode_sequences);

  const Line compute{compute_per_token_ * tokens + compute_per_sample_ * sequences +
                         compute_per_pair_ * (context + shape.prefill_pairs),
                     compute_per_pair_ * grown};
  const Line memory{
      memory_weights_ + expert_ns(token_count) + memory_per_kv_token_ * (context + tokens),
      memory_per_kv_token_ * grown};
  StepCost cost = upper(compute, memory);
  const double scale = shape.prefill_tokens > 0 ? scales_.prefill : scales_.decode;
  cost.first_ns = scale * (cost.first_ns + collective_fixed_ + collective_per_token_ * tokens +
                           overhead_step_ + overhead_sequence_ * sequences);
  cost.growth_ns *= scale;
  return cost;
}

}  // namespace

std::unique_ptr<LatencyModel> make_roofline(const ModelSpec& model, const HardwareSpec& hardware,
                                            const DeploymentShape& shape,
                                            const LatencyScales& scales) {
  return std::make_unique<Roofline>(model, hardware, shape, scales);
}

}  // namespace inferscale

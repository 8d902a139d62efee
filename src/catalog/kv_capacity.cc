#include "catalog/kv_capacity.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

#include "base/check.h"
#include "base/number_text.h"
#include "catalog/weight_memory.h"

namespace inferscale {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr double kActivationBytes = 2;  // bf16
constexpr double kBytesPerLogit = 38;   // see the header
constexpr double kRuntimeBytes = 0.13 * kGib;
constexpr double kCollectiveBytes = 0.42 * kGib;
constexpr std::int64_t kLargestTensor = 64;

// Numbers of the widest part of a layer for one token: what attention or the FFN keeps at once.
double widest_part(const ModelSpec& model, std::int64_t tensor) {
  const double parts = static_cast<double>(tensor);
  const double hidden = static_cast<double>(model.hidden_dim);
  const double head_dim =
      model.mla ? static_cast<double>(model.mla->qk_nope_head_dim + model.mla->qk_rope_head_dim)
                : static_cast<double>(model.head_dim);
  const double query_heads = static_cast<double>(model.heads) / parts;
  const double kv_heads =
      model.mla ? query_heads : static_cast<double>(kv_heads_per_accelerator(model, tensor));
  const double attention = head_dim * (2 * query_heads + 2 * kv_heads);  // q, k, v and the result
  const double matrices = static_cast<double>(model.ffn_matrices);
  double ffn = matrices * static_cast<double>(model.ffn_dim) / parts;
  if (model.moe) {
    // Every visit to an expert has a row of its own; the output of all visits replaces the input.
    const double inner = static_cast<double>(model.moe->expert_ffn_dim) / parts;
    const double visits = static_cast<double>(model.moe->experts_per_token);
    const double expert = visits * (std::max((matrices - 1) * inner, hidden) + inner);
    ffn = model.moe->dense_layers > 0 ? std::max(ffn, expert) : expert;
  }
  return std::max(attention, ffn);
}

double activation_bytes(const ModelSpec& model, std::int64_t tensor,
                        const KvCapacityOptions& options) {
  const double tokens = static_cast<double>(options.max_num_batched_tokens);
  const double sequences = static_cast<double>(options.max_num_seqs);
  const double hidden = static_cast<double>(model.hidden_dim);
  const double layer = tokens * kActivationBytes * (2 * hidden + widest_part(model, tensor));
  const double sampling = tokens * kActivationBytes * hidden +
                          sequences * static_cast<double>(model.vocab) * kBytesPerLogit;
  return std::max(layer, sampling);
}

KvCapacity divide_memory(const ModelSpec& model, const HardwareSpec& hardware,
                         const DeploymentShape& shape, const KvCapacityOptions& options) {
  KvCapacity capacity;
  capacity.weight_bytes = weight_bytes_per_accelerator(model, shape);
  capacity.activation_bytes = activation_bytes(model, shape.tensor, options);
  const bool shared = shape.tensor > 1 || shape.pipeline > 1 || shape.expert > 1;
  capacity.overhead_bytes =
      kRuntimeBytes + (shared ? kCollectiveBytes : 0) + options.cuda_graph_bytes;
  capacity.usable_bytes = options.gpu_memory_utilization * hardware.memory_bytes -
                          capacity.weight_bytes - capacity.activation_bytes -
                          capacity.overhead_bytes;
  capacity.groups = kv_groups(model, options.windows);
  capacity.bytes_per_token = kv_bytes_per_token_per_accelerator(model, shape);
  capacity.bytes_per_block = static_cast<double>(options.kv_block_tokens) *
                             static_cast<double>(shape.stage_layers(capacity.groups.layers)) *
                             kv_bytes_per_layer_per_accelerator(model, shape);
  capacity.blocks =
      static_cast<BlockCount>(std::floor(capacity.usable_bytes / capacity.bytes_per_block));
  capacity.tokens = capacity.blocks / capacity.groups.count() * options.kv_block_tokens;
  return capacity;
}

std::optional<std::int64_t> smallest_tensor_that_fits(const ModelSpec& model,
                                                      const HardwareSpec& hardware,
                                                      DeploymentShape shape,
                                                      const KvCapacityOptions& options) {
  for (shape.tensor += 1; shape.tensor <= kLargestTensor; ++shape.tensor) {
    if (model.heads % shape.tensor != 0) continue;
    if (shape.spreads_experts()) shape.expert = shape.tensor * shape.data;
    if (divide_memory(model, hardware, shape, options).blocks >= 1) return shape.tensor;
  }
  return std::nullopt;
}

std::string gib_text(double bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f GiB", bytes / kGib);
  return text;
}

}  // namespace

Result<KvCapacity> kv_capacity(const ModelSpec& model, const HardwareSpec& hardware,
                               const DeploymentShape& shape, const KvCapacityOptions& options) {
  CHECK(options.kv_block_tokens >= 1) << "blocks of " << options.kv_block_tokens << " tokens";
  CHECK(shape.tensor >= 1) << "tensor parallelism of " << shape.tensor;
  KvCapacity capacity = divide_memory(model, hardware, shape, options);
  if (capacity.blocks >= 1) return capacity;
  const double block = capacity.bytes_per_block;
  const double needed =
      capacity.weight_bytes + capacity.activation_bytes + capacity.overhead_bytes + block;
  const double there = options.gpu_memory_utilization * hardware.memory_bytes;
  const auto fitting = smallest_tensor_that_fits(model, hardware, shape, options);
  return fail(
      ErrorCode::kInvalidConfig,
      model.name + " with tensor: " + std::to_string(shape.tensor) + " does not fit on " +
          hardware.name + ": each accelerator needs at least " + gib_text(needed) + " (weights " +
          gib_text(capacity.weight_bytes) + ", activations " + gib_text(capacity.activation_bytes) +
          ", runtime " + gib_text(capacity.overhead_bytes) + ", one KV block " + gib_text(block) +
          ") and has " + gib_text(there) + " (" + number_text(options.gpu_memory_utilization) +
          " of " + gib_text(hardware.memory_bytes) + "); " +
          (fitting ? "the smallest tensor parallelism that fits is " + std::to_string(*fitting)
                   : "no tensor parallelism up to " + std::to_string(kLargestTensor) + " fits"));
}

}  // namespace inferscale

#include "catalog/model_spec.h"

namespace inferscale {
namespace {

// Queries come from the hidden state or, when compressed, through a vector of q_lora_rank.
std::int64_t mla_parameters(const MlaSpec& mla, std::int64_t hidden, std::int64_t heads) {
  const std::int64_t query_width = heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim);
  const std::int64_t queries = mla.q_lora_rank > 0
                                   ? hidden * mla.q_lora_rank + mla.q_lora_rank * query_width
                                   : hidden * query_width;
  const std::int64_t compress = hidden * (mla.kv_lora_rank + mla.qk_rope_head_dim);
  const std::int64_t expand = mla.kv_lora_rank * heads * (mla.qk_nope_head_dim + mla.v_head_dim);
  const std::int64_t output = heads * mla.v_head_dim * hidden;
  return queries + compress + expand + output;
}

}  // namespace

std::int64_t ModelSpec::attention_parameters_per_layer() const {
  if (mla) return mla_parameters(*mla, hidden_dim, heads);
  const std::int64_t query_and_output = 2 * hidden_dim * heads * head_dim;
  const std::int64_t key_and_value = 2 * hidden_dim * kv_heads * head_dim;
  return query_and_output + key_and_value;
}

std::int64_t ModelSpec::dense_ffn_parameters() const {
  return ffn_matrices * hidden_dim * ffn_dim;
}

std::int64_t ModelSpec::expert_parameters() const {
  return moe ? ffn_matrices * hidden_dim * moe->expert_ffn_dim : 0;
}

std::int64_t ModelSpec::shared_expert_parameters() const {
  return moe ? ffn_matrices * hidden_dim * moe->shared_ffn_dim : 0;
}

std::int64_t ModelSpec::moe_layers() const {
  return moe ? layers - moe->dense_layers : 0;
}

std::int64_t ModelSpec::embedding_parameters() const {
  return vocab * hidden_dim;
}

std::int64_t ModelSpec::total_parameters() const {
  const std::int64_t norms = (2 * layers + 1) * hidden_dim;
  std::int64_t total = (tied_embeddings ? 1 : 2) * embedding_parameters() + norms +
                       layers * attention_parameters_per_layer() +
                       (layers - moe_layers()) * dense_ffn_parameters();
  if (moe) {
    const std::int64_t router = hidden_dim * moe->experts;
    total +=
        moe_layers() * (moe->experts * expert_parameters() + shared_expert_parameters() + router);
  }
  return total;
}

std::int64_t ModelSpec::kv_elements_per_token() const {
  if (mla) return layers * (mla->kv_lora_rank + mla->qk_rope_head_dim);
  return 2 * layers * kv_heads * head_dim;
}

}  // namespace inferscale

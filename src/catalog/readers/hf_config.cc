#include "catalog/readers/hf_config.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/edge/input_file.h"
#include "catalog/models.h"
#include "catalog/readers/hf_architectures.h"
#include "catalog/readers/hf_context.h"
#include "catalog/readers/hf_fields.h"
#include "catalog/readers/hf_quantisation.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kMaxBytes = 4 << 20;
constexpr double kMaxParameters = 1e15;

// Layers of `layers` that are MoE layers when every `step`-th is.
std::int64_t every_nth(std::int64_t layers, std::int64_t step) {
  return layers / step;
}

MoeSpec read_deepseek_experts(HfFields& config) {
  MoeSpec moe;
  moe.experts = config.integer("n_routed_experts", 1);
  moe.experts_per_token = config.integer("num_experts_per_tok", 1);
  moe.expert_ffn_dim = config.integer("moe_intermediate_size", 1);
  moe.shared_ffn_dim = moe.expert_ffn_dim * config.integer("n_shared_experts", 0, 0);
  moe.dense_layers = config.integer("first_k_dense_replace", 0, 0);
  return moe;
}

MoeSpec read_qwen_experts(HfFields& config, std::int64_t layers) {
  MoeSpec moe;
  moe.experts = config.integer("num_experts", 1);
  moe.experts_per_token = config.integer("num_experts_per_tok", 1);
  moe.expert_ffn_dim = config.integer("moe_intermediate_size", 1);
  moe.shared_ffn_dim = config.integer("shared_expert_intermediate_size", 0, 0);
  // Layers that would be MoE layers but for being listed in mlp_only_layers.
  moe.dense_layers = layers - every_nth(layers, config.integer("decoder_sparse_step", 1, 1)) +
                     config.list_size("mlp_only_layers");
  return moe;
}

MoeSpec read_mixtral_experts(HfFields& config) {
  MoeSpec moe;
  moe.experts = config.integer("num_local_experts", 1);
  moe.experts_per_token = config.has("num_experts_per_tok")
                              ? config.integer("num_experts_per_tok", 1)
                              : config.integer("experts_per_token", 1);
  moe.expert_ffn_dim = config.integer("intermediate_size", 1);
  return moe;
}

MoeSpec read_llama4_experts(HfFields& config, std::int64_t layers) {
  MoeSpec moe = read_mixtral_experts(config);
  moe.shared_ffn_dim = moe.expert_ffn_dim;
  moe.dense_layers = layers - every_nth(layers, config.integer("interleave_moe_layer_step", 1, 1));
  return moe;
}

std::optional<MoeSpec> read_experts(HfFields& config, HfExperts kind, std::int64_t layers) {
  switch (kind) {
    case HfExperts::kNone:
      return std::nullopt;
    case HfExperts::kMixtral:
      return read_mixtral_experts(config);
    case HfExperts::kQwen:
      return read_qwen_experts(config, layers);
    case HfExperts::kDeepseek:
      if (!config.has("n_routed_experts")) return std::nullopt;
      return read_deepseek_experts(config);
    case HfExperts::kLlama4:
      return read_llama4_experts(config, layers);
  }
  return std::nullopt;
}

void read_attention(HfFields& config, const HfArchitecture& architecture, ModelSpec& model) {
  model.heads = config.integer("num_attention_heads", 1);
  model.kv_heads = config.integer("num_key_value_heads", 1, model.heads);
  if (model.heads % model.kv_heads != 0) {
    config.fail("num_key_value_heads",
                "a divisor of num_attention_heads (" + std::to_string(model.heads) + ")");
  }
  if (architecture.latent_attention) {
    model.mla = MlaSpec{.kv_lora_rank = config.integer("kv_lora_rank", 1),
                        .q_lora_rank = config.integer("q_lora_rank", 0, 0),
                        .qk_rope_head_dim = config.integer("qk_rope_head_dim", 1),
                        .qk_nope_head_dim = config.integer("qk_nope_head_dim", 1),
                        .v_head_dim = config.integer("v_head_dim", 1)};
    model.head_dim = model.mla->qk_nope_head_dim + model.mla->qk_rope_head_dim;
    return;
  }
  const std::int64_t by_default = architecture.default_head_dim > 0
                                      ? architecture.default_head_dim
                                      : model.hidden_dim / model.heads;
  if (!config.has("head_dim") && architecture.default_head_dim == 0 &&
      model.hidden_dim % model.heads != 0) {
    config.fail("head_dim", "a whole number, since hidden_size (" +
                                std::to_string(model.hidden_dim) +
                                ") is not a multiple of num_attention_heads");
  }
  model.head_dim = config.integer("head_dim", 1, by_default);
}

// The number of layers with a sliding window, when there is one.
std::int64_t windowed_layers(HfFields& config, HfWindow kind, std::int64_t layers) {
  const std::vector<std::string> types = config.texts("layer_types");
  if (!types.empty()) return std::count(types.begin(), types.end(), "sliding_attention");
  switch (kind) {
    case HfWindow::kNone:
      return 0;
    case HfWindow::kAll:
      return layers;
    case HfWindow::kAlternating:
      return (layers + 1) / 2;
    case HfWindow::kFiveOfSix: {
      const std::int64_t pattern = config.integer("sliding_window_pattern", 1, 6);
      return layers - layers / pattern;
    }
    case HfWindow::kAsQwen:
      if (!config.boolean("use_sliding_window", false)) return 0;
      return std::max<std::int64_t>(0, layers - config.integer("max_window_layers", 0, layers));
  }
  return 0;
}

void read_window(HfFields& config, const HfArchitecture& architecture, ModelSpec& model) {
  if (architecture.window == HfWindow::kNone || !config.has("sliding_window")) return;
  const std::int64_t window = config.integer("sliding_window", 1);
  const std::int64_t layers = windowed_layers(config, architecture.window, model.layers);
  if (layers == 0) return;
  model.sliding_window = window;
  model.sliding_window_layers = layers;
}

// `config` is the text part, `whole` the file: quantisation and tying may stand in either.
ModelSpec read_shape(HfFields& config, HfFields& whole, const HfArchitecture& architecture) {
  ModelSpec model;
  model.layers = config.integer("num_hidden_layers", 1);
  model.hidden_dim = config.integer("hidden_size", 1);
  model.vocab = config.integer("vocab_size", 1);
  model.ffn_dim = config.has("intermediate_size_mlp") ? config.integer("intermediate_size_mlp", 1)
                                                      : config.integer("intermediate_size", 1);
  read_attention(config, architecture, model);
  read_window(config, architecture, model);
  model.moe = read_experts(config, architecture.experts, model.layers);
  if (model.moe && model.moe->dense_layers > model.layers) {
    config.fail("num_hidden_layers", "at least the number of dense layers (" +
                                         std::to_string(model.moe->dense_layers) + ")");
  }
  if (model.moe && model.moe->experts_per_token > model.moe->experts) {
    config.fail("num_experts_per_tok",
                "at most the number of experts (" + std::to_string(model.moe->experts) + ")");
  }
  model.max_context = read_max_context(config, architecture.context_is_final);
  const bool tied = whole.boolean("tie_word_embeddings", architecture.tied_by_default);
  model.tied_embeddings = config.boolean("tie_word_embeddings", tied);
  model.native_weight_bits = config.has("quantization_config") ? read_native_weight_bits(config)
                                                               : read_native_weight_bits(whole);
  return model;
}

// An upper bound on the number of parameters, in floating point: sizes from a damaged file must not
// overflow the counts that follow from them.
double parameter_bound(const ModelSpec& model) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  double attention = 4 * real(model.heads) * real(model.head_dim);
  double latent = 0;
  if (model.mla) {
    latent = real(model.mla->kv_lora_rank) + real(model.mla->q_lora_rank) +
             real(model.mla->qk_rope_head_dim);
    attention += real(model.heads) * real(model.mla->v_head_dim);
  }
  double ffn = 3 * real(model.ffn_dim);
  if (model.moe) {
    ffn += 3 * real(model.moe->experts) * real(model.moe->expert_ffn_dim) +
           3 * real(model.moe->shared_ffn_dim) + real(model.moe->experts);
  }
  const double hidden = real(model.hidden_dim);
  return real(model.layers) * ((hidden + latent) * (attention + latent) + hidden * (ffn + 2)) +
         2 * real(model.vocab) * hidden;
}

// The name of the folder that holds the file; of files with a name of their own, that name.
std::string name_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path().filename();
  return file.filename() == "config.json" && !folder.empty() && folder != "." && folder != ".."
             ? folder.string()
             : file.stem().string();
}

}  // namespace

Result<ModelSpec> parse_hf_config(const std::string& text, const std::string& source,
                                  const std::string& name) {
  Result<nlohmann::json> parsed = parse_json_object(text, source);
  if (!parsed) return std::unexpected(parsed.error());
  HfFields whole(*parsed, source);
  const std::vector<std::string> architectures = whole.texts("architectures");
  const HfArchitecture* architecture =
      architectures.empty() ? nullptr : find_hf_architecture(architectures.front());
  if (architecture == nullptr) {
    whole.fail("architectures", "a list that begins with one of " + known_hf_architectures());
    return std::unexpected(whole.error());
  }
  // Multimodal models keep the language model's shape one level down.
  const std::optional<HfFields> text_part = whole.object("text_config");
  HfFields config = text_part ? *text_part : whole;
  ModelSpec model = read_shape(config, whole, *architecture);
  if (!(parameter_bound(model) < kMaxParameters)) {
    config.fail("hidden_size", "sizes of a model with less than 10^15 parameters");
  }
  whole.join(config);
  if (whole.failed()) return std::unexpected(whole.error());
  model.name = name;
  model.source = "config.json of " + name;
  return model;
}

Result<ModelSpec> read_hf_config(const std::string& path) {
  std::filesystem::path file(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) file /= "config.json";
  const Result<std::string> text = read_file(file.string(), kMaxBytes);
  if (!text) return std::unexpected(text.error());
  return parse_hf_config(*text, file.string(), name_of(file.lexically_normal()));
}

Result<ModelSpec> resolve_model(const std::string& name_or_path, const std::string& base_folder) {
  Result<ModelSpec> known = find_model(name_or_path);
  if (known) return known;
  const std::filesystem::path path = std::filesystem::path(base_folder) / name_or_path;
  std::error_code ignored;
  const bool looks_like_path = name_or_path.ends_with(".json") || name_or_path.starts_with("/") ||
                               name_or_path.starts_with("./") || name_or_path.starts_with("../");
  const bool exists = !name_or_path.empty() && std::filesystem::exists(path, ignored);
  if (exists || looks_like_path) return read_hf_config(path.string());
  return known;
}

}  // namespace inferscale

#include "cli/run_loading.h"

#include "base/edge/yaml_config.h"
#include "base/number_text.h"
#include "catalog/readers/hf_config.h"
#include "cli/example_config.h"
#include "cli/plugin_path.h"
#include "cli/trace_shelf.h"

namespace inferscale {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}
namespace {

Result<void> apply_settings(ConfigNode& tree, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const Result<void> applied = apply_setting(tree, setting);
    if (!applied) return applied;
  }
  return {};
}

}  // namespace

Result<ConfigNode> read_config_text(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& settings) {
  Result<ConfigNode> tree = parse_yaml(text, name);
  if (!tree) return tree;
  if (const Result<void> applied = apply_settings(*tree, settings); !applied) {
    return std::unexpected(applied.error());
  }
  if (const Result<void> ready = prepare_admission(*tree, ""); !ready) {
    return std::unexpected(ready.error());
  }
  return tree;
}

const ExampleConfig kChatExample{.text = kExampleConfig, .name = kExampleConfigName};

Result<ConfigNode> read_config_tree(const std::string& path,
                                    const std::vector<std::string>& settings,
                                    const ExampleConfig& example) {
  if (path.empty()) return read_config_text(example.text, std::string(example.name), settings);
  Result<ConfigNode> tree = read_yaml_file(path);
  if (!tree) return tree;
  if (tree->is_null()) {
    return fail(ErrorCode::kInvalidConfig,
                "the configuration is empty: expected a map of keys (see 'inferscale config "
                "example')",
                path);
  }
  if (const Result<void> applied = apply_settings(*tree, settings); !applied) {
    return std::unexpected(applied.error());
  }
  if (const Result<void> ready = prepare_admission(*tree, folder_of(path)); !ready) {
    return std::unexpected(ready.error());
  }
  return tree;
}

namespace {

// The key by which prompts have something in common; empty when they do not.
std::string shared_content(const PreparedRun& run) {
  const WorkloadOptions& workload = run.config.workload;
  if (workload.shared_prefix) return "workload.shared_prefix";
  if (workload.trace) {
    return run.trace != nullptr && run.trace->content.any() ? "workload.trace" : "";
  }
  if (workload.sessions) return "workload.sessions";
  if (workload.generated.prefixes) return "workload.prefixes";
  return workload.generated.conversations ? "workload.conversations" : "";
}

// Of prompts and prefix caches that have nothing to do with each other; empty when all is well.
std::string prefix_note(const PreparedRun& run) {
  const std::string shared = shared_content(run);
  // Sessions with a cache that they can't use are an error; those that want none have said so.
  if (run.programs) return {};
  if (run.deployment.caches_prefixes() == !shared.empty()) return {};
  if (!shared.empty()) {
    return "Prompts share prefixes (" + shared +
           "), and no replica keeps them: deployment.engine.prefix_caching is false.";
  }
  return "Nothing is known of what prompts share, so the prefix cache finds nothing: " +
         std::string(run.trace ? "the trace has no block hashes (a session column alone shares "
                                 "nothing); workload.shared_prefix can say it."
                               : "workload.prefixes, workload.conversations or "
                                 "workload.shared_prefix say it.");
}

}  // namespace

std::vector<std::string> workload_notes(const PreparedRun& run) {
  std::vector<std::string> warnings;
  if (run.trace && !run.trace->arrival_ns.empty()) {
    const std::int64_t first = run.trace->arrival_ns.front();
    const std::int64_t span = run.trace->arrival_ns.back() - first;
    if (first > span + 60'000'000'000) {
      warnings.push_back("The trace's first arrival is at " +
                         number_text(1e-9 * static_cast<double>(first)) +
                         " s: the deployment idles until then, and rates, means over time and cost "
                         "count that time.");
    }
  }
  return warnings;
}

std::vector<std::string> derivation_notes(const PreparedRun& run) {
  std::vector<std::string> notes;
  if (run.programs) return run.programs->notes;
  if (!run.trace) return notes;
  for (const std::string& change : run.trace->changes) {
    notes.push_back("Derived workload: " + change + ".");
  }
  return notes;
}

std::vector<std::string> deployment_notes(const PreparedRun& run) {
  std::vector<std::string> warnings;
  if (run.config.deployment.model.sliding_window_layers > 0 &&
      run.config.deployment.engine.prefix_caching) {
    warnings.push_back(
        "With a prefix cache the KV blocks that sliding windows have moved past are kept: KV use "
        "is an upper bound for engines that free them.");
  }
  const DeploymentConfig& deployment = run.config.deployment;
  if (deployment.model.native_weight_bits < deployment.shape.weight_bits) {
    warnings.push_back("The model is published with smaller weights than the " +
                       number_text(deployment.shape.weight_bits) +
                       " bits that are simulated: deployment.precision.weights: native takes them "
                       "as they come.");
  }
  if (const std::string note = prefix_note(run); !note.empty()) warnings.push_back(note);
  for (const std::string& warning : run.deployment.warnings) warnings.push_back(warning);
  for (const Deployment& kind : run.deployment.kinds) {
    const std::optional<KvCapacity>& memory = kind.memory;
    const BlockCount blocks = kind.replica.kv_blocks;
    if (memory && memory->blocks >= blocks) continue;
    warnings.push_back("deployment.engine.kv_cache_tokens asks for " + std::to_string(blocks) +
                       " KV blocks; the memory of the accelerators leaves room for " +
                       std::to_string(memory ? memory->blocks : 0) + ".");
  }
  return warnings;
}

std::vector<std::string> configuration_notes(const PreparedRun& run) {
  std::vector<std::string> all = deployment_notes(run);
  for (const auto& notes : {workload_notes(run), derivation_notes(run)}) {
    all.insert(all.end(), notes.begin(), notes.end());
  }
  return all;
}

Result<void> check_one_config(const std::string& path, bool example, const std::string& what) {
  if (example != path.empty()) {
    return fail(ErrorCode::kInvalidConfig,
                example ? "'" + path + "' and --example: expected one of them"
                        : "expected " + what + ", or --example");
  }
  return {};
}

std::string config_label(const std::string& path, const ExampleConfig& example) {
  return path.empty() ? std::string(example.name) : path;
}

RunInputs inputs_beside(const std::string& path) {
  const std::string folder = folder_of(path);
  auto shelf = std::make_shared<TraceShelf>(folder);
  return {
      .resolve_model = [folder](const std::string& name) { return resolve_model(name, folder); },
      .load_trace = [shelf](const TraceOptions& options, const std::string& written,
                            std::uint64_t seed) { return shelf->take(options, written, seed); },
      .load_sessions =
          [shelf](const SessionTraceOptions& options, const std::string& written) {
            return shelf->take_sessions(options, written);
          }};
}

Result<PreparedRun> load_run(const std::string& path, const std::vector<std::string>& settings,
                             const ExampleConfig& example) {
  const Result<ConfigNode> tree = read_config_tree(path, settings, example);
  if (!tree) return std::unexpected(tree.error());
  return prepare_run(*tree, inputs_beside(path), {}, config_label(path, example));
}

Result<Scenario> load_scenario(const std::string& path, const std::vector<std::string>& settings,
                               const ExampleConfig& example) {
  Result<ConfigNode> tree = read_config_tree(path, settings, example);
  if (!tree) return std::unexpected(tree.error());
  return Scenario::make(std::move(*tree), inputs_beside(path), config_label(path, example));
}

}  // namespace inferscale

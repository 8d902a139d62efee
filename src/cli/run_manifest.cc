#include "cli/run_manifest.h"

#include "base/config_json.h"
#include "cli/version.h"

namespace inferscale {
namespace {

// What follows from the configuration for one kind of replica.
JsonValue derived_facts(const DeploymentConfig& config, const Deployment& kind) {
  const ReplicaOptions& replica = kind.replica;
  JsonValue derived = JsonValue::object();
  derived.add("model", config.model.name);
  derived.add("hardware", config.hardware.name);
  derived.add("accelerators", kind.accelerators);
  derived.add("latency_model", kind.latency->name());
  derived.add("max_model_len", replica.max_model_len);
  derived.add("kv_blocks", replica.kv_blocks);
  derived.add("kv_tokens", kv_tokens(replica));
  derived.add("kv_bytes_per_token", kind.kv_bytes_per_token);
  if (kind.memory) {
    const KvCapacity& memory = *kind.memory;
    // "kv_cache" is what memory leaves for it, also where the configuration gives another size.
    derived.add("bytes_per_accelerator", JsonValue::object()
                                             .add("weights", memory.weight_bytes)
                                             .add("activations", memory.activation_bytes)
                                             .add("overhead", memory.overhead_bytes)
                                             .add("kv_cache", memory.usable_bytes));
  }
  return derived;
}

// The first kind's facts, and where there are several kinds those of each by its group's name.
JsonValue derived_facts(const PreparedRun& run) {
  const std::vector<GroupConfig>& groups = run.config.fleet.groups;
  JsonValue derived = derived_facts(groups[0].deployment, run.deployment.kinds[0]);
  derived.add("accelerators_in_all", run.deployment.accelerators());
  if (groups.size() == 1) return derived;
  JsonValue by_group = JsonValue::object();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    by_group.add(groups[i].name, derived_facts(groups[i].deployment, run.deployment.kinds[i]));
  }
  derived.add("groups", std::move(by_group));
  return derived;
}

}  // namespace

JsonValue run_manifest(const PreparedRun& run, std::span<const std::string> warnings, bool stepwise,
                       bool complete) {
  JsonValue manifest = JsonValue::object();
  manifest.add("simulated", true);
  manifest.add("inferscale", kVersion);
  manifest.add("name", run.config.name);
  manifest.add("seed", run.config.seed);
  manifest.add("mode", stepwise ? "stepwise" : "segments");
  manifest.add("complete", complete);
  manifest.add("config", JsonValue::raw(to_json_text(run.effective)));
  manifest.add("derived", derived_facts(run));
  if (run.trace) {
    manifest.add("trace", JsonValue::object()
                              .add("file", run.trace->file_name)
                              .add("format", trace_format_name(run.trace->format))
                              .add("rows", run.trace->rows())
                              .add("rows_in_file", run.trace->rows_in_file)
                              .add("crc32", run.trace->crc32));
  }
  JsonValue list = JsonValue::array();
  for (const std::string& warning : warnings) list.append(warning);
  manifest.add("warnings", std::move(list));
  return manifest;
}

}  // namespace inferscale

#include "cli/recorded_run.h"

#include "base/config_json.h"
#include "base/edge/input_file.h"
#include "base/edge/yaml_config.h"
#include "cli/plugin_path.h"
#include "report/run_folder_format.h"
#include "study/readers/json_tree.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

std::string text_at(const ConfigNode* map, std::string_view key) {
  const ConfigNode* value = map == nullptr ? nullptr : map->find(key);
  return value == nullptr || value->kind() != ConfigNode::Kind::kScalar ? "" : value->text();
}

std::unexpected<Error> wrong(const std::string& manifest, const std::string& message) {
  return fail(ErrorCode::kInvalidInput, message, manifest);
}

}  // namespace

Result<RecordedRun> read_recorded_run(const std::string& log) {
  RecordedRun run{.manifest = folder_of(log) + std::string(kManifestFile)};
  const Result<std::string> text = read_file(run.manifest, kMostBytes);
  if (!text) {
    return fail(text.error().code,
                text.error().message +
                    ": expected the log in the folder that a run wrote, beside "
                    "its manifest",
                text.error().where);
  }
  Result<ConfigNode> tree = parse_json_tree(*text, {.source = run.manifest});
  if (!tree) return std::unexpected(tree.error());
  const ConfigNode* config = tree->find("config");
  if (config == nullptr || !config->is_map()) {
    return wrong(run.manifest, "config: missing: expected the manifest of a simulated run");
  }
  run.config = *config;
  run.policy = text_at(config->find("admission"), "policy");
  if (run.policy.empty()) {
    return wrong(run.manifest, "config.admission.policy: missing: expected a run with a door");
  }
  run.complete = text_at(&*tree, "complete") != "false";
  run.trace_crc32 = text_at(tree->find("trace"), "crc32");
  return run;
}

Result<ConfigNode> with_policy(const RecordedRun& recorded, const PolicyChange& change) {
  ConfigNode config = recorded.config;
  if (!change.policy.empty()) {
    const SourcePosition at{.source = "--policy"};
    for (auto& [path, value] : {std::pair{"admission.policy", text_node(change.policy, at.source)},
                                std::pair{"admission.parameters", ConfigNode::map(at)}}) {
      if (const Result<void> set = config.set_path(path, value); !set) {
        return std::unexpected(set.error());
      }
    }
  }
  for (const std::string& parameter : change.parameters) {
    const std::size_t equals = parameter.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorCode::kInvalidConfig,
                  "'" + parameter + "': expected key=value: a parameter of the policy");
    }
    const Result<void> set =
        apply_setting(config, "admission.parameters." + parameter, "'" + parameter + "'");
    if (!set) return std::unexpected(set.error());
  }
  return config;
}

Result<PreparedRun> prepare_recorded(const RecordedRun& recorded, ConfigNode config,
                                     const RunInputs& inputs) {
  if (const Result<void> ready = prepare_admission(config, ""); !ready) {
    return std::unexpected(ready.error());
  }
  Result<PreparedRun> run = prepare_run(config, inputs, {}, recorded.manifest);
  if (!run || !run->trace || recorded.trace_crc32.empty()) return run;
  if (const std::string crc32 = std::to_string(run->trace->crc32); crc32 != recorded.trace_crc32) {
    return fail(ErrorCode::kInvalidInput,
                "is not the trace of the recorded run: its CRC-32 is " + crc32 + ": expected " +
                    recorded.trace_crc32,
                run->trace->file_name);
  }
  return run;
}

}  // namespace inferscale

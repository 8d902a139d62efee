#include "study/scenario.h"

#include <algorithm>
#include <array>

#include "base/config_json.h"
#include "base/number_text.h"
#include "base/random.h"

namespace inferscale {
namespace {

constexpr std::array<std::string_view, 5> kNotOfFigures = {"name", "seed", "repeats", "study",
                                                           "output"};

void append_counting(std::string& text, const ConfigNode& tree) {
  for (const ConfigNode::Entry& entry : tree.entries()) {
    const bool counts =
        std::find(kNotOfFigures.begin(), kNotOfFigures.end(), entry.key) == kNotOfFigures.end();
    if (counts) text += entry.key + ":" + to_json_text(entry.value) + "\n";
  }
}

// Of recorded sessions: all that a run follows from but their beginnings.
std::string recorded_text(const Programs& programs) {
  std::string text;
  for (const ProgramTurn& turn : programs.turns) {
    text += " " + std::to_string(turn.prompt_tokens) + "," + std::to_string(turn.output_tokens) +
            "," + std::to_string(turn.call.history_tokens) + "," + std::to_string(turn.gap.ns()) +
            "," + std::to_string(turn.content_pieces) + "," + std::to_string(turn.spawns);
  }
  for (const ProgramChain& chain : programs.chains) {
    text += " " + std::to_string(chain.session) + "," + std::to_string(chain.turns) + "," +
            std::to_string(chain.delay.ns()) + "," + std::to_string(chain.rest.ns()) + "," +
            (chain.joined ? "joined" : "apart");
  }
  for (const ContentPiece& piece : programs.pieces) {
    text += " " + std::to_string(piece.key) + "," + std::to_string(piece.tokens);
  }
  return text;
}

// Of the tree as written too: a default that is written out stays when a run changes the key that
// it would have followed.
std::uint64_t fingerprint_of(const ConfigNode& tree, const PreparedRun& run) {
  std::string text;
  append_counting(text, tree);
  append_counting(text, run.effective);
  // A config.json or a trace may change while its name stays.
  const ModelSpec& model = run.config.deployment.model;
  text += std::to_string(model.total_parameters()) + " " +
          std::to_string(model.kv_elements_per_token()) + " " + std::to_string(model.max_context) +
          " " + number_text(model.native_weight_bits);
  if (run.trace) {
    text += " " + std::to_string(run.trace->crc32) + " " + std::to_string(run.trace->rows());
  }
  if (run.programs && run.config.workload.sessions->trace) text += recorded_text(*run.programs);
  return stable_hash(text);
}

void scale_times(const ModelScales& scales, DeploymentConfig& config) {
  config.latency.scales.prefill *= scales.prefill;
  config.latency.scales.decode *= scales.decode;
}

}  // namespace

Result<Scenario> Scenario::make(ConfigNode tree, RunInputs inputs, std::string label) {
  Result<PreparedRun> base = prepare_run(tree, inputs, {}, label);
  if (!base) return std::unexpected(base.error());
  Scenario scenario;
  scenario.label_ = std::move(label);
  scenario.tree_ = std::move(tree);
  scenario.inputs_ = std::move(inputs);
  scenario.base_ = std::move(*base);
  scenario.fingerprint_ = fingerprint_of(scenario.tree_, scenario.base_);
  return scenario;
}

Result<ConfigNode> Scenario::tree_of(const RunRequest& request) const {
  ConfigNode tree = tree_;
  for (const Setting& setting : request.settings) {
    const Result<void> set = tree.set_path(setting.key, setting.value);
    if (!set) return std::unexpected(set.error());
  }
  const Result<void> seeded =
      tree.set_path("seed", ConfigNode::scalar(std::to_string(request.seed), false, {}));
  if (!seeded) return std::unexpected(seeded.error());
  return tree;
}

Result<void> Scenario::check(const RunRequest& request) const {
  const Result<ConfigNode> tree = tree_of(request);
  if (!tree) return std::unexpected(tree.error());
  const Result<PreparedRun> read = read_run(*tree, inputs_);
  if (!read) return std::unexpected(read.error());
  return {};
}

Result<PreparedRun> Scenario::prepare(const RunRequest& request) const {
  const Result<ConfigNode> tree = tree_of(request);
  if (!tree) return std::unexpected(tree.error());
  const auto scale = [&](RunConfig& config) {
    if (request.scales == ModelScales{}) return;
    scale_times(request.scales, config.deployment);
    for (GroupConfig& group : config.fleet.groups) scale_times(request.scales, group.deployment);
    if (config.fleet.split) config.fleet.split->link.scale *= request.scales.transfer;
  };
  return prepare_run(*tree, inputs_, scale, label_);
}

std::string fingerprint_text(std::uint64_t fingerprint) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[(fingerprint >> shift) & 0xf];
  }
  return text;
}

JsonValue scenario_plan(const Scenario& scenario) {
  JsonValue configuration = JsonValue::object();
  for (const ConfigNode::Entry& entry : scenario.base().effective.entries()) {
    if (entry.key == "name" || entry.key == "output") continue;
    configuration.add(entry.key, JsonValue::raw(to_json_text(entry.value)));
  }
  return JsonValue::object()
      .add("scenario", scenario.label())
      .add("fingerprint", fingerprint_text(scenario.fingerprint()))
      .add("configuration", std::move(configuration));
}

}  // namespace inferscale

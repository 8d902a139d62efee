// `inferscale explore`: what many configurations would do under the same requests.

#include "study/explore/explore.h"

#include <algorithm>

#include "base/config_json.h"
#include "base/edge/yaml_config.h"
#include "cli/commands.h"
#include "cli/explore_example.h"
#include "cli/run_loading.h"
#include "cli/study_session.h"
#include "report/studies/explore/explore_text.h"
#include "study/comparison/alternatives.h"
#include "study/explore/design_check.h"
#include "study/explore/explore_json.h"

namespace inferscale {
namespace {

const std::string kVary = "--vary";
constexpr std::string_view kGrid = "study.explore.grid";

class Explore final : public Command {
 public:
  std::string name() const override { return "explore"; }
  std::string summary() const override {
    return "Compare many configurations: what no other one beats in goodput, TTFT and cost";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("CONFIG", config_, false, "the configuration, a YAML file");
    arguments.repeated(kVary, axes_,
                       "key.path=value,value,...: an axis of the grid; or key.path={min: ..., "
                       "max: ..., points: ...}");
    declare_study_flags(arguments, flags_);
  }
  Result<int> run() override;

 private:
  Result<Scenario> load() const;

  std::string config_;
  std::vector<std::string> axes_;
  StudyFlags flags_;
};

// The same value at the place that it came from: a flag has no lines.
ConfigNode at_flag(const ConfigNode& node) {
  const SourcePosition flag{kVary, 0};
  if (node.is_null()) return ConfigNode::null(flag);
  if (node.kind() == ConfigNode::Kind::kScalar) {
    return ConfigNode::scalar(node.text(), node.quoted(), flag);
  }
  ConfigNode copy = node.is_map() ? ConfigNode::map(flag) : ConfigNode::list(flag);
  for (const ConfigNode& item : node.items()) copy.append(at_flag(item));
  for (const ConfigNode::Entry& entry : node.entries()) {
    copy.append(entry.key, at_flag(entry.value), flag);
  }
  return copy;
}

// The value of an axis: a list, or the map of a range.
Result<ConfigNode> axis_value(const std::string& written) {
  const Result<ConfigNode> list = parse_yaml("[" + written + "]", kVary);
  if (!list) return fail(ErrorCode::kInvalidConfig, list.error().message, kVary);
  const std::vector<ConfigNode>& items = list->items();
  const bool range = items.size() == 1 && items[0].find("min") != nullptr;
  return at_flag(range ? items[0] : *list);
}

// Adds the axes to the grid of the tree, in place of those of the same keys.
Result<void> add_axes(ConfigNode& tree, const std::vector<std::string>& axes) {
  if (axes.empty()) return {};
  const ConfigNode* node = &tree;
  for (const char* key : {"study", "explore", "grid"}) {
    node = node == nullptr ? nullptr : node->find(key);
  }
  ConfigNode grid = node != nullptr && node->is_map() ? *node : ConfigNode::map({kVary, 0});
  std::vector<std::string> given;
  for (const std::string& axis : axes) {
    const std::size_t equals = axis.find('=');
    const std::string key = axis.substr(0, equals);
    if (equals == std::string::npos || key.empty()) {
      return fail(ErrorCode::kInvalidConfig,
                  ConfigNode::scalar(axis, false, {}).describe() +
                      ": expected key.path=value,value,..., as in "
                      "deployment.engine.max_num_seqs=8,16,32",
                  kVary);
    }
    if (std::find(given.begin(), given.end(), key) != given.end()) {
      return fail(ErrorCode::kInvalidConfig, "'" + key + "' is given twice", kVary);
    }
    given.push_back(key);
    Result<ConfigNode> value = axis_value(axis.substr(equals + 1));
    if (!value) {
      Error error = value.error();
      error.message = "'" + key + "': " + error.message;
      return std::unexpected(std::move(error));
    }
    grid.put(key, std::move(*value), {kVary, 0});
  }
  return tree.set_path(kGrid, std::move(grid));
}

Result<Scenario> Explore::load() const {
  const Result<void> one = check_one_config(config_, flags_.example, "a configuration file");
  if (!one) return std::unexpected(one.error());
  Result<ConfigNode> tree =
      flags_.example
          ? read_config_text(kExploreExample, std::string(kExploreExampleName), flags_.settings)
          : read_config_tree(config_, flags_.settings);
  if (!tree) return std::unexpected(tree.error());
  if (const Result<void> added = add_axes(*tree, axes_); !added) {
    return std::unexpected(added.error());
  }
  return Scenario::make(std::move(*tree), inputs_beside(config_),
                        flags_.example ? std::string(kExploreExampleName) : config_);
}

// Notes about the base's deployment would not be true of its candidates.
std::vector<std::string> notes_of(const PreparedRun& run) {
  std::vector<std::string> notes = workload_notes(run);
  for (const std::string& note : derivation_notes(run)) notes.push_back(note);
  return notes;
}

Result<int> Explore::run() {
  Result<Scenario> scenario = load();
  if (!scenario) return std::unexpected(scenario.error());
  // Before a study folder is made.
  const Result<CandidateList> list = checked_candidates(*scenario);
  if (!list) return std::unexpected(list.error());

  StudyManifest manifest{.kind = "explore",
                         .version = {},
                         .name = scenario->base().config.name,
                         .plan = scenario_plan(*scenario),
                         .warnings = notes_of(scenario->base())};
  std::vector<Scenario> scenarios;
  scenarios.push_back(std::move(*scenario));
  Result<StudySession> session = StudySession::start(flags_, std::move(scenarios), manifest);
  if (!session) return std::unexpected(session.error());
  const Result<ExploreResult> result =
      explore(session->scenarios().front(), *list, session->executor());
  if (!result) return std::unexpected(result.error());
  return session->finish(explore_json(*result), explore_text);
}

}  // namespace

std::unique_ptr<Command> make_explore_command() {
  return std::make_unique<Explore>();
}

}  // namespace inferscale

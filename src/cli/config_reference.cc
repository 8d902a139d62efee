// `inferscale config reference`: every key with its default, unit and meaning, as YAML;
// `inferscale config example`: the example as a file to start from.

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/example_config.h"
#include "sim/run_config.h"
#include "study/study_options.h"

namespace inferscale {
namespace {

std::vector<KeyDescription> describe_keys() {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode nothing = ConfigNode::map({});
  ConfigReader root(nothing, session);
  read_run_config(root, [](const std::string&) -> Result<ModelSpec> { return ModelSpec{}; });
  read_study_options(root);
  root.finish();
  return session.descriptions();
}

// "a.b[].c" is three levels deep; items of a list stand one level below their list.
int depth_of(const std::string& path) {
  return static_cast<int>(std::count(path.begin(), path.end(), '.'));
}

std::string last_part(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

void print_wrapped(const std::string& text, int indent) {
  constexpr std::size_t kColumns = 96;
  std::string line;
  const std::string start = std::string(static_cast<std::size_t>(indent), ' ') + "# ";
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find(' ', begin);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && start.size() + line.size() + 1 + word.size() > kColumns) {
      fmt::print("{}{}\n", start, line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  if (!line.empty()) fmt::print("{}{}\n", start, line);
}

std::string comment_of(const KeyDescription& key) {
  std::string comment = key.condition.empty() ? "" : "[" + key.condition + "] ";
  comment += key.doc;
  if (key.type != "map")
    comment += " (" + key.type + (key.unit.empty() ? "" : ", " + key.unit) + ")";
  return comment;
}

void print_reference(const std::vector<KeyDescription>& keys) {
  fmt::print(
      "# Every key of a configuration, with its default. Keys that have none (required), and "
      "those\n"
      "# that count only together with another one, are comments. A comment that begins with\n"
      "# [key: value] belongs to that choice.\n");
  // Maps that are null and lists that are empty by default: their keys are comments.
  std::vector<std::string> closed;
  for (const KeyDescription& key : keys) {
    const int indent = 2 * depth_of(key.path);
    if (indent == 0) fmt::print("\n");
    print_wrapped(comment_of(key), indent);
    bool in_comment = key.fallback == "required" || !key.condition.empty();
    for (const std::string& path : closed) in_comment |= key.path.starts_with(path + ".");
    if (key.type == "map or null") closed.push_back(key.path);
    if (key.type == "list of maps") closed.push_back(key.path + "[]");
    fmt::print("{}{}{}:{}{}\n", std::string(static_cast<std::size_t>(indent), ' '),
               in_comment ? "# " : "", last_part(key.path), key.fallback.empty() ? "" : " ",
               key.fallback);
  }
}

JsonValue reference_json(const std::vector<KeyDescription>& keys) {
  JsonValue list = JsonValue::array();
  for (const KeyDescription& key : keys) {
    list.append(JsonValue::object()
                    .add("key", key.path)
                    .add("type", key.type)
                    .add("default", key.fallback)
                    .add("unit", key.unit)
                    .add("condition", key.condition)
                    .add("meaning", key.doc));
  }
  return list;
}

class ConfigReference final : public Command {
 public:
  std::string name() const override { return "config reference"; }
  std::string summary() const override {
    return "Print every configuration key with its default, unit and meaning";
  }
  void declare(Arguments& arguments) override { arguments.flag("--json", json_, "as JSON"); }
  Result<int> run() override {
    const std::vector<KeyDescription> keys = describe_keys();
    if (json_) {
      fmt::print("{}", reference_json(keys).indented_text());
    } else {
      print_reference(keys);
    }
    return 0;
  }

 private:
  bool json_ = false;
};

class ConfigExample final : public Command {
 public:
  std::string name() const override { return "config example"; }
  std::string summary() const override { return "Print the example configuration"; }
  void declare(Arguments&) override {}
  Result<int> run() override {
    fmt::print("{}", kExampleConfig);
    return 0;
  }
};

}  // namespace

std::unique_ptr<Command> make_config_reference_command() {
  return std::make_unique<ConfigReference>();
}
std::unique_ptr<Command> make_config_example_command() {
  return std::make_unique<ConfigExample>();
}

}  // namespace inferscale

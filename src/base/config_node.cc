#include "base/config_node.h"

namespace inferscale {

std::string SourcePosition::to_string() const {
  return line > 0 ? source + ":" + std::to_string(line) : source;
}

// Here, where Entry is complete: its size is needed by all of them.
ConfigNode::ConfigNode() = default;
ConfigNode::ConfigNode(const ConfigNode&) = default;
ConfigNode::ConfigNode(ConfigNode&&) noexcept = default;
ConfigNode& ConfigNode::operator=(const ConfigNode&) = default;
ConfigNode& ConfigNode::operator=(ConfigNode&&) noexcept = default;
ConfigNode::~ConfigNode() = default;

ConfigNode ConfigNode::null(SourcePosition at) {
  ConfigNode node;
  node.position_ = std::move(at);
  return node;
}

ConfigNode ConfigNode::scalar(std::string text, bool quoted, SourcePosition at) {
  ConfigNode node = null(std::move(at));
  node.kind_ = Kind::kScalar;
  node.text_ = std::move(text);
  node.quoted_ = quoted;
  return node;
}

ConfigNode ConfigNode::list(SourcePosition at) {
  ConfigNode node = null(std::move(at));
  node.kind_ = Kind::kList;
  return node;
}

ConfigNode ConfigNode::map(SourcePosition at) {
  ConfigNode node = null(std::move(at));
  node.kind_ = Kind::kMap;
  return node;
}

const ConfigNode* ConfigNode::find(std::string_view key) const {
  for (const Entry& entry : entries_) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

void ConfigNode::append(std::string key, ConfigNode value, SourcePosition key_position) {
  entries_.push_back({std::move(key), std::move(key_position), std::move(value)});
}

bool ConfigNode::put(std::string key, ConfigNode value, SourcePosition key_position) {
  for (Entry& entry : entries_) {
    if (entry.key == key) {
      entry.value = std::move(value);
      entry.key_position = std::move(key_position);
      return false;
    }
  }
  entries_.push_back({std::move(key), std::move(key_position), std::move(value)});
  return true;
}

Result<void> ConfigNode::set_path(std::string_view dotted_path, ConfigNode value) {
  // Before anything is made on the way, so that a wrong path changes nothing.
  if (dotted_path.empty() || dotted_path.front() == '.' || dotted_path.back() == '.' ||
      dotted_path.find("..") != std::string_view::npos) {
    return fail(ErrorCode::kInvalidConfig,
                "'" + std::string(dotted_path) + "' is not a key path: expected key.key.key",
                value.position().to_string());
  }
  ConfigNode* node = this;
  std::string_view rest = dotted_path;
  while (true) {
    const size_t dot = rest.find('.');
    const std::string key(rest.substr(0, dot));
    if (node->is_null()) *node = map(value.position());
    if (!node->is_map()) {
      return fail(ErrorCode::kInvalidConfig,
                  "'" + std::string(dotted_path) + "': no key '" + key + "' can be set in " +
                      node->describe(),
                  value.position().to_string());
    }
    if (dot == std::string_view::npos) {
      SourcePosition at = value.position();
      node->drop_parameters_of_another(key, value);
      node->put(key, std::move(value), std::move(at));
      return {};
    }
    if (node->find(key) == nullptr) node->put(key, null(value.position()), value.position());
    for (Entry& entry : node->entries_) {
      if (entry.key == key) {
        node = &entry.value;
        break;
      }
    }
    rest.remove_prefix(dot + 1);
  }
}

// `policy` and `parameters` stand side by side: what was written for one policy says nothing of
// another.
void ConfigNode::drop_parameters_of_another(std::string_view key, const ConfigNode& value) {
  if (key != "policy") return;
  const ConfigNode* before = find(key);
  if (before == nullptr || before->text() == value.text()) return;
  std::erase_if(entries_, [](const Entry& entry) { return entry.key == "parameters"; });
}

std::string ConfigNode::describe() const {
  constexpr size_t kLongest = 60;
  switch (kind_) {
    case Kind::kNull:
      return "null";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
    case Kind::kScalar:
      break;
  }
  std::string shown = text_.substr(0, kLongest);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return "'" + shown + (text_.size() > kLongest ? "..." : "") + "'";
}

}  // namespace inferscale

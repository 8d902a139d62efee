#include "base/edge/yaml_tree_builder.h"

#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr int kMostNodes = 1'000'000;  // about 200 MB of tree

// Whether the quoted scalar that begins at `begin` ends. The library takes the end of the text for
// its end, and the rest of a file would silently be one value.
bool quote_is_closed(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    // Two single quotes stand for one: the pair may be taken for an end and a new beginning here.
    if (text[i] == quote && (quote == '"' || i + 1 == text.size() || text[i + 1] != quote)) {
      return true;
    }
    if ((quote == '"' && text[i] == '\\') || text[i] == quote) ++i;
  }
  return false;
}

}  // namespace

YamlTreeBuilder::YamlTreeBuilder(std::string_view text, std::string source, bool has_lines)
    : text_(text), source_(std::move(source)), has_lines_(has_lines) {}

SourcePosition YamlTreeBuilder::position(const YAML::Mark& mark) const {
  return {source_, has_lines_ ? mark.line + 1 : 0};
}

std::optional<SourcePosition> YamlTreeBuilder::unclosed_bracket() const {
  if (error_ || open_.empty()) return refused_key_;
  return open_.back().node.position();
}

char YamlTreeBuilder::character_at(const YAML::Mark& mark) const {
  const auto at = static_cast<std::size_t>(mark.pos);
  return mark.pos >= 0 && at < text_.size() ? text_[at] : '\0';
}

void YamlTreeBuilder::refuse(const YAML::Mark& mark, std::string message) {
  if (error_) return;
  error_ = Error{ErrorCode::kInvalidConfig, std::move(message), position(mark).to_string()};
}

bool YamlTreeBuilder::accept(const YAML::Mark& mark, const std::string& tag,
                             YAML::anchor_t anchor) {
  if (error_) return false;
  const char first = character_at(mark);
  if (anchor != YAML::NullAnchor) {
    refuse(mark, "an anchor (&): expected the value itself, anchors are not taken");
  } else if (first == '!' || (!tag.empty() && tag != "?" && tag != "!")) {
    refuse(mark, "a tag (!): expected the value itself, tags are not taken");
  } else if (++nodes_ > kMostNodes) {
    refuse(mark, "more than a million values: expected a configuration");
  }
  return !error_;
}

void YamlTreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (++documents_ == 1) return;
  refuse(mark, character_at(mark) == '-'
                   ? "a second document (---): expected one document"
                   : "the document's value ended before this line: expected one map or list, "
                     "check the indentation");
}

void YamlTreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (!accept(mark, "", anchor)) return;
  if (expects_key()) return refuse(mark, "an empty key: expected a name before the ':'");
  place(ConfigNode::null(position(mark)));
}

void YamlTreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t) {
  refuse(mark, "an alias (*): expected the value itself, aliases are not taken");
}

void YamlTreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag,
                               YAML::anchor_t anchor, const std::string& value) {
  if (!accept(mark, tag, anchor)) return;
  const char first = character_at(mark);
  const bool quoted = tag == "!";
  if (quoted && (first == '"' || first == '\'') &&
      !quote_is_closed(text_, static_cast<std::size_t>(mark.pos))) {
    return refuse(mark, std::string("the quotation mark ") + first + " is never closed");
  }
  if (value.find('\0') != std::string::npos) {
    return refuse(mark, "a NUL character in a value: expected text");
  }
  if (expects_key()) return place_key(mark, value);
  place(ConfigNode::scalar(value, quoted, position(mark)));
}

void YamlTreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                      YAML::anchor_t anchor, YAML::EmitterStyle::value) {
  if (accept(mark, tag, anchor)) open(mark, ConfigNode::list(position(mark)));
}

void YamlTreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag,
                                 YAML::anchor_t anchor, YAML::EmitterStyle::value) {
  if (accept(mark, tag, anchor)) open(mark, ConfigNode::map(position(mark)));
}

bool YamlTreeBuilder::expects_key() const {
  return !open_.empty() && open_.back().node.is_map() && !open_.back().key;
}

void YamlTreeBuilder::open(const YAML::Mark& mark, ConfigNode node) {
  if (expects_key()) {
    refused_key_ = node.position();
    return refuse(mark, "a key that is " + node.describe() + ": expected a name");
  }
  if (open_.size() == kDeepest) return refuse(mark, "nesting deeper than 64 levels");
  open_.push_back({std::move(node), std::nullopt, {}});
}

void YamlTreeBuilder::close() {
  if (error_) return;
  CHECK(!open_.empty()) << "the YAML library closed what it had not opened";
  ConfigNode node = std::move(open_.back().node);
  open_.pop_back();
  place(std::move(node));
}

void YamlTreeBuilder::place_key(const YAML::Mark& mark, const std::string& text) {
  if (text.empty()) return refuse(mark, "an empty key: expected a name before the ':'");
  Open& top = open_.back();
  const auto [first, is_new] = top.key_lines.emplace(text, mark.line + 1);
  if (!is_new) {
    const std::string where =
        has_lines_ ? " (first on line " + std::to_string(first->second) + ")" : "";
    return refuse(mark, "the key '" + text + "' stands twice in one map" + where);
  }
  top.key = PendingKey{text, position(mark)};
}

void YamlTreeBuilder::place(ConfigNode value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  Open& top = open_.back();
  if (top.node.is_map()) {
    top.node.append(std::move(top.key->text), std::move(value), std::move(top.key->position));
    top.key.reset();
  } else {
    top.node.append(std::move(value));
  }
}

}  // namespace inferscale

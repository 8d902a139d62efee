#include "base/config_json.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_writer.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Moves past digits; false when there is none.
bool skip_digits(std::string_view text, std::size_t& i) {
  const std::size_t begin = i;
  while (i < text.size() && is_digit(text[i])) ++i;
  return i > begin;
}

// Whether `text` is a number as JSON writes them (RFC 8259, section 6), which is narrower than
// what a configuration may hold: "+1", ".5", "1." and "007" are not.
bool is_json_number(std::string_view text) {
  std::size_t i = text.starts_with('-') ? 1 : 0;
  const std::size_t first = i;
  if (!skip_digits(text, i)) return false;
  if (text[first] == '0' && i > first + 1) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (!skip_digits(text, i)) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (!skip_digits(text, i)) return false;
  }
  return i == text.size();
}

void append_scalar(std::string& out, const ConfigNode& node) {
  const std::string& text = node.text();
  if (node.quoted()) return append_json_string(out, text);
  if (text == "true" || text == "false") {
    out += text;
    return;
  }
  const std::optional<double> number = parse_finite(text);
  if (!number) return append_json_string(out, text);
  // As written where JSON can write it so: a double would lose digits of long whole numbers.
  out += is_json_number(text) ? text : number_text(*number);
}

void append_node(std::string& out, const ConfigNode& node) {
  std::string_view separator;
  switch (node.kind()) {
    case ConfigNode::Kind::kNull:
      out += "null";
      return;
    case ConfigNode::Kind::kScalar:
      append_scalar(out, node);
      return;
    case ConfigNode::Kind::kList:
      out += '[';
      for (const ConfigNode& item : node.items()) {
        out += std::exchange(separator, ",");
        append_node(out, item);
      }
      out += ']';
      return;
    case ConfigNode::Kind::kMap:
      out += '{';
      for (const ConfigNode::Entry& entry : node.entries()) {
        out += std::exchange(separator, ",");
        append_json_string(out, entry.key);
        out += ':';
        append_node(out, entry.value);
      }
      out += '}';
      return;
  }
}

}  // namespace

std::string to_json_text(const ConfigNode& node) {
  std::string out;
  append_node(out, node);
  return out;
}

ConfigNode number_node(double value, const std::string& source) {
  return ConfigNode::scalar(number_text(value), false, {.source = source});
}

ConfigNode text_node(std::string value, const std::string& source) {
  return ConfigNode::scalar(std::move(value), true, {.source = source});
}

}  // namespace inferscale

#include "base/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/number_text.h"
#include "base/utf8.h"

namespace inferscale {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4U];
      out += kHex[static_cast<unsigned char>(c) & 15U];
  }
}

template <typename Integer>
void append_digits(std::string& out, Integer value) {
  std::array<char, 24> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

// Compact JSON on several lines. It looks only at the brackets, commas and colons outside strings,
// so it takes any JSON text and changes nothing but the white space.
std::string indent(std::string_view compact) {
  std::string out;
  std::size_t depth = 0;
  bool in_string = false;
  const auto new_line = [&] { out.append("\n").append(2 * depth, ' '); };
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    if (in_string) {
      out += c;
      if (c == '\\') out += compact[++i];
      if (c == '"') in_string = false;
    } else if (c == '{' || c == '[') {
      out += c;
      const bool empty = i + 1 < compact.size() && (compact[i + 1] == '}' || compact[i + 1] == ']');
      if (empty) {
        out += compact[++i];
      } else {
        ++depth;
        new_line();
      }
    } else if (c == '}' || c == ']') {
      --depth;
      new_line();
      out += c;
    } else if (c == ',') {
      out += c;
      new_line();
    } else if (c == ':') {
      out += ": ";
    } else if (c == '"') {
      out += c;
      in_string = true;
    } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      out += c;
    }
  }
  return out += '\n';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') {
      append_escaped(out, c);
      ++i;
      continue;
    }
    const std::size_t length = utf8_sequence_length(text.substr(i, 4));
    out += length == 0 ? kReplacement : text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  out += '"';
}

void append_json_number(std::string& out, double value) {
  out += std::isfinite(value) ? number_text(value) : "null";
}

void append_json_integer(std::string& out, std::int64_t value) {
  append_digits(out, value);
}
void append_json_integer(std::string& out, std::uint64_t value) {
  append_digits(out, value);
}

void append_json_scaled(std::string& out, std::int64_t value, int decimals) {
  std::uint64_t unit = 1;
  for (int i = 0; i < decimals; ++i) unit *= 10;
  // Negated as unsigned: the smallest integer has no positive counterpart.
  const std::uint64_t magnitude =
      value < 0 ? 0U - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  if (value < 0) out += '-';
  append_digits(out, magnitude / unit);
  out += '.';
  std::uint64_t rest = magnitude % unit;
  std::array<char, 20> digits{};
  int used = 1;
  for (int i = decimals; i > 0; --i, rest /= 10) {
    digits[static_cast<std::size_t>(i - 1)] = static_cast<char>('0' + rest % 10);
    if (rest % 10 != 0) used = std::max(used, i);
  }
  out.append(digits.data(), static_cast<std::size_t>(used));
}

// Here, where Member is complete: its size is needed by all of them.
JsonValue::JsonValue() : text_("null") {}
JsonValue::JsonValue(const JsonValue&) = default;
JsonValue::JsonValue(JsonValue&&) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue&) = default;
JsonValue& JsonValue::operator=(JsonValue&&) noexcept = default;
JsonValue::~JsonValue() = default;
JsonValue::JsonValue(Kind kind) : kind_(kind) {}
JsonValue::JsonValue(double value) {
  append_json_number(text_, value);
}
JsonValue::JsonValue(std::string_view value) {
  append_json_string(text_, value);
}

JsonValue JsonValue::raw(std::string json_text) {
  CHECK(!json_text.empty()) << "raw JSON can't be empty";
  JsonValue value;
  value.text_ = std::move(json_text);
  return value;
}

JsonValue JsonValue::millis(Duration duration) {
  JsonValue value;
  value.text_.clear();
  append_json_scaled(value.text_, duration.ns(), 6);
  return value;
}

JsonValue& JsonValue::add(std::string key, JsonValue value) & {
  CHECK(kind_ == Kind::kObject) << "add() needs an object, key " << key;
  for (const Member& member : members_) CHECK(member.key != key) << "key twice: " << key;
  members_.push_back(Member{std::move(key), std::move(value)});
  return *this;
}

JsonValue&& JsonValue::add(std::string key, JsonValue value) && {
  add(std::move(key), std::move(value));
  return std::move(*this);
}

JsonValue& JsonValue::append(JsonValue value) {
  CHECK(kind_ == Kind::kArray) << "append() needs an array";
  members_.push_back(Member{{}, std::move(value)});
  return *this;
}

void JsonValue::append_to(std::string& out) const {
  if (kind_ == Kind::kScalar) {
    out += text_;
    return;
  }
  const bool object = kind_ == Kind::kObject;
  out += object ? '{' : '[';
  bool first = true;
  for (const Member& member : members_) {
    if (!first) out += ',';
    first = false;
    if (object) {
      append_json_string(out, member.key);
      out += ':';
    }
    member.value.append_to(out);
  }
  out += object ? '}' : ']';
}

std::string JsonValue::text() const {
  std::string out;
  append_to(out);
  return out;
}

std::string JsonValue::indented_text() const {
  return indent(text());
}

}  // namespace inferscale

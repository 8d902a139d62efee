// JSON text, written in the order given and the same on every machine.
//
//   JsonValue summary = JsonValue::object();
//   summary.add("requests", JsonValue::object().add("arrived", 10).add("finished", 9));
//   summary.add("ttft_ms", std::optional<double>());      // null
//   write_file(path, summary.indented_text());
//
// Numbers are written as the shortest text that reads back equal; NaN and infinity, which JSON
// does not have, become null. Text is UTF-8: bytes that are not become U+FFFD. The `append_json_*`
// functions write one value at the end of a string, for files of many short lines.

#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace inferscale {

void append_json_string(std::string& out, std::string_view text);
void append_json_number(std::string& out, double value);
void append_json_integer(std::string& out, std::int64_t value);
void append_json_integer(std::string& out, std::uint64_t value);
// value / 10^decimals in decimal notation, exactly: 22986111 with 6 decimals is 22.986111. Zeros at
// the end are dropped, but for one behind the point. REQUIRES: 1 <= decimals <= 18.
void append_json_scaled(std::string& out, std::int64_t value, int decimals);

// A value as a tree. Scalars convert implicitly, so that building one reads like what it builds.
class JsonValue {
 public:
  struct Member;

  JsonValue();
  JsonValue(const JsonValue&);
  JsonValue(JsonValue&&) noexcept;
  JsonValue& operator=(const JsonValue&);
  JsonValue& operator=(JsonValue&&) noexcept;
  ~JsonValue();
  JsonValue(std::nullptr_t) : JsonValue() {}
  template <std::same_as<bool> T>  // a template, so that no pointer converts to it
  JsonValue(T value) : JsonValue(raw(value ? "true" : "false")) {}
  template <std::signed_integral T>
  JsonValue(T value) {
    append_json_integer(text_, static_cast<std::int64_t>(value));
  }
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  JsonValue(T value) {
    append_json_integer(text_, static_cast<std::uint64_t>(value));
  }
  JsonValue(double value);
  JsonValue(std::string_view value);
  JsonValue(const std::string& value) : JsonValue(std::string_view(value)) {}
  JsonValue(const char* value) : JsonValue(std::string_view(value)) {}
  template <typename T>
  JsonValue(const std::optional<T>& value) : JsonValue(value ? JsonValue(*value) : JsonValue()) {}

  static JsonValue object() { return JsonValue(Kind::kObject); }
  static JsonValue array() { return JsonValue(Kind::kArray); }
  // Text that is JSON already.
  static JsonValue raw(std::string json_text);
  static JsonValue millis(Duration duration);  // in milliseconds, to the nanosecond

  // Adds a member to an object. REQUIRES: this is an object that has no such key.
  JsonValue& add(std::string key, JsonValue value) &;
  JsonValue&& add(std::string key, JsonValue value) &&;
  // Adds an item to an array. REQUIRES: this is an array.
  JsonValue& append(JsonValue value);

  bool is_object() const { return kind_ == Kind::kObject; }
  const std::vector<Member>& members() const { return members_; }

  std::string text() const;           // on one line, without a space
  std::string indented_text() const;  // for people: two spaces a level, a new line at the end

 private:
  enum class Kind : std::uint8_t { kScalar, kArray, kObject };
  explicit JsonValue(Kind kind);
  void append_to(std::string& out) const;

  Kind kind_ = Kind::kScalar;
  std::string text_;             // of a scalar
  std::vector<Member> members_;  // of an object, or of an array with empty keys
};

struct JsonValue::Member {
  std::string key;
  JsonValue value;
};

}  // namespace inferscale

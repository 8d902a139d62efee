// Reads the members of a JSON object with types and ranges; the first error is kept.
//
//   JsonFields fields(object, {"run/outcomes.jsonl", 17});
//   const std::int64_t arrival_ns = fields.integer("arrival_ns");
//   if (fields.failed()) return std::unexpected(fields.error());
//
// After an error every reading gives a default, so the caller asks once, at the end.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace inferscale {

using Json = nlohmann::ordered_json;

struct JsonPlace {
  std::string_view path;  // of the file
  std::int64_t line = 0;  // 0: the object is the whole file
  std::string to_string() const;
};

// One JSON object. Errors (kInvalidInput) say where the text stopped being JSON.
Result<Json> parse_json_object(const std::string& text, const JsonPlace& place);

class JsonFields {
 public:
  // REQUIRES: `object` is an object. `prefix` is put before the keys in errors: "slo.".
  JsonFields(const Json& object, JsonPlace place, std::string prefix = {});

  std::int64_t integer(const char* key, std::int64_t min = 0);
  std::optional<std::int64_t> optional_integer(const char* key, std::int64_t min = 0);
  std::uint64_t unsigned_integer(const char* key);  // up to 2^64 - 1
  double number(const char* key);
  std::optional<double> optional_number(const char* key);
  bool boolean(const char* key);
  std::optional<bool> optional_boolean(const char* key);
  std::string text(const char* key);
  // The member itself; null, and an error, when it is missing or of another type.
  const Json* object(const char* key);
  const Json* list(const char* key);
  bool is_null(const char* key);  // false, and an error, when it is missing
  bool has(const char* key) const { return object_->contains(key); }

  // An error about `key` of the reader's own.
  void fail(std::string_view key, std::string_view message);
  // Keeps the error of a part of this object that was read by itself, if there is one.
  void adopt(const JsonFields& part);
  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  const Json* take(const char* key);
  void wrong(const char* key, const Json& value, std::string_view expected);

  const Json* object_;
  JsonPlace place_;
  std::string prefix_;
  std::optional<Error> error_;
};

}  // namespace inferscale

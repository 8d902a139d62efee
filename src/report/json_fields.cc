#include "report/json_fields.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

// What stands in the file, short enough for an error message.
std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 40;
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

bool is_whole(const Json& value) {
  if (!value.is_number_integer()) return false;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return !value.is_number_unsigned() || value.get<std::uint64_t>() <= kMax;
}

}  // namespace

std::string JsonPlace::to_string() const {
  return line == 0 ? std::string(path) : std::string(path) + ":" + std::to_string(line);
}

Result<Json> parse_json_object(const std::string& text, const JsonPlace& place) {
  try {
    Json value = Json::parse(text);
    if (value.is_object()) return value;
    return fail(ErrorCode::kInvalidInput, "expected a JSON object, got " + shown(value),
                place.to_string());
  } catch (const Json::parse_error& error) {
    const bool at_end = error.byte > text.size();
    return fail(ErrorCode::kInvalidInput,
                at_end ? "cut off: the JSON object has no end"
                       : "not valid JSON at byte " + std::to_string(error.byte),
                place.to_string());
  } catch (const Json::exception& error) {  // a number too large for any type, say
    return fail(ErrorCode::kInvalidInput, std::string("not valid JSON: ") + error.what(),
                place.to_string());
  }
}

JsonFields::JsonFields(const Json& object, JsonPlace place, std::string prefix)
    : object_(&object), place_(place), prefix_(std::move(prefix)) {
  CHECK(object.is_object()) << "fields of something that is not an object";
}

void JsonFields::fail(std::string_view key, std::string_view message) {
  if (error_) return;
  error_ = Error{ErrorCode::kInvalidInput,
                 "key '" + prefix_ + std::string(key) + "': " + std::string(message),
                 place_.to_string()};
}

void JsonFields::adopt(const JsonFields& part) {
  if (!error_) error_ = part.error_;
}

const Json* JsonFields::take(const char* key) {
  const auto found = object_->find(key);
  if (found != object_->end()) return &*found;
  fail(key, "missing");
  return nullptr;
}

void JsonFields::wrong(const char* key, const Json& value, std::string_view expected) {
  fail(key, "expected " + std::string(expected) + ", got " + shown(value));
}

bool JsonFields::is_null(const char* key) {
  const Json* value = take(key);
  return value != nullptr && value->is_null();
}

std::optional<std::int64_t> JsonFields::optional_integer(const char* key, std::int64_t min) {
  const Json* value = take(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!is_whole(*value) || value->get<std::int64_t>() < min) {
    wrong(key, *value, "a whole number of at least " + std::to_string(min));
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

std::int64_t JsonFields::integer(const char* key, std::int64_t min) {
  const std::optional<std::int64_t> value = optional_integer(key, min);
  if (!value) fail(key, "expected a whole number, got null");
  return value.value_or(min);
}

std::uint64_t JsonFields::unsigned_integer(const char* key) {
  const Json* value = take(key);
  if (value == nullptr) return 0;
  if (!value->is_number_unsigned()) {
    wrong(key, *value, "a whole number of at least 0");
    return 0;
  }
  return value->get<std::uint64_t>();
}

std::optional<double> JsonFields::optional_number(const char* key) {
  const Json* value = take(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_number()) {
    wrong(key, *value, "a number");
    return std::nullopt;
  }
  return value->get<double>();
}

double JsonFields::number(const char* key) {
  const std::optional<double> value = optional_number(key);
  if (!value) fail(key, "expected a number, got null");
  return value.value_or(0);
}

std::optional<bool> JsonFields::optional_boolean(const char* key) {
  const Json* value = take(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_boolean()) {
    wrong(key, *value, "true or false");
    return std::nullopt;
  }
  return value->get<bool>();
}

bool JsonFields::boolean(const char* key) {
  const std::optional<bool> value = optional_boolean(key);
  if (!value) fail(key, "expected true or false, got null");
  return value.value_or(false);
}

std::string JsonFields::text(const char* key) {
  const Json* value = take(key);
  if (value == nullptr) return {};
  if (!value->is_string()) {
    wrong(key, *value, "text");
    return {};
  }
  return value->get<std::string>();
}

const Json* JsonFields::object(const char* key) {
  const Json* value = take(key);
  if (value == nullptr || value->is_object()) return value;
  wrong(key, *value, "a map");
  return nullptr;
}

const Json* JsonFields::list(const char* key) {
  const Json* value = take(key);
  if (value == nullptr || value->is_array()) return value;
  wrong(key, *value, "a list");
  return nullptr;
}

}  // namespace inferscale

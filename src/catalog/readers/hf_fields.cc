#include "catalog/readers/hf_fields.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace inferscale {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;

std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace

Result<nlohmann::json> parse_json_object(const std::string& text, const std::string& source) {
  try {
    nlohmann::json parsed = nlohmann::json::parse(text);
    if (parsed.is_object()) return parsed;
    return fail(ErrorCode::kInvalidInput, shown(parsed) + ": expected a JSON object of keys",
                source);
  } catch (const nlohmann::json::parse_error& error) {
    const auto stopped = std::min(text.size(), error.byte > 0 ? error.byte - 1 : 0);
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(stopped), '\n');
    return fail(ErrorCode::kInvalidInput, "not valid JSON: expected one object of keys and values",
                source + ":" + std::to_string(line));
  }
}

HfFields::HfFields(const nlohmann::json& object, std::string source, std::string prefix)
    : object_(&object), source_(std::move(source)), prefix_(std::move(prefix)) {}

const nlohmann::json* HfFields::find(std::string_view key) const {
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool HfFields::has(std::string_view key) const {
  return find(key) != nullptr;
}

void HfFields::fail(std::string_view key, const std::string& expected) {
  if (error_) return;
  const nlohmann::json* value = find(key);
  error_ = Error{ErrorCode::kInvalidInput,
                 prefix_ + std::string(key) + ": " + (value ? shown(*value) : "missing") +
                     ": expected " + expected,
                 source_};
}

void HfFields::join(const HfFields& below) {
  if (!error_) error_ = below.error_;
}

std::int64_t HfFields::integer(std::string_view key, std::int64_t min,
                               std::optional<std::int64_t> fallback) {
  const nlohmann::json* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  const double number = value != nullptr && value->is_number() ? value->get<double>() : -1.0;
  const bool whole = number == std::floor(number) && number >= static_cast<double>(min) &&
                     number <= static_cast<double>(kLargest);
  if (value == nullptr || !value->is_number() || !whole) {
    fail(key, "a whole number of at least " + std::to_string(min));
    return fallback.value_or(min);
  }
  return static_cast<std::int64_t>(number);
}

std::optional<double> HfFields::number(std::string_view key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  fail(key, "a number");
  return std::nullopt;
}

bool HfFields::boolean(std::string_view key, bool fallback) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  fail(key, "true or false");
  return fallback;
}

std::string HfFields::text(std::string_view key, const std::string& fallback) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_string()) return value->get<std::string>();
  fail(key, "text");
  return fallback;
}

std::vector<std::string> HfFields::texts(std::string_view key) {
  std::vector<std::string> listed;
  const nlohmann::json* value = find(key);
  if (value == nullptr) return listed;
  for (const nlohmann::json& item : *value) {
    if (!value->is_array() || !item.is_string()) {
      fail(key, "a list of texts");
      return {};
    }
    listed.push_back(item.get<std::string>());
  }
  return listed;
}

std::int64_t HfFields::list_size(std::string_view key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return 0;
  if (value->is_array()) return static_cast<std::int64_t>(value->size());
  fail(key, "a list");
  return 0;
}

std::optional<HfFields> HfFields::object(std::string_view key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) return HfFields(*value, source_, prefix_ + std::string(key) + ".");
  fail(key, "an object of keys");
  return std::nullopt;
}

std::optional<HfFields> HfFields::first_object() {
  for (const auto& [key, value] : object_->items()) {
    if (value.is_object()) return HfFields(value, source_, prefix_ + key + ".");
  }
  return std::nullopt;
}

}  // namespace inferscale

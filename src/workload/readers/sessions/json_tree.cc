#include "workload/readers/sessions/json_tree.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "workload/readers/csv_rows.h"

namespace inferscale {
namespace {

using Kind = JsonTree::Kind;

constexpr std::size_t kDeepest = 32;
constexpr std::size_t kMostKeys = 256;

std::string named(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBoolean:
      return "true or false";
    case Kind::kNumber:
      return "a number";
    case Kind::kText:
      return "text";
    case Kind::kList:
      return "a list";
    case Kind::kObject:
      return "an object";
  }
  return "nothing";
}

// Builds a tree while the parser goes through the line.
class TreeHandler {
 public:
  explicit TreeHandler(JsonTree& root) : root_(root) {}

  std::string problem;  // empty: none

  bool null() { return scalar(Kind::kNull, ""); }
  bool boolean(bool value) { return scalar(Kind::kBoolean, value ? "true" : "false"); }
  bool binary(std::vector<std::uint8_t>&) { return refuse("binary data: expected text"); }
  bool string(std::string& text) { return scalar(Kind::kText, std::move(text)); }
  bool number_integer(std::int64_t value) { return scalar(Kind::kNumber, std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) {
    // Lists of a hundred thousand of them are common.
    if (!open_.empty() && open_.back()->kind == Kind::kList && open_.back()->values.empty()) {
      open_.back()->numbers.push_back(value);
      return true;
    }
    return scalar(Kind::kNumber, std::to_string(value));
  }
  bool number_float(double, const std::string& written) { return scalar(Kind::kNumber, written); }
  bool start_object(std::size_t) { return open(Kind::kObject); }
  bool start_array(std::size_t) { return open(Kind::kList); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    std::vector<std::string>& keys = open_.back()->keys;
    if (keys.size() == kMostKeys) return refuse("more than 256 keys: expected fewer");
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) {
      return refuse(quoted_for_error(name) + ": the key is there twice");
    }
    keys.push_back(std::move(name));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    return refuse("not JSON from byte " + std::to_string(position) +
                  " of the line on: expected one object a line");
  }

 private:
  bool refuse(std::string what) {
    if (problem.empty()) problem = std::move(what);
    return false;
  }
  // Where the next value goes; null: nowhere.
  JsonTree* next_value() {
    JsonTree& around = *open_.back();
    if (!around.numbers.empty()) {
      refuse("a list of whole numbers holds something else");
      return nullptr;
    }
    return &around.values.emplace_back();
  }
  bool scalar(Kind kind, std::string text) {
    if (open_.empty()) {
      const std::string found = text.empty() ? named(kind) : quoted_for_error(text);
      return refuse("the line is " + found + ": expected a JSON object");
    }
    JsonTree* value = next_value();
    if (value == nullptr) return false;
    value->kind = kind;
    value->text = std::move(text);
    return true;
  }
  bool open(Kind kind) {
    if (open_.empty() && kind != Kind::kObject) {
      return refuse("the line is a list: expected a JSON object");
    }
    if (open_.size() == kDeepest) return refuse("more than 32 levels: expected fewer");
    JsonTree* value = open_.empty() ? &root_ : next_value();
    if (value == nullptr) return false;
    value->kind = kind;
    open_.push_back(value);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonTree& root_;
  std::vector<JsonTree*> open_;  // no list grows while one of its values is open
};

}  // namespace

std::string JsonTree::parse(const std::string& line) {
  *this = JsonTree();
  TreeHandler handler(*this);
  nlohmann::json::sax_parse(line, &handler);
  return handler.problem;
}

JsonFields::JsonFields(const JsonTree& object, std::string prefix)
    : object_(object), prefix_(std::move(prefix)), asked_(object.keys.size()) {
  if (object.kind != Kind::kObject) {
    set_problem(prefix_.substr(0, prefix_.size() - 1) + ": " + named(object.kind) +
                ": expected an object");
  }
}

void JsonFields::set_problem(std::string what) {
  if (problem_.empty()) problem_ = std::move(what);
}

const JsonTree* JsonFields::find(std::string_view key) {
  if (!known_.empty()) known_ += ", ";
  known_ += key;
  const auto found = std::find(object_.keys.begin(), object_.keys.end(), key);
  if (found == object_.keys.end()) return nullptr;
  const auto place = static_cast<std::size_t>(found - object_.keys.begin());
  asked_[place] = true;
  return &object_.values[place];
}

const JsonTree* JsonFields::take(std::string_view key, Kind kind) {
  const JsonTree* value = find(key);
  if (value == nullptr) {
    const std::string at = prefix_.empty() ? "" : prefix_.substr(0, prefix_.size() - 1) + ": ";
    set_problem(at + "no key '" + std::string(key) + "'");
    return nullptr;
  }
  if (value->kind == kind) return value;
  const std::string found =
      value->text.empty() ? named(value->kind) : quoted_for_error(value->text);
  set_problem(prefix_ + std::string(key) + ": " + found + ": expected " + named(kind));
  return nullptr;
}

const JsonTree* JsonFields::take_optional(std::string_view key, Kind kind) {
  const auto found = std::find(object_.keys.begin(), object_.keys.end(), key);
  const bool is_there =
      found != object_.keys.end() &&
      object_.values[static_cast<std::size_t>(found - object_.keys.begin())].kind != Kind::kNull;
  if (is_there) return take(key, kind);
  find(key);
  return nullptr;
}

void JsonFields::skip(std::string_view key) {
  find(key);
}

void JsonFields::refuse(std::string_view key, std::string_view text, std::string_view expected) {
  set_problem(prefix_ + std::string(key) + ": " + quoted_for_error(text) + ": expected " +
              std::string(expected));
}

std::string JsonFields::finish() {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (!asked_[i]) {
      const std::string at = prefix_.empty() ? "" : prefix_.substr(0, prefix_.size() - 1) + ": ";
      set_problem(at + "unknown key " + quoted_for_error(object_.keys[i]) + ": expected " + known_);
    }
  }
  return problem_;
}

}  // namespace inferscale

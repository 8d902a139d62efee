#include "base/config_reader.h"

#include <algorithm>
#include <cmath>

#include "base/nearest_word.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

const ConfigNode& empty_map() {
  static const ConfigNode node = ConfigNode::map({});
  return node;
}

std::string expected_number(const NumberRule& rule, std::string_view noun) {
  std::string text = "expected " + std::string(noun);
  const bool low = std::isfinite(rule.min);
  const bool high = std::isfinite(rule.max);
  if (low) {
    text += (rule.above_min ? " greater than " : " of at least ") + number_text(rule.min);
  }
  if (high) text += (low ? " and at most " : " of at most ") + number_text(rule.max);
  return text;
}

NumberRule as_number_rule(const IntegerRule& rule) {
  NumberRule number;
  if (rule.min != std::numeric_limits<std::int64_t>::min()) {
    number.min = static_cast<double>(rule.min);
  }
  if (rule.max != std::numeric_limits<std::int64_t>::max()) {
    number.max = static_cast<double>(rule.max);
  }
  return number;
}

}  // namespace

ConfigSession ConfigSession::describing() {
  ConfigSession session;
  session.describing_ = true;
  return session;
}

void ConfigSession::fail(const SourcePosition& at, std::string message) {
  if (!error_) error_ = Error{ErrorCode::kInvalidConfig, std::move(message), at.to_string()};
}

void ConfigSession::fill_in(const std::string& path, ConfigNode value) {
  const bool in_a_list = path.find('[') != std::string::npos;
  if (describing_ || in_a_list) return;
  // A path that crosses a scalar belongs to a key of two shapes ("a name or a map"): left as it is.
  if (!effective_.set_path(path, std::move(value))) return;
}

ConfigReader::ConfigReader(const ConfigNode& root, ConfigSession& session)
    : node_(&root), session_(&session), position_(root.position()) {
  session.effective_ = root;
  if (root.is_null()) {
    node_ = &empty_map();
  } else if (!root.is_map()) {
    session.fail(root.position(),
                 "the configuration is " + root.describe() + ": expected a map of keys");
    node_ = &empty_map();
  }
}

ConfigReader::ConfigReader(const ConfigNode* node, ConfigSession* session, std::string path,
                           SourcePosition position)
    : node_(node), session_(session), path_(std::move(path)), position_(std::move(position)) {}

std::string ConfigReader::path_of(std::string_view key) const {
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : path_ + "." + std::string(key);
}

const ConfigNode* ConfigReader::take(std::string_view key) {
  known_.emplace_back(key);
  const ConfigNode* value = node_->find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void ConfigReader::fill_in(std::string_view key, std::string text, bool quoted) {
  session_->fill_in(path_of(key), ConfigNode::scalar(std::move(text), quoted, position_));
}

void ConfigReader::fill_in_null(std::string_view key) {
  session_->fill_in(path_of(key), ConfigNode::null(position_));
}

void ConfigReader::missing(std::string_view key, std::string_view expected) {
  if (missing_.empty() && !is_describing()) {
    missing_ = path_of(key) + ": missing: " + std::string(expected);
  }
}

void ConfigReader::wrong(std::string_view key, const ConfigNode& value, std::string_view expected) {
  session_->fail(value.position(),
                 path_of(key) + ": " + value.describe() + ": " + std::string(expected));
}

void ConfigReader::describe(std::string_view key, std::string_view type, std::string fallback,
                            std::string_view unit, std::string_view doc) {
  if (!is_describing()) return;
  session_->descriptions_.push_back({path_of(key), std::string(type), std::move(fallback),
                                     std::string(unit), std::string(doc), session_->condition_});
}

ConfigReader ConfigReader::map(std::string_view key, std::string_view doc) {
  describe(key, "map", "", "", doc);
  const ConfigNode* value = take(key);
  if (value != nullptr && !value->is_map()) {
    wrong(key, *value, "expected a map of keys");
    value = nullptr;
  }
  if (value == nullptr) return {&empty_map(), session_, path_of(key), position_};
  return {value, session_, path_of(key), value->position()};
}

std::optional<ConfigReader> ConfigReader::optional_map(std::string_view key, std::string_view doc) {
  if (is_describing()) {
    describe(key, "map or null", "null", "", doc);
    return ConfigReader(&empty_map(), session_, path_of(key), position_);
  }
  if (!has(key)) {
    known_.emplace_back(key);
    fill_in_null(key);
    return std::nullopt;
  }
  return map(key, doc);
}

std::vector<ConfigReader> ConfigReader::list(std::string_view key, std::string_view doc) {
  describe(key, "list of maps", "[]", "", doc);
  const ConfigNode* value = take(key);
  std::vector<ConfigReader> readers;
  const std::string path = path_of(key);
  if (is_describing()) readers.push_back({&empty_map(), session_, path + "[]", position_});
  if (value == nullptr) return readers;
  if (value->kind() != ConfigNode::Kind::kList) {
    wrong(key, *value, "expected a list of maps");
    return readers;
  }
  for (size_t i = 0; i < value->items().size(); ++i) {
    const ConfigNode& item = value->items()[i];
    const std::string item_path = path + "[" + std::to_string(i) + "]";
    if (!item.is_map()) {
      session_->fail(item.position(),
                     item_path + ": " + item.describe() + ": expected a map of keys");
      return readers;
    }
    readers.push_back({&item, session_, item_path, item.position()});
  }
  return readers;
}

std::optional<double> ConfigReader::parse_number(std::string_view key, const ConfigNode& value,
                                                 const NumberRule& rule) {
  const std::optional<double> parsed = value.kind() == ConfigNode::Kind::kScalar && !value.quoted()
                                           ? parse_finite(value.text())
                                           : std::nullopt;
  if (!parsed || *parsed < rule.min || *parsed > rule.max ||
      (rule.above_min && *parsed == rule.min)) {
    wrong(key, value, expected_number(rule, "a number"));
    return std::nullopt;
  }
  return parsed;
}

double ConfigReader::number(std::string_view key, const NumberRule& rule) {
  describe(key, "number", rule.fallback ? number_text(*rule.fallback) : "required", rule.unit,
           rule.doc);
  const ConfigNode* value = take(key);
  if (value != nullptr) return parse_number(key, *value, rule).value_or(rule.fallback.value_or(0));
  if (!rule.fallback) {
    missing(key, expected_number(rule, "a number"));
    return 0;
  }
  fill_in(key, number_text(*rule.fallback), false);
  return *rule.fallback;
}

std::optional<double> ConfigReader::optional_number(std::string_view key, const NumberRule& rule) {
  describe(key, "number", rule.fallback ? number_text(*rule.fallback) : "null", rule.unit,
           rule.doc);
  const ConfigNode* value = take(key);
  if (value != nullptr) return parse_number(key, *value, rule);
  const bool written_null = node_->find(key) != nullptr;
  if (rule.fallback && !written_null) {
    fill_in(key, number_text(*rule.fallback), false);
    return rule.fallback;
  }
  fill_in_null(key);
  return std::nullopt;
}

std::vector<double> ConfigReader::numbers(std::string_view key, const NumberRule& rule) {
  describe(key, "list of numbers", "[]", rule.unit, rule.doc);
  const ConfigNode* value = take(key);
  std::vector<double> parsed;
  if (value == nullptr) return parsed;
  if (value->kind() != ConfigNode::Kind::kList) {
    wrong(key, *value, "expected a list of numbers");
    return parsed;
  }
  for (const ConfigNode& item : value->items()) {
    const std::optional<double> number = parse_number(key, item, rule);
    if (!number) break;
    parsed.push_back(*number);
  }
  return parsed;
}

std::optional<std::int64_t> ConfigReader::parse_integer(std::string_view key,
                                                        const ConfigNode& value,
                                                        const IntegerRule& rule) {
  const std::optional<std::int64_t> parsed =
      value.kind() == ConfigNode::Kind::kScalar && !value.quoted() ? parse_whole(value.text())
                                                                   : std::nullopt;
  if (!parsed || *parsed < rule.min || *parsed > rule.max) {
    wrong(key, value, expected_number(as_number_rule(rule), "a whole number"));
    return std::nullopt;
  }
  return parsed;
}

std::int64_t ConfigReader::integer(std::string_view key, const IntegerRule& rule) {
  describe(key, "integer", rule.fallback ? std::to_string(*rule.fallback) : "required", rule.unit,
           rule.doc);
  const ConfigNode* value = take(key);
  const std::int64_t fallback = rule.fallback.value_or(std::max<std::int64_t>(rule.min, 0));
  if (value != nullptr) return parse_integer(key, *value, rule).value_or(fallback);
  if (rule.fallback) {
    fill_in(key, std::to_string(fallback), false);
  } else {
    missing(key, expected_number(as_number_rule(rule), "a whole number"));
  }
  return fallback;
}

std::optional<std::int64_t> ConfigReader::optional_integer(std::string_view key,
                                                           const IntegerRule& rule) {
  describe(key, "integer", "null", rule.unit, rule.doc);
  const ConfigNode* value = take(key);
  if (value != nullptr) return parse_integer(key, *value, rule);
  fill_in_null(key);
  return std::nullopt;
}

bool ConfigReader::boolean(std::string_view key, bool fallback, std::string_view doc) {
  describe(key, "true or false", fallback ? "true" : "false", "", doc);
  const ConfigNode* value = take(key);
  if (value == nullptr) {
    fill_in(key, fallback ? "true" : "false", false);
    return fallback;
  }
  if (value->kind() == ConfigNode::Kind::kScalar && !value->quoted()) {
    if (value->text() == "true") return true;
    if (value->text() == "false") return false;
  }
  wrong(key, *value, "expected true or false");
  return fallback;
}

std::string ConfigReader::text(std::string_view key, std::optional<std::string> fallback,
                               std::string_view doc) {
  describe(key, "text", fallback ? *fallback : "required", "", doc);
  const ConfigNode* value = take(key);
  if (value == nullptr) {
    if (fallback) {
      fill_in(key, *fallback, true);
    } else {
      missing(key, "expected text");
    }
    return fallback.value_or("");
  }
  if (value->kind() != ConfigNode::Kind::kScalar || value->text().empty()) {
    wrong(key, *value, "expected text");
    return fallback.value_or("");
  }
  return value->text();
}

std::optional<std::string> ConfigReader::optional_text(std::string_view key, std::string_view doc) {
  describe(key, "text", "null", "", doc);
  const ConfigNode* value = take(key);
  if (value == nullptr) {
    fill_in_null(key);
    return std::nullopt;
  }
  if (value->kind() != ConfigNode::Kind::kScalar || value->text().empty()) {
    wrong(key, *value, "expected text");
    return std::nullopt;
  }
  return value->text();
}

std::string ConfigReader::choice(std::string_view key,
                                 std::initializer_list<std::string_view> choices,
                                 std::optional<std::string_view> fallback, std::string_view doc) {
  std::string listed;
  for (std::string_view one : choices) listed += (listed.empty() ? "" : " | ") + std::string(one);
  describe(key, listed, fallback ? std::string(*fallback) : "required", "", doc);
  const ConfigNode* value = take(key);
  std::string chosen(fallback.value_or(*choices.begin()));
  if (value == nullptr) {
    if (fallback) {
      fill_in(key, chosen, true);
    } else {
      missing(key, "expected one of " + listed);
    }
    return chosen;
  }
  if (value->kind() == ConfigNode::Kind::kScalar) {
    for (std::string_view one : choices) {
      if (value->text() == one) return std::string(one);
    }
  }
  const auto near = nearest_word(value->text(), {choices.begin(), choices.end()});
  wrong(key, *value,
        "expected one of " + listed + (near ? " (did you mean '" + *near + "'?)" : ""));
  return chosen;
}

void ConfigReader::when(std::string_view key, std::string_view chosen, std::string_view value,
                        const std::function<void()>& body) {
  if (!is_describing()) {
    if (chosen == value) body();
    return;
  }
  const std::string outer = session_->condition_;
  session_->condition_ = std::string(key) + ": " + std::string(value);
  body();
  session_->condition_ = outer;
}

bool ConfigReader::has(std::string_view key) const {
  return node_->find(key) != nullptr && !node_->find(key)->is_null();
}

const ConfigNode* ConfigReader::raw(std::string_view key, std::string_view type,
                                    std::string_view doc, std::string_view fallback) {
  describe(key, type, std::string(fallback), "", doc);
  return take(key);
}

void ConfigReader::fail(std::string_view key, std::string_view expected) {
  const ConfigNode* value = key.empty() ? nullptr : node_->find(key);
  if (value != nullptr) {
    wrong(key, *value, expected);
  } else {
    session_->fail(position_, path_of(key) + ": " + std::string(expected));
  }
}

void ConfigReader::finish() {
  if (is_describing()) return;
  for (const ConfigNode::Entry& entry : node_->entries()) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    std::vector<std::string> sorted = known_;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    const auto near = nearest_word(entry.key, sorted);
    std::string listed;
    for (const std::string& known : sorted) listed += (listed.empty() ? "" : ", ") + known;
    const std::string shown =
        ConfigNode::scalar(path_of(entry.key), false, entry.key_position).describe();
    session_->fail(
        entry.key_position,
        "unknown key " + shown + " (value " + entry.value.describe() +
            "): " + (near ? "did you mean '" + *near + "'? " : "") +
            (listed.empty() ? "expected no keys here: {}" : "expected one of " + listed));
    return;
  }
  finish_missing();
}

}  // namespace inferscale

#include "admission/rules/rule_reader.h"

#include <array>
#include <string>
#include <utility>

#include "base/nearest_word.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

constexpr int kMostRules = 64;
constexpr int kMostComparisons = 256;
constexpr int kMostLevels = 8;

struct ComparisonKey {
  std::string_view key;
  Comparison is;
  std::string_view doc;
};

constexpr std::array<ComparisonKey, 5> kComparisons = {{
    {"above", Comparison::kAbove, "it is greater than this number, signal or field"},
    {"at_least", Comparison::kAtLeast, "it is as great as this, or greater"},
    {"below", Comparison::kBelow, "it is less than this"},
    {"at_most", Comparison::kAtMost, "it is as great as this, or less"},
    {"equals", Comparison::kEquals, "it is just this"},
}};

class RuleReader {
 public:
  RuleList read(ConfigReader& parameters);

 private:
  Rule read_rule(ConfigReader reader);
  Condition read_condition(ConfigReader reader, int level);
  std::vector<Condition> read_parts(ConfigReader& reader, std::string_view key, int level);

  int comparisons_ = 0;
};

std::vector<std::string> signal_names() {
  std::vector<std::string> names;
  names.reserve(kSignalCount);
  for (const SignalSpec& spec : all_signals()) names.emplace_back(spec.name);
  return names;
}

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  names.reserve(kRequestFieldCount);
  for (std::size_t i = 0; i < kRequestFieldCount; ++i) {
    names.emplace_back(field_name(static_cast<RequestField>(i)));
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// "expected WHAT: A, B, C (did you mean 'A'?)"
std::string expected_one(std::string_view what, const std::string& written,
                         const std::vector<std::string>& names) {
  const std::optional<std::string> near = nearest_word(written, names);
  return "expected " + std::string(what) + ": " + joined(names) +
         (near ? " (did you mean '" + *near + "'?)" : "");
}

Reason read_reason(ConfigReader& rule) {
  const std::string written =
      rule.text("reason", "rule", "why: a reason of policies (docs/policies/rules.md)");
  std::vector<std::string> names;
  for (auto i = static_cast<std::size_t>(Reason::kQueueDepth);
       i <= static_cast<std::size_t>(Reason::kRule); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (reason_name(reason) == written) return reason;
    names.emplace_back(reason_name(reason));
  }
  rule.fail("reason", expected_one("a reason of policies", written, names));
  return Reason::kRule;
}

Decision read_decision(ConfigReader& rule) {
  const std::string then =
      rule.choice("then", {"admit", "defer", "reject"}, std::nullopt, "the decision");
  const Reason reason = read_reason(rule);
  const std::optional<double> retry_after = rule.optional_number(
      "retry_after_s", {.min = 0,
                        .max = 86'400,
                        .above_min = true,
                        .unit = "s",
                        .doc = "of a defer; null: reckoned from the pool's state"});
  const bool may_hold = rule.boolean(
      "may_hold", true, "of a defer: it may be held at the door, where there is a hold");
  if (then != "defer") {
    if (rule.has("retry_after_s")) rule.fail("retry_after_s", "expected it with then: defer only");
    if (rule.has("may_hold")) rule.fail("may_hold", "expected it with then: defer only");
  }
  if (then == "admit" && rule.has("reason")) {
    rule.fail("reason", "expected none with then: admit");
  }
  if (then == "admit") return Decision::admit();
  if (then == "reject") return Decision::reject(reason);
  Decision decision = Decision::defer(reason);
  if (retry_after) decision.retry_after = Duration::from_seconds(*retry_after);
  decision.may_hold = may_hold;
  return decision;
}

Quantity read_left(ConfigReader& reader) {
  const std::optional<std::string> signal =
      reader.optional_text("signal", "what is compared: a signal (inferscale signals)");
  const std::optional<std::string> field =
      reader.optional_text("request", "or a field of the request (docs/policies/rules.md)");
  if (reader.is_describing()) return 0.0;
  if (signal.has_value() == field.has_value()) {
    reader.fail(signal ? "request" : "",
                "expected either signal or request, or all or any with a list of conditions");
    return 0.0;
  }
  if (signal) {
    if (const std::optional<Signal> known = signal_of(*signal)) return *known;
    reader.fail("signal", expected_one("a signal", *signal, signal_names()));
  } else {
    if (const std::optional<RequestField> known = field_of(*field)) return *known;
    reader.fail("request", expected_one("a field of the request", *field, field_names()));
  }
  return 0.0;
}

Quantity read_right(ConfigReader& reader, std::string_view key, const ConfigNode& value) {
  if (value.kind() == ConfigNode::Kind::kScalar) {
    if (!value.quoted()) {
      if (const std::optional<double> number = parse_finite(value.text())) return *number;
    }
    if (const std::optional<Quantity> known = quantity_of(value.text())) return *known;
  }
  std::vector<std::string> names = signal_names();
  for (std::string& name : field_names()) names.push_back(std::move(name));
  reader.fail(key,
              expected_one("a number, a signal or a field of the request", value.text(), names));
  return 0.0;
}

void check_units(ConfigReader& reader, std::string_view key, const Condition& read) {
  const std::string_view left = unit_of(read.left);
  const std::string_view right = unit_of(read.right);
  if (!left.empty() && !right.empty() && left != right) {
    reader.fail(key, "expected something in " + std::string(left) + ", as " + text_of(read.left) +
                         " is; this is in " + std::string(right));
  }
  const Signal* signal = std::get_if<Signal>(&read.left);
  const double* number = std::get_if<double>(&read.right);
  if (signal == nullptr || number == nullptr) return;
  const SignalSpec& spec = spec_of(*signal);
  const double limit = *number * read.times;
  if (limit >= spec.least && limit <= spec.most) return;
  std::string range = "of at least " + number_text(spec.least);
  if (spec.most < 1e300) range += " and at most " + number_text(spec.most);
  reader.fail(key, "expected a number " + range + ", the range of " + std::string(spec.name) +
                       " (" + std::string(spec.unit) + ")");
}

Condition read_comparison(ConfigReader& reader) {
  Condition condition;
  condition.left = read_left(reader);
  condition.times =
      reader.number("times", {.fallback = 1, .doc = "what the right side is multiplied by"});
  std::string_view found;
  const ConfigNode* right = nullptr;
  for (const ComparisonKey& comparison : kComparisons) {
    const ConfigNode* value = reader.raw(comparison.key, "number, signal or field", comparison.doc);
    if (value == nullptr) continue;
    if (right != nullptr) {
      reader.fail(comparison.key, "expected one comparison: there is " + std::string(found));
    }
    found = comparison.key;
    right = value;
    condition.is = comparison.is;
  }
  if (reader.is_describing()) return condition;
  if (right == nullptr) {
    reader.fail("", "expected a comparison: above, at_least, below, at_most or equals");
    return condition;
  }
  condition.right = read_right(reader, found, *right);
  check_units(reader, found, condition);
  return condition;
}

RuleList RuleReader::read(ConfigReader& parameters) {
  RuleList list;
  if (parameters.optional_text("file",
                               "a YAML file with these parameters in their place, looked "
                               "for beside the configuration")) {
    parameters.fail("file",
                    "expected rules: the program reads a file of rules from "
                    "admission.parameters alone");
  }
  std::vector<ConfigReader> rules =
      parameters.list("rules", "in order; the first whose condition holds decides");
  if (rules.empty()) parameters.fail("rules", "expected a list of at least one rule");
  if (rules.size() > kMostRules) {
    parameters.fail("rules", "expected at most " + std::to_string(kMostRules) + " rules");
    return list;
  }
  for (ConfigReader& rule : rules) list.rules.push_back(read_rule(std::move(rule)));
  if (comparisons_ > kMostComparisons) {
    parameters.fail("rules",
                    "expected at most " + std::to_string(kMostComparisons) + " comparisons");
  }
  const std::string otherwise =
      parameters.choice("otherwise", {"admit", "defer", "reject"}, "admit", "when no rule holds");
  if (otherwise == "defer") list.otherwise = Decision::defer(Reason::kRule);
  if (otherwise == "reject") list.otherwise = Decision::reject(Reason::kRule);
  const std::string first =
      parameters.choice("release_first", {"by_gate", "reusable_fraction", "priority"}, "by_gate",
                        "who goes first of those that are held: the gate's own order, or who has "
                        "most of this");
  if (first == "reusable_fraction") list.release_first = ReleaseFirst::kReusableFraction;
  if (first == "priority") list.release_first = ReleaseFirst::kPriority;
  return list;
}

Rule RuleReader::read_rule(ConfigReader reader) {
  Rule rule;
  if (!reader.is_describing() && !reader.has("when")) {
    reader.fail("when", "missing: expected a condition, as {signal: queue_depth, above: 8}");
  }
  rule.when = read_condition(reader.map("when", "the condition"), 1);
  rule.then = read_decision(reader);
  rule.applies_when_unknown =
      reader.choice("when_unknown", {"skip", "apply"}, "skip",
                    "what becomes of the rule when its condition hangs on something unknown") ==
      "apply";
  reader.finish();
  return rule;
}

Condition RuleReader::read_condition(ConfigReader reader, int level) {
  if (reader.is_describing()) {
    const Condition described = read_comparison(reader);
    reader.raw("all", "list of conditions", "in place of a comparison: all of these hold", "[]");
    reader.raw("any", "list of conditions", "in place of a comparison: one of these holds", "[]");
    return described;
  }
  if (level > kMostLevels) {
    reader.fail("", "expected at most " + std::to_string(kMostLevels) + " levels of all and any");
    return {};
  }
  const bool all = reader.has("all");
  const bool any = reader.has("any");
  Condition condition;
  if (all || any) {
    condition.kind = all ? Condition::Kind::kAll : Condition::Kind::kAny;
    condition.parts = read_parts(reader, all ? "all" : "any", level);
  } else {
    condition = read_comparison(reader);
    ++comparisons_;
  }
  reader.finish();
  return condition;
}

std::vector<Condition> RuleReader::read_parts(ConfigReader& reader, std::string_view key,
                                              int level) {
  std::vector<Condition> parts;
  for (ConfigReader& part : reader.list(key, "conditions")) {
    parts.push_back(read_condition(std::move(part), level + 1));
    if (comparisons_ > kMostComparisons) break;
  }
  if (parts.empty()) reader.fail(key, "expected a list of at least one condition");
  return parts;
}

}  // namespace

RuleList read_rule_list(ConfigReader& parameters) {
  return RuleReader().read(parameters);
}

}  // namespace inferscale

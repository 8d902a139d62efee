#include "report/decision_log_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/edge/input_file.h"
#include "report/decision_log_lines.h"
#include "report/json_fields.h"

namespace inferscale {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

template <typename Integer>
Integer bounded(JsonFields& fields, const char* key, std::int64_t least = 0) {
  const std::int64_t value = fields.integer(key, least);
  if (value <= static_cast<std::int64_t>(std::numeric_limits<Integer>::max())) {
    return static_cast<Integer>(value);
  }
  fields.fail(key, "too large: " + std::to_string(value));
  return 0;
}

std::optional<Duration> optional_span(JsonFields& fields, const char* key) {
  const std::optional<std::int64_t> ns = fields.optional_integer(key, kLeast);
  return ns ? std::optional(Duration::nanos(*ns)) : std::nullopt;
}

Duration span_of(JsonFields& fields, const char* key) {
  return Duration::nanos(fields.integer(key, kLeast));
}

// Instants and ages, of which differences are taken: none is beyond the end of time.
Duration short_span_of(JsonFields& fields, const char* key) {
  constexpr std::int64_t kMost = (kEndOfTime - Instant()).ns();
  const std::int64_t ns = fields.integer(key, -kMost);
  if (ns <= kMost) return Duration::nanos(ns);
  fields.fail(key, "too large: " + std::to_string(ns));
  return {};
}

// What `of` makes of the word; its default, and an error, when it makes nothing of it.
template <typename Value>
Value named(JsonFields& fields, const char* key, std::optional<Value> (*of)(std::string_view)) {
  const std::string word = fields.text(key);
  const std::optional<Value> value = of(word);
  if (!value) fields.fail(key, "no such name: '" + word + "'");
  return value.value_or(Value{});
}

std::optional<OutputPredictor> predictor_of(std::string_view name) {
  using enum OutputPredictor;
  for (const OutputPredictor predictor :
       {kNone, kMaxTokens, kConstant, kTenantQuantile, kSessionQuantile, kOracle}) {
    if (predictor_name(predictor) == name) return predictor;
  }
  return std::nullopt;
}

std::optional<StaleRule> stale_or_none(std::string_view name) {
  return name == stale_rule_name(StaleRule::kNone) ? StaleRule::kNone : stale_rule_of(name);
}

CallerKey caller_key(JsonFields& fields, const char* key) {
  if (fields.is_null(key)) return kNoCaller;
  const std::string digits = fields.text(key);
  const auto digit_of = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  CallerKey caller = kNoCaller;
  bool is_key = digits.size() == 16;
  for (const char c : digits) {
    is_key = is_key && digit_of(c) >= 0;
    caller = caller << 4U | static_cast<CallerKey>(std::max(digit_of(c), 0));
  }
  if (!is_key) {
    fields.fail(key, "expected null or 16 hexadecimal digits, got '" + digits + "'");
    return kNoCaller;
  }
  if (caller == kNoCaller) fields.fail(key, "0 is nobody's: expected null for nobody");
  return caller;
}

Decision read_decision(JsonFields& outer, const JsonPlace& place, const char* key) {
  const Json* object = outer.object(key);
  if (object == nullptr) return {};
  JsonFields fields(*object, place, std::string(key) + ".");
  Decision decision{.verdict = named(fields, "verdict", verdict_of),
                    .reason = named(fields, "reason", reason_of),
                    .retry_after = optional_span(fields, "retry_after_ns"),
                    .may_hold = fields.boolean("may_hold"),
                    .wakes_held = fields.boolean("wakes_held"),
                    .failed = fields.boolean("failed")};
  if (decision.admitted() != (decision.reason == Reason::kNone)) {
    fields.fail("reason", decision.admitted() ? "expected none, since the verdict is admit"
                                              : "expected one, since the verdict is not admit");
  }
  outer.adopt(fields);
  return decision;
}

void read_view(JsonFields& outer, const JsonPlace& place, RequestView& view) {
  const Json* object = outer.object("view");
  if (object == nullptr) return;
  JsonFields fields(*object, place, "view.");
  view.arrival = Instant() + span_of(fields, "arrival_ns");
  view.sequences = bounded<std::uint32_t>(fields, "sequences");
  view.prompt_tokens = fields.integer("prompt_tokens");
  view.prompt_is_estimated = fields.boolean("prompt_is_estimated");
  view.reusable_tokens = fields.integer("reusable_tokens");
  view.max_tokens = fields.integer("max_tokens");
  view.predicted_output_tokens = fields.integer("predicted_output_tokens");
  view.predictor = named(fields, "predictor", predictor_of);
  constexpr std::int64_t kLowest = std::numeric_limits<std::int32_t>::min();
  view.priority = bounded<std::int32_t>(fields, "priority", kLowest);
  view.slo_class = bounded<std::uint8_t>(fields, "slo_class");
  const std::optional<Duration> deadline = optional_span(fields, "ttft_deadline_ns");
  view.ttft_deadline = deadline ? Instant() + *deadline : Instant::never();
  view.itl_target = span_of(fields, "itl_target_ns");
  view.held = span_of(fields, "held_ns");
  view.body_bytes = fields.unsigned_integer("body_bytes");
  view.streamed = fields.boolean("streamed");
  view.identity_is_known = fields.boolean("identity_is_known");
  outer.adopt(fields);
}

void read_reading(JsonFields& outer, const JsonPlace& place, const std::string& name,
                  const Json& object, DecisionRecord& record) {
  const std::optional<Signal> signal = signal_of(name);
  if (!signal || !object.is_object()) {
    outer.fail("readings." + name, signal ? "expected a map" : "there is no such signal");
    return;
  }
  JsonFields fields(object, place, "readings." + name + ".");
  const double value = fields.number("value");
  const Instant observed_at = record.at - short_span_of(fields, "age_ns");
  const Reading reading = Reading::of(*signal, value, observed_at);
  if (!reading.is_known()) fields.fail("value", "out of the signal's range");
  record.readings[static_cast<std::size_t>(*signal)] = reading;
  outer.adopt(fields);
}

void read_signals(JsonFields& fields, const JsonPlace& place, DecisionRecord& record) {
  if (const Json* readings = fields.object("readings"); readings != nullptr) {
    for (const auto& [name, reading] : readings->items()) {
      read_reading(fields, place, name, reading, record);
    }
  }
  const Json* needed = fields.list("needed");
  if (needed == nullptr) return;
  for (const Json& name : *needed) {
    const auto signal = name.is_string() ? signal_of(name.get<std::string>()) : std::nullopt;
    if (signal) {
      record.needed.add(*signal);
    } else {
      fields.fail("needed", "there is no such signal: " + name.dump());
    }
  }
}

DecisionRecord read_record(JsonFields& fields, const JsonPlace& place) {
  DecisionRecord record;
  record.gate = bounded<std::uint32_t>(fields, "gate");
  record.sequence = fields.unsigned_integer("sequence");
  record.at = Instant() + short_span_of(fields, "at_ns");
  record.request.request = fields.unsigned_integer("request");
  record.request.attempt = bounded<std::uint32_t>(fields, "attempt");
  record.request.tenant = caller_key(fields, "tenant");
  record.request.session = caller_key(fields, "session");
  record.request.root_session = caller_key(fields, "root_session");
  record.cause = named(fields, "cause", decision_cause_of);
  record.request.is_rerouted = record.cause == DecisionCause::kRerouted;
  record.decided = read_decision(fields, place, "decided");
  record.effective = read_decision(fields, place, "effective");
  record.enforced = fields.boolean("enforced");
  record.held = fields.boolean("held");
  record.stale = named(fields, "stale", stale_or_none);
  record.policy_failed = fields.boolean("policy_failed");
  record.status = bounded<int>(fields, "status");
  record.retry_after = optional_span(fields, "retry_after_ns");
  read_view(fields, place, record.request);
  read_signals(fields, place, record);
  record.limit = fields.optional_number("limit");
  return record;
}

class Reader {
 public:
  Reader(const std::string& path, const std::function<void(const DecisionRecord&)>& read)
      : path_(path), read_(read) {}
  Result<DecisionLogContents> run();

 private:
  Result<void> read_head(const std::string& line, DecisionLogContents& contents);
  Result<void> read_line(const std::string& line, std::int64_t number);

  const std::string& path_;
  const std::function<void(const DecisionRecord&)>& read_;
  std::map<std::uint32_t, std::uint64_t> next_sequence_;  // of each gate
  Instant at_;                                            // of the line before
};

Result<void> Reader::read_head(const std::string& line, DecisionLogContents& contents) {
  const JsonPlace place{path_, 1};
  const Result<Json> head = parse_json_object(line, place);
  if (!head) return std::unexpected(head.error());
  JsonFields fields(*head, place);
  if (const std::string schema = fields.text("schema");
      !fields.failed() && schema != kDecisionsSchema) {
    fields.fail("schema", "expected '" + std::string(kDecisionsSchema) + "', got '" + schema + "'");
  }
  const std::int64_t version = fields.integer("version");
  if (!fields.failed() && version != kDecisionsSchemaVersion) {
    fields.fail("version", "version " + std::to_string(version) +
                               " of decision logs is not known: this program reads version " +
                               std::to_string(kDecisionsSchemaVersion));
  }
  contents.head = {.simulated = fields.boolean("simulated"),
                   .policy = fields.text("policy"),
                   .json = head->dump()};
  if (fields.failed()) return std::unexpected(fields.error());
  return {};
}

Result<void> Reader::read_line(const std::string& line, std::int64_t number) {
  const JsonPlace place{path_, number};
  const Result<Json> object = parse_json_object(line, place);
  if (!object) return std::unexpected(object.error());
  JsonFields fields(*object, place);
  const DecisionRecord record = read_record(fields, place);
  const auto next = next_sequence_.try_emplace(record.gate, record.sequence).first;
  if (record.sequence != next->second) {
    fields.fail("sequence", "expected " + std::to_string(next->second) + ", got " +
                                std::to_string(record.sequence) +
                                ": a line is missing or out of order");
  }
  if (record.at < at_) fields.fail("at_ns", "earlier than the decision before");
  if (fields.failed()) return std::unexpected(fields.error());
  ++next->second;
  at_ = record.at;
  read_(record);
  return {};
}

// A line is read when it is known whether another one follows.
Result<DecisionLogContents> Reader::run() {
  Result<LineReader> lines = LineReader::open(path_);
  if (!lines) return std::unexpected(lines.error());
  DecisionLogContents contents;
  std::string line;
  std::string next;
  Result<bool> more = lines->next(line);
  if (more && !*more) {
    return fail(
        ErrorCode::kInvalidInput,
        "empty: expected a decision log, whose first line says " + std::string(kDecisionsSchema),
        path_);
  }
  for (std::int64_t number = 1; more && *more; ++number) {
    more = lines->next(next);
    if (!more) break;
    const bool is_cut = number > 1 && !*more && !parse_json_object(line, {path_, number});
    if (is_cut) {
      contents.note = "Line " + std::to_string(number) + " of " + path_ +
                      ", the last one, is cut off and was left out.";
      break;
    }
    const Result<void> read = number == 1 ? read_head(line, contents) : read_line(line, number);
    if (!read) return std::unexpected(read.error());
    std::swap(line, next);
  }
  if (!more) return std::unexpected(more.error());
  return contents;
}

}  // namespace

Result<DecisionLogContents> read_decisions(const std::string& path,
                                           const std::function<void(const DecisionRecord&)>& read) {
  return Reader(path, read).run();
}

Result<DecisionLogContents> read_decisions(const std::string& path) {
  std::vector<DecisionRecord> decisions;
  Result<DecisionLogContents> contents =
      read_decisions(path, [&](const DecisionRecord& record) { decisions.push_back(record); });
  if (contents) contents->decisions = std::move(decisions);
  return contents;
}

}  // namespace inferscale

#include "report/decision_log_lines.h"

#include <array>
#include <cstddef>

namespace inferscale {
namespace {

void append_count(std::string& out, std::string_view key, std::int64_t count) {
  out += key;
  append_json_integer(out, count);
}

void append_unsigned(std::string& out, std::string_view key, std::uint64_t count) {
  out += key;
  append_json_integer(out, count);
}

void append_flag(std::string& out, std::string_view key, bool flag) {
  out += key;
  out += flag ? "true" : "false";
}

void append_word(std::string& out, std::string_view key, std::string_view word) {
  out += key;
  out += '"';
  out += word;
  out += '"';
}

void append_span(std::string& out, std::string_view key, std::optional<Duration> span) {
  out += key;
  if (span) {
    append_json_integer(out, span->ns());
  } else {
    out += "null";
  }
}

void append_key(std::string& out, std::string_view key, CallerKey caller) {
  out += key;
  if (caller == kNoCaller) {
    out += "null";
    return;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[caller >> shift & 15U];
  out += '"';
}

void append_decision(std::string& out, std::string_view key, const Decision& decision) {
  out += key;
  append_word(out, "{\"verdict\":", verdict_name(decision.verdict));
  append_word(out, ",\"reason\":", reason_name(decision.reason));
  append_span(out, ",\"retry_after_ns\":", decision.retry_after);
  append_flag(out, ",\"may_hold\":", decision.may_hold);
  append_flag(out, ",\"wakes_held\":", decision.wakes_held);
  append_flag(out, ",\"failed\":", decision.failed);
  out += '}';
}

void append_view(std::string& out, const RequestView& view) {
  append_count(out, ",\"view\":{\"arrival_ns\":", view.arrival.ns());
  append_unsigned(out, ",\"sequences\":", view.sequences);
  append_count(out, ",\"prompt_tokens\":", view.prompt_tokens);
  append_flag(out, ",\"prompt_is_estimated\":", view.prompt_is_estimated);
  append_count(out, ",\"reusable_tokens\":", view.reusable_tokens);
  append_count(out, ",\"max_tokens\":", view.max_tokens);
  append_count(out, ",\"predicted_output_tokens\":", view.predicted_output_tokens);
  append_word(out, ",\"predictor\":", predictor_name(view.predictor));
  append_count(out, ",\"priority\":", view.priority);
  append_unsigned(out, ",\"slo_class\":", view.slo_class);
  append_span(out, ",\"ttft_deadline_ns\":",
              view.has_deadline() ? std::optional(view.ttft_deadline - Instant()) : std::nullopt);
  append_count(out, ",\"itl_target_ns\":", view.itl_target.ns());
  append_count(out, ",\"held_ns\":", view.held.ns());
  append_unsigned(out, ",\"body_bytes\":", view.body_bytes);
  append_flag(out, ",\"streamed\":", view.streamed);
  append_flag(out, ",\"identity_is_known\":", view.identity_is_known);
  out += '}';
}

void append_readings(std::string& out, const DecisionRecord& record) {
  out += ",\"readings\":{";
  bool is_first = true;
  for (const SignalSpec& spec : all_signals()) {
    const Reading& reading = record.readings[static_cast<std::size_t>(spec.signal)];
    if (!reading.is_known()) continue;
    out += is_first ? "\"" : ",\"";
    is_first = false;
    out += spec.name;
    out += "\":{\"value\":";
    append_json_number(out, reading.value);
    append_count(out, ",\"age_ns\":", (record.at - reading.observed_at).ns());
    out += '}';
  }
  out += "},\"needed\":[";
  is_first = true;
  for (const SignalSpec& spec : all_signals()) {
    if (!record.needed.has(spec.signal)) continue;
    out += is_first ? "\"" : ",\"";
    is_first = false;
    out += spec.name;
    out += '"';
  }
  out += ']';
}

}  // namespace

std::string decision_log_head(const DecisionLogFacts& facts) {
  JsonValue head = JsonValue::object();
  head.add("schema", kDecisionsSchema)
      .add("version", kDecisionsSchemaVersion)
      .add("simulated", facts.simulated)
      .add("policy", facts.policy);
  for (const JsonValue::Member& fact : facts.more.members()) head.add(fact.key, fact.value);
  return head.text() + "\n";
}

void append_decision_line(std::string& out, const DecisionRecord& record) {
  append_unsigned(out, "{\"gate\":", record.gate);
  append_unsigned(out, ",\"sequence\":", record.sequence);
  append_count(out, ",\"at_ns\":", record.at.ns());
  append_unsigned(out, ",\"request\":", record.request.request);
  append_unsigned(out, ",\"attempt\":", record.request.attempt);
  append_key(out, ",\"tenant\":", record.request.tenant);
  append_key(out, ",\"session\":", record.request.session);
  append_key(out, ",\"root_session\":", record.request.root_session);
  append_word(out, ",\"cause\":", decision_cause_name(record.cause));
  append_decision(out, ",\"decided\":", record.decided);
  append_decision(out, ",\"effective\":", record.effective);
  append_flag(out, ",\"enforced\":", record.enforced);
  append_flag(out, ",\"held\":", record.held);
  append_word(out, ",\"stale\":", stale_rule_name(record.stale));
  append_flag(out, ",\"policy_failed\":", record.policy_failed);
  append_count(out, ",\"status\":", record.status);
  append_span(out, ",\"retry_after_ns\":", record.retry_after);
  append_view(out, record.request);
  append_readings(out, record);
  out += ",\"limit\":";
  if (record.limit) {
    append_json_number(out, *record.limit);
  } else {
    out += "null";
  }
  out += "}\n";
}

}  // namespace inferscale

#include "report/jsonl_lines.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/json_writer.h"

namespace inferscale {
namespace {

constexpr int kMillisDecimals = 6;   // of a nanosecond count in milliseconds
constexpr int kSecondsDecimals = 9;  // in seconds

void append_instant(std::string& out, std::string_view key, Instant instant) {
  out += key;
  if (instant == Instant::never()) {
    out += "null";
  } else {
    append_json_integer(out, instant.ns());
  }
}

void append_millis(std::string& out, std::string_view key, std::optional<Duration> duration) {
  out += key;
  if (duration) {
    append_json_scaled(out, duration->ns(), kMillisDecimals);
  } else {
    out += "null";
  }
}

void append_count(std::string& out, std::string_view key, std::int64_t count) {
  out += key;
  append_json_integer(out, count);
}

void append_verdict(std::string& out, std::string_view key, std::optional<bool> met) {
  out += key;
  out += !met ? "null" : *met ? "true" : "false";
}

// The mean gap to the nearest nanosecond. REQUIRES: finished, at least two tokens.
Duration tpot(const Outcome& outcome) {
  const std::int64_t gaps = static_cast<std::int64_t>(outcome.output_tokens) - 1;
  const std::int64_t span = (outcome.finish - outcome.first_token).ns();
  return Duration::nanos(span / gaps + (span % gaps * 2 >= gaps ? 1 : 0));
}

void append_status(std::string& out, const Outcome& outcome) {
  out += ",\"status\":\"";
  out += status_name(outcome.status);
  out += '"';
  const bool at_door =
      outcome.status == OutcomeStatus::kDeferred ||
      (outcome.status == OutcomeStatus::kAbandoned && outcome.reason != Reason::kNone);
  if (outcome.status == OutcomeStatus::kRefused || at_door) {
    out += ",\"reason\":\"";
    out += reason_name(outcome.reason);
    out += '"';
  }
}

void append_timestamps(std::string& out, const Outcome& outcome) {
  append_instant(out, ",\"arrival_ns\":", outcome.arrival);
  append_instant(out, ",\"start_ns\":", outcome.start);
  append_instant(out, ",\"first_token_ns\":", outcome.first_token);
  append_instant(out, ",\"finish_ns\":", outcome.finish);
}

void append_latencies(std::string& out, const Outcome& outcome) {
  const auto since_arrival = [&](Instant instant) {
    return instant == Instant::never() ? std::optional<Duration>() : instant - outcome.arrival;
  };
  const bool has_gaps = outcome.finished() && outcome.output_tokens >= 2;
  append_millis(out, ",\"queue_ms\":", since_arrival(outcome.start));
  append_millis(out, ",\"ttft_ms\":", since_arrival(outcome.first_token));
  append_millis(out, ",\"tpot_ms\":", has_gaps ? std::optional(tpot(outcome)) : std::nullopt);
  append_millis(out, ",\"e2e_ms\":", since_arrival(outcome.finish));
  append_millis(out, ",\"itl_ms_max\":", has_gaps ? std::optional(outcome.itl_max) : std::nullopt);
}

void append_name(std::string& out, std::string_view key, std::span<const std::uint32_t> column,
                 std::span<const std::string> names, std::uint64_t id) {
  if (column.empty()) return;
  out += key;
  if (column[id] == CarriedColumns::kNoName) {
    out += "null";
  } else {
    append_json_string(out, names[column[id]]);
  }
}

void append_carried(std::string& out, std::uint64_t id, const Outcome& outcome,
                    const CarriedColumns& carried) {
  append_name(out, ",\"tenant\":", carried.tenant, carried.tenant_names, id);
  append_name(out, ",\"session\":", carried.session, carried.session_names, id);
  if (!carried.priority.empty()) {
    out += ",\"priority\":";
    const std::int64_t priority = carried.priority[id];
    if (priority == CarriedColumns::kNoPriority) {
      out += "null";
    } else {
      append_json_integer(out, priority);
    }
  }
  if (!carried.deadline_ms.empty()) {
    const double deadline_ms = carried.deadline_ms[id];
    out += ",\"deadline_ms\":";
    append_json_number(out, deadline_ms);
    std::optional<bool> met;
    if (!std::isnan(deadline_ms)) {
      // As a number: a deadline may be later than nanoseconds can count.
      constexpr double kNanosPerMilli = 1e6;
      met = outcome.finished() &&
            static_cast<double>(outcome.e2e().ns()) <= deadline_ms * kNanosPerMilli;
    }
    append_verdict(out, ",\"deadline_met\":", met);
  }
}

// A share between 0 and 1 with six decimals: more would only be noise on the page of a person.
void append_fraction(std::string& out, std::string_view key, double fraction) {
  constexpr double kScale = 1e6;
  out += key;
  if (std::isfinite(fraction)) {
    append_json_scaled(out, std::llround(fraction * kScale), 6);
  } else {
    out += "null";
  }
}

}  // namespace

void append_outcome_line(std::string& out, std::uint64_t id, const Outcome& outcome, const Slo& slo,
                         const CarriedColumns& carried, const OutcomeColumns& columns) {
  out += "{\"id\":";
  append_json_integer(out, id);
  append_status(out, outcome);
  append_timestamps(out, outcome);
  append_count(out, ",\"prompt_tokens\":", outcome.prompt_tokens);
  append_count(out, ",\"output_tokens\":", outcome.output_tokens);
  append_latencies(out, outcome);
  append_count(out, ",\"gaps_over_limit\":", outcome.gaps_over_limit);
  append_count(out, ",\"preemptions\":", outcome.preemptions);
  if (columns.cached_tokens) append_count(out, ",\"cached_tokens\":", outcome.cached_tokens);
  if (columns.replica) append_count(out, ",\"replica\":", outcome.replica);
  const RequestClasses& classes = columns.classes;
  if (classes.exist()) {
    out += ",\"slo_class\":";
    append_json_string(out, classes.classes[classes.of[id]].name);
  }
  append_verdict(
      out, ",\"slo_met\":",
      classes.any(slo) ? std::optional(slo_met(classes.slo(id, slo), outcome)) : std::nullopt);
  append_carried(out, id, outcome, carried);
  out += "}\n";
}

void append_attempt_line(std::string& out, const AttemptPlace& place, const Outcome& outcome) {
  out += "{\"id\":";
  append_json_integer(out, place.id);
  out += ",\"request\":";
  append_json_integer(out, place.request);
  append_count(out, ",\"attempt\":", place.attempt);
  append_verdict(out, ",\"is_last\":", place.is_last);
  append_status(out, outcome);
  append_timestamps(out, outcome);
  append_count(out, ",\"prompt_tokens\":", outcome.prompt_tokens);
  append_count(out, ",\"output_tokens\":", outcome.output_tokens);
  append_count(out, ",\"cached_tokens\":", outcome.cached_tokens);
  append_count(out, ",\"replica\":", outcome.replica);
  out += "}\n";
}

void append_signal_line(std::string& out, const SignalSample& sample) {
  out += "{\"t_s\":";
  append_json_scaled(out, sample.at.ns(), kSecondsDecimals);
  append_count(out, ",\"replica\":", sample.replica);
  append_count(out, ",\"queue_depth\":", sample.queue_depth);
  append_count(out, ",\"running\":", sample.running);
  append_count(out, ",\"kv_blocks_used\":", sample.kv_blocks_used);
  append_fraction(out, ",\"kv_used_fraction\":", sample.kv_used_fraction);
  append_count(out, ",\"arrived\":", sample.arrived);
  append_count(out, ",\"finished\":", sample.finished);
  append_count(out, ",\"refused\":", sample.refused);
  append_count(out, ",\"preemptions\":", sample.preemptions);
  out += "}\n";
}

void append_replica_line(std::string& out, const ReplicaReport& replica) {
  std::string up_s;
  append_json_scaled(up_s, replica.up.ns(), kSecondsDecimals);
  const JsonValue line = JsonValue::object()
                             .add("replica", replica.index)
                             .add("pool", replica.pool)
                             .add("accelerators", replica.accelerators)
                             .add("up_s", JsonValue::raw(std::move(up_s)))
                             .add("busy_s", replica.busy_ns * 1e-9)
                             .add("busy_fraction", replica.busy_fraction())
                             .add("finished", replica.finished)
                             .add("preemptions", replica.preemptions)
                             .add("prompt_tokens_looked_up", replica.prompt_tokens_looked_up)
                             .add("prompt_tokens_cached", replica.prompt_tokens_cached)
                             .add("prefix_hit_rate", replica.prefix_hit_rate())
                             .add("kv_blocks", replica.kv_blocks)
                             .add("kv_blocks_peak", replica.kv_blocks_peak)
                             .add("kv_used_mean", replica.kv_used_mean())
                             .add("kv_used_peak", replica.kv_used_peak())
                             .add("queue_peak", replica.queue_peak);
  out += line.text() + "\n";
}

}  // namespace inferscale

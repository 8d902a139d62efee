#include "report/session_lines.h"

#include <cmath>
#include <optional>

#include "base/json_writer.h"

namespace inferscale {
namespace {

constexpr int kMillisDecimals = 6;   // of a nanosecond count in milliseconds
constexpr int kSecondsDecimals = 9;  // in seconds

void append_count(std::string& out, std::string_view key, std::int64_t count) {
  out += key;
  append_json_integer(out, count);
}

void append_instant(std::string& out, std::string_view key, Instant instant) {
  out += key;
  if (instant == Instant::never()) {
    out += "null";
  } else {
    append_json_integer(out, instant.ns());
  }
}

void append_scaled(std::string& out, std::string_view key, std::optional<Duration> duration,
                   int decimals) {
  out += key;
  if (duration) {
    append_json_scaled(out, duration->ns(), decimals);
  } else {
    out += "null";
  }
}

// What the last attempt came to, from the instant the call was ready. `slo` is null where nothing
// is judged.
void append_attempt(std::string& out, const CallRecord& call, const Outcome* outcome,
                    const Slo* slo) {
  const auto since = [&](Instant instant) {
    return outcome == nullptr || instant == Instant::never() ? std::nullopt
                                                             : std::optional(instant - call.ready);
  };
  const Outcome none;
  const Outcome& last = outcome == nullptr ? none : *outcome;
  append_scaled(out, ",\"queue_ms\":", since(last.start), kMillisDecimals);
  append_scaled(out, ",\"ttft_ms\":", since(last.first_token), kMillisDecimals);
  append_scaled(out, ",\"e2e_ms\":", since(last.finish), kMillisDecimals);
  if (last.finished()) {
    append_count(out, ",\"cached_tokens\":", last.cached_tokens);
    append_count(out, ",\"history_recomputed_tokens\":", history_recomputed(call, last));
    append_count(out, ",\"replica\":", last.replica);
    append_scaled(out, ",\"alone_ms\":", Duration::nanos(std::llround(call.alone_ns)),
                  kMillisDecimals);
    append_scaled(out, ",\"recompute_ms\":", Duration::nanos(std::llround(call.recompute_ns)),
                  kMillisDecimals);
  } else {
    out += ",\"cached_tokens\":null,\"history_recomputed_tokens\":null,\"replica\":null";
    out += ",\"alone_ms\":null,\"recompute_ms\":null";
  }
  out += ",\"slo_met\":";
  out += slo == nullptr ? "null" : slo_met(*slo, last) ? "true" : "false";
}

}  // namespace

std::string_view call_status_name(CallStatus status) {
  switch (status) {
    case CallStatus::kNotReached:
      return "not_reached";
    case CallStatus::kUnfinished:
      return "unfinished";
    case CallStatus::kFinished:
      return "finished";
    case CallStatus::kFailed:
      return "failed";
  }
  return "unknown";
}

std::string_view session_status_name(SessionStatus status) {
  switch (status) {
    case SessionStatus::kNotBegun:
      return "not_begun";
    case SessionStatus::kUnfinished:
      return "unfinished";
    case SessionStatus::kComplete:
      return "complete";
    case SessionStatus::kFailed:
      return "failed";
  }
  return "unknown";
}

void append_session_line(std::string& out, std::uint64_t index, const SessionRecord& session,
                         std::span<const CallRecord> calls, std::span<const Outcome> outcomes,
                         const std::string* name) {
  const SessionStatus status = status_of(session, calls);
  out += "{\"session\":";
  append_json_integer(out, index);
  if (name != nullptr) {
    out += ",\"name\":";
    append_json_string(out, *name);
  }
  out += ",\"status\":\"";
  out += session_status_name(status);
  out += '"';
  append_instant(out, ",\"begin_ns\":", session.begin);
  append_instant(out, ",\"end_ns\":", session.end);
  const bool complete = status == SessionStatus::kComplete;
  append_scaled(
      out, ",\"makespan_s\":", complete ? std::optional(session.end - session.begin) : std::nullopt,
      kSecondsDecimals);
  append_scaled(out, ",\"gaps_s\":", session.gaps, kSecondsDecimals);
  append_count(out, ",\"chains\":", session.chains);
  append_count(out, ",\"calls\":", session.calls);
  append_count(out, ",\"finished\":", session.finished);
  append_count(out, ",\"failed\":", session.failed);
  const std::optional<double> stretch = complete ? stretch_of(calls, outcomes) : std::nullopt;
  out += ",\"stretch\":" + JsonValue(stretch).text() + "}\n";
}

void append_call_line(std::string& out, const CallRecord& call, std::span<const Outcome> outcomes,
                      const Slo& slo, const RequestClasses& classes) {
  append_count(out, "{\"session\":", call.session);
  append_count(out, ",\"chain\":", call.chain);
  append_count(out, ",\"turn\":", call.turn);
  out += ",\"status\":\"";
  out += call_status_name(call.status);
  out += '"';
  append_count(out, ",\"attempts\":", call.attempts);
  std::optional<Outcome> outcome;
  if (call.request == CallRecord::kNone) {
    out += ",\"request\":null";
  } else {
    append_count(out, ",\"request\":", call.request);
    outcome = since_ready(call, outcomes);
  }
  // One that was never presented has met nothing, whatever its targets.
  const Slo& own = outcome ? classes.slo(call.request, slo) : slo;
  append_instant(out, ",\"ready_ns\":", call.ready);
  append_count(out, ",\"prompt_tokens\":", call.prompt_tokens);
  append_count(out, ",\"output_tokens\":", call.output_tokens);
  append_count(out, ",\"history_tokens\":", call.history_tokens);
  append_attempt(out, call, outcome ? &*outcome : nullptr, classes.any(slo) ? &own : nullptr);
  out += "}\n";
}

}  // namespace inferscale

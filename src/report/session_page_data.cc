#include "report/session_page_data.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "metrics/quantiles.h"
#include "metrics/session_times.h"
#include "metrics/sessions_over_time.h"
#include "report/page_numbers.h"

namespace inferscale {
namespace {

constexpr std::size_t kParts = 240;  // of the time
constexpr std::size_t kMostTurnPoints = 100;
constexpr std::size_t kTurnsPerPoint = 20;  // or the percentiles would be noise

JsonValue makespans_json(const RunFolder& run) {
  std::vector<double> makespans_ms;
  for (const SessionRecord& session : run.programs.sessions) {
    if (session.complete()) makespans_ms.push_back((session.end - session.begin).millis());
  }
  return cdf_json(std::move(makespans_ms));
}

JsonValue over_time_json(const RunFolder& run) {
  const Instant end = shown_until(run).value_or(run.end);
  SessionsOverTime over = sessions_over_time(run.programs, run.outcomes, end, kParts);
  if (run.programs.calls.empty()) over.turns.clear();
  return JsonValue::object()
      .add("width_s", end.seconds() / static_cast<double>(kParts))
      .add("sessions", numbers(over.sessions, kValueDigits))
      .add("turns", numbers(over.turns, kValueDigits));
}

struct TurnPoint {
  std::uint32_t first = 0;
  std::vector<double> ttft_ms;
  TokenCount history = 0;
  TokenCount recomputed = 0;

  double history_percent() const {
    if (history == 0) return std::numeric_limits<double>::quiet_NaN();
    return 100 * (1 - static_cast<double>(recomputed) / static_cast<double>(history));
  }
};

// Finished calls by their number in their chain; numbers that few chains reach are taken together.
std::vector<TurnPoint> turn_points(const RunFolder& run) {
  std::vector<const CallRecord*> calls;
  for (const CallRecord& call : run.programs.calls) {
    if (call.status == CallStatus::kFinished) calls.push_back(&call);
  }
  std::stable_sort(calls.begin(), calls.end(), [](const CallRecord* one, const CallRecord* other) {
    return one->turn < other->turn;
  });
  const std::size_t least = std::max(kTurnsPerPoint, calls.size() / kMostTurnPoints);
  std::vector<TurnPoint> points;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallRecord& call = *calls[i];
    const bool new_turn = i == 0 || call.turn != calls[i - 1]->turn;
    const bool enough_left = calls.size() - i >= least;
    if (points.empty() || (new_turn && enough_left && points.back().ttft_ms.size() >= least)) {
      points.push_back({.first = call.turn + 1});
    }
    TurnPoint& point = points.back();
    const Outcome outcome = since_ready(call, run.outcomes);
    point.ttft_ms.push_back(outcome.ttft().millis());
    point.history += call.history_tokens;
    point.recomputed += history_recomputed(call, outcome);
  }
  for (TurnPoint& point : points) std::sort(point.ttft_ms.begin(), point.ttft_ms.end());
  return points;
}

JsonValue by_turn_json(const RunFolder& run) {
  const std::vector<TurnPoint> points = turn_points(run);
  const auto ttft = [&](double q) {
    return numbers(points, kValueDigits,
                   [q](const TurnPoint& point) { return nearest_rank(point.ttft_ms, q); });
  };
  const auto history = [&](const TurnPoint& point) {
    return run.has_cached_tokens ? point.history_percent()
                                 : std::numeric_limits<double>::quiet_NaN();
  };
  return JsonValue::object()
      .add("turn", numbers(points, kTimeDigits, [](const TurnPoint& point) { return point.first; }))
      .add("turns", numbers(points, kTimeDigits,
                            [](const TurnPoint& point) { return point.ttft_ms.size(); }))
      .add("ttft_p50", ttft(0.5))
      .add("ttft_p95", ttft(0.95))
      .add("history_percent", numbers(points, kValueDigits, history));
}

}  // namespace

std::optional<Instant> shown_until(const RunFolder& run) {
  if (!run.has_sessions) return std::nullopt;
  const Instant until = busy_end(run.programs.calls, run.outcomes, run.end);
  if (until == run.end) return std::nullopt;
  return until;
}

JsonValue session_page_json(const RunFolder& run) {
  if (!run.has_sessions) return {};
  std::vector<double> ttft_ms;
  for (const CallRecord& call : run.programs.calls) {
    if (call.status != CallStatus::kFinished) continue;
    ttft_ms.push_back(since_ready(call, run.outcomes).ttft().millis());
  }
  const std::optional<Instant> until = shown_until(run);
  return JsonValue::object()
      .add("until_s", until ? JsonValue(until->seconds()) : JsonValue())
      .add("cdf", JsonValue::object()
                      .add("ttft", cdf_json(std::move(ttft_ms)))
                      .add("makespan", makespans_json(run)))
      .add("over_time", over_time_json(run))
      .add("by_turn", by_turn_json(run));
}

}  // namespace inferscale

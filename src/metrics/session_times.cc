#include "metrics/session_times.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "metrics/quantiles.h"

namespace inferscale {
namespace {

constexpr double kMost = 0.99;

void set_after_last_begin(std::span<const SessionRecord> sessions, Instant end,
                          SessionTimes& times) {
  Instant last;
  for (const SessionRecord& session : sessions) {
    if (session.begin <= end) last = std::max(last, session.begin);
  }
  times.last_begin_s = last.seconds();
  if (last >= end) return;
  const double after_s = (end - last).seconds();
  times.after_share = after_s / end.seconds();
  double session_s = 0;
  for (const SessionRecord& session : sessions) {
    if (session.begin > end || session.end <= last) continue;
    session_s += (std::min(session.end, end) - last).seconds();
  }
  times.after_sessions_mean = session_s / after_s;
}

}  // namespace

std::optional<Instant> most_turns_finished(std::span<const CallRecord> calls,
                                           std::span<const Outcome> outcomes) {
  std::vector<Instant> finishes;
  for (const CallRecord& call : calls) {
    if (call.status == CallStatus::kFinished) finishes.push_back(outcomes[call.request].finish);
  }
  if (finishes.empty()) return std::nullopt;
  const std::int64_t rank = nearest_rank_of(kMost, std::ssize(finishes));
  const auto place = finishes.begin() + (rank - 1);
  std::nth_element(finishes.begin(), place, finishes.end());
  return *place;
}

Instant busy_end(std::span<const CallRecord> calls, std::span<const Outcome> outcomes,
                 Instant end) {
  const std::optional<Instant> most = most_turns_finished(calls, outcomes);
  return most && *most - Instant() < end - *most ? *most : end;
}

SessionTimes session_times(const ProgramRecords& records, std::span<const Outcome> outcomes,
                           Instant end) {
  SessionTimes times;
  set_after_last_begin(records.sessions, end, times);
  times.most_turns = most_turns_finished(records.calls, outcomes);
  if (!times.most_turns || *times.most_turns <= Instant()) return times;
  double tokens = 0;
  for (const CallRecord& call : records.calls) {
    if (call.status != CallStatus::kFinished) continue;
    const Outcome& outcome = outcomes[call.request];
    if (outcome.finish <= *times.most_turns) tokens += outcome.output_tokens;
  }
  times.most_turns_output_tokens_per_s = tokens / times.most_turns->seconds();
  return times;
}

}  // namespace inferscale

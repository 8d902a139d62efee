#include "metrics/session_summary.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "metrics/jain.h"

namespace inferscale {
namespace {

constexpr double kSecondsPerNano = 1e-9;
constexpr double kGbPerByte = 1e-9;
constexpr double kStarvedTimesMedian = 10;

// A latency of each finished call, from the instant it was ready, in milliseconds.
class CallLatencies final : public ValueStream {
 public:
  enum class Figure : std::uint8_t { kTtft, kE2e };

  CallLatencies(std::span<const CallRecord> calls, std::span<const Outcome> outcomes, Figure figure)
      : calls_(calls), outcomes_(outcomes), figure_(figure) {}
  std::size_t size_at_most() const override { return calls_.size(); }
  void restart() override { next_ = 0; }
  std::span<const double> next() override {
    std::size_t filled = 0;
    for (; filled < buffer_.size() && next_ < calls_.size(); ++next_) {
      const CallRecord& call = calls_[next_];
      if (call.status != CallStatus::kFinished) continue;
      const Outcome& outcome = outcomes_[call.request];
      const Instant end = figure_ == Figure::kTtft ? outcome.first_token : outcome.finish;
      buffer_[filled++] = (end - call.ready).millis();
    }
    return {buffer_.data(), filled};
  }

 private:
  std::span<const CallRecord> calls_;
  std::span<const Outcome> outcomes_;
  Figure figure_;
  std::size_t next_ = 0;
  std::array<double, 512> buffer_{};
};

class KeptValues final : public ValueStream {
 public:
  explicit KeptValues(std::span<const double> values) : values_(values) {}
  std::size_t size_at_most() const override { return values_.size(); }
  void restart() override { given_ = false; }
  std::span<const double> next() override {
    if (given_) return {};
    given_ = true;
    return values_;
  }

 private:
  std::span<const double> values_;
  bool given_ = false;
};

PopulationSummary summary_of(std::span<const double> values) {
  KeptValues stream(values);
  return summarize(stream);
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::optional<double> share_if_any(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

// Of complete sessions.
struct SessionValues {
  std::vector<double> makespans_s;
  std::vector<double> stretches;
};

void count_session(const SessionRecord& session, std::span<const CallRecord> calls,
                   std::span<const Outcome> outcomes, const SessionFacts& facts,
                   SessionSummary& summary, SessionValues& values) {
  const SessionStatus status = status_of(session, calls);
  if (status == SessionStatus::kNotBegun) return;
  ++summary.sessions;
  summary.turns += session.calls;
  summary.turns_unreached += std::count_if(calls.begin(), calls.end(), [](const CallRecord& call) {
    return call.status == CallStatus::kNotReached;
  });
  if (status == SessionStatus::kFailed) ++summary.failed;
  if (status == SessionStatus::kUnfinished) ++summary.unfinished;
  if (status != SessionStatus::kComplete) return;
  ++summary.complete;
  const Duration makespan = session.end - session.begin;
  values.makespans_s.push_back(makespan.seconds());
  if (!facts.makespan || makespan <= *facts.makespan) ++summary.sessions_met;
  if (const auto stretch = stretch_of(calls, outcomes)) values.stretches.push_back(*stretch);
}

// The wait of a call that has a start, or is still without one at the end of the run.
Duration waited(const CallRecord& call, std::span<const Outcome> outcomes, Instant end) {
  const bool presented = call.request != CallRecord::kNone;
  const Instant start = presented ? outcomes[call.request].start : Instant::never();
  return std::min(start, end) - call.ready;
}

void count_history(const CallRecord& call, const CallRecord* before,
                   std::span<const Outcome> outcomes, SessionSummary& summary,
                   std::int64_t& same_replica) {
  const Outcome& outcome = outcomes[call.request];
  summary.prompt_tokens += outcome.prompt_tokens;
  summary.cached_tokens += outcome.cached_tokens;
  if (call.history_tokens == 0) return;
  ++summary.turns_with_history;
  summary.history_tokens += call.history_tokens;
  summary.history_recomputed += history_recomputed(call, outcome);
  if (outcome.cached_tokens > 0) ++summary.turns_hit;
  CHECK(before != nullptr && before->chain == call.chain) << "a history without a turn before";
  if (outcomes[before->request].replica == outcome.replica) ++same_replica;
}

void count_turns(const ProgramRecords& records, std::span<const Outcome> outcomes,
                 const SessionFacts& facts, SessionSummary& summary) {
  std::int64_t same_replica = 0;
  double recompute_ns = 0;
  Duration longest;
  const CallRecord* before = nullptr;
  for (const CallRecord& call : records.calls) {
    summary.attempts += call.attempts;
    if (call.status == CallStatus::kFailed) ++summary.turns_failed;
    if (call.status == CallStatus::kFinished || call.status == CallStatus::kUnfinished) {
      longest = std::max(longest, waited(call, outcomes, facts.end));
    }
    if (call.status == CallStatus::kFinished) {
      ++summary.turns_finished;
      recompute_ns += call.recompute_ns;
      const Slo& slo = facts.classes.slo(call.request, facts.slo);
      if (slo_met(slo, since_ready(call, outcomes))) ++summary.turns_met;
      count_history(call, before, outcomes, summary, same_replica);
    }
    before = &call;
  }
  summary.recompute_s = recompute_ns * kSecondsPerNano;
  summary.queue_s_max = longest.seconds();
  summary.locality = share_if_any(same_replica, summary.turns_with_history);
  summary.prompt_hit_rate = share_if_any(summary.cached_tokens, summary.prompt_tokens);
  summary.history_hit_rate =
      share_if_any(summary.history_tokens - summary.history_recomputed, summary.history_tokens);
}

// Of the sessions' progress.
std::optional<double> jain_of(std::span<const double> stretches) {
  std::vector<double> progress;
  progress.reserve(stretches.size());
  for (const double stretch : stretches) progress.push_back(1 / stretch);
  return jain_index(progress);
}

void fill_kv(const SessionFacts& facts, SessionSummary& summary) {
  const KvRetentionUsage& usage = facts.retention;
  const double gb_per_token = facts.kv_bytes_per_token * kGbPerByte;
  summary.retention = usage;
  summary.transfer_s = (usage.restore_ns + usage.exposed_ns) * kSecondsPerNano;
  summary.hbm_gb_seconds = usage.resident_token_ns * kSecondsPerNano * gb_per_token;
  summary.idle_gb_seconds = usage.idle_token_ns * kSecondsPerNano * gb_per_token;
  summary.kv_gb_mean = share(summary.hbm_gb_seconds, facts.end.seconds());
  summary.kv_gb_peak_replica = static_cast<double>(usage.resident_peak) * gb_per_token;
  summary.host_gb_peak = static_cast<double>(usage.host_peak) * gb_per_token;
}

}  // namespace

std::span<const CallRecord> SessionCalls::of_next(const SessionRecord& session) {
  CHECK(session.calls <= rest_.size()) << "a session of calls that nobody recorded";
  const std::span<const CallRecord> calls = rest_.first(session.calls);
  rest_ = rest_.subspan(session.calls);
  return calls;
}

SessionStatus status_of(const SessionRecord& session, std::span<const CallRecord> calls) {
  if (session.complete()) return SessionStatus::kComplete;
  if (session.failed > 0) return SessionStatus::kFailed;
  return calls.front().status == CallStatus::kNotReached ? SessionStatus::kNotBegun
                                                         : SessionStatus::kUnfinished;
}

Outcome since_ready(const CallRecord& call, std::span<const Outcome> outcomes) {
  CHECK(call.request < outcomes.size()) << "a call without an outcome";
  Outcome outcome = outcomes[call.request];
  outcome.arrival = call.ready;
  return outcome;
}

TokenCount history_recomputed(const CallRecord& call, const Outcome& outcome) {
  // A prompt begins with its history, and so does what a cache holds of it.
  return call.history_tokens - std::min(call.history_tokens, outcome.cached_tokens);
}

std::optional<double> stretch_of(std::span<const CallRecord> calls,
                                 std::span<const Outcome> outcomes) {
  Duration taken;
  double alone_ns = 0;
  for (const CallRecord& call : calls) {
    taken += outcomes[call.request].finish - call.ready;
    alone_ns += call.alone_ns;
  }
  if (alone_ns <= 0) return std::nullopt;
  return static_cast<double>(taken.ns()) / alone_ns;
}

SessionSummary summarize_sessions(const ProgramRecords& records, std::span<const Outcome> outcomes,
                                  const SessionFacts& facts) {
  SessionSummary summary;
  SessionValues values;
  SessionCalls calls(records);
  for (const SessionRecord& session : records.sessions) {
    count_session(session, calls.of_next(session), outcomes, facts, summary, values);
  }
  count_turns(records, outcomes, facts, summary);
  summary.times = session_times(records, outcomes, facts.end);

  CallLatencies ttft(records.calls, outcomes, CallLatencies::Figure::kTtft);
  summary.turn_ttft_ms = summarize(ttft);
  CallLatencies e2e(records.calls, outcomes, CallLatencies::Figure::kE2e);
  summary.turn_e2e_ms = summarize(e2e);
  summary.makespan_s = summary_of(values.makespans_s);
  summary.stretch = summary_of(values.stretches);
  summary.jain = jain_of(values.stretches);
  for (const double stretch : values.stretches) {
    if (stretch > kStarvedTimesMedian * summary.stretch.p50) ++summary.starved;
  }
  summary.turn_attainment =
      share(static_cast<double>(summary.turns_met), static_cast<double>(summary.turns));
  summary.session_attainment =
      share(static_cast<double>(summary.sessions_met), static_cast<double>(summary.sessions));
  fill_kv(facts, summary);
  return summary;
}

}  // namespace inferscale

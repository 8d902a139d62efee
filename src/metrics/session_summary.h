// The figures of agent programs: turns (calls), sessions, and what became of their KV caches.
// docs/metrics.md has the definitions.
//
// What sessions did before they failed is part of every figure; of latencies, makespans and
// stretches only those that exist are, so these are conditional on an end that others did not see:
// show them beside the counts of turns that failed and were never reached.
//
// Cost: a few readings of the calls, sixteen bytes for each session and eight for each turn.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/kv_retention_usage.h"
#include "core/outcome.h"
#include "core/session_record.h"
#include "core/slo.h"
#include "core/slo_class.h"
#include "metrics/quantiles.h"
#include "metrics/session_times.h"

namespace inferscale {

struct SessionFacts {
  Slo slo;                           // of a turn
  RequestClasses classes;            // of the outcomes
  std::optional<Duration> makespan;  // of a session: the budget to be complete within
  Instant end;                       // of the run
  KvRetentionUsage retention;        // of all replicas: sums, but for peaks the highest of any
  double kv_bytes_per_token = 0;
  bool host_tier = false;  // idle KV moves to host memory
};

struct SessionSummary {
  std::int64_t sessions = 0;  // that began
  std::int64_t complete = 0;
  std::int64_t failed = 0;      // ended by a call that failed
  std::int64_t unfinished = 0;  // neither, when the run ended
  std::int64_t turns = 0;       // of all sessions that began, reached or not
  std::int64_t turns_finished = 0;
  std::int64_t turns_failed = 0;
  std::int64_t turns_unreached = 0;
  std::int64_t attempts = 0;

  // Over finished turns, from the instant each was ready, in milliseconds.
  PopulationSummary turn_ttft_ms;
  PopulationSummary turn_e2e_ms;
  // Over complete sessions, in seconds.
  PopulationSummary makespan_s;
  // Over complete sessions: time of their turns / time of the same turns alone on a replica that
  // has their history.
  PopulationSummary stretch;

  std::int64_t turns_met = 0;     // finished, and within the turn's SLO
  std::int64_t sessions_met = 0;  // complete, and within the budget where there is one
  // Of all turns of sessions that began, and of all these sessions.
  double turn_attainment = 0;
  double session_attainment = 0;

  // Of turns with a history.
  std::int64_t turns_with_history = 0;
  std::int64_t turns_hit = 0;              // that found some of it (in HBM or in the host tier)
  TokenCount history_tokens = 0;           // of finished turns
  TokenCount history_recomputed = 0;       // of these, not found
  std::optional<double> history_hit_rate;  // 1 - recomputed / history
  // Cached prompt tokens / prompt tokens of finished turns: system prompts count too.
  std::optional<double> prompt_hit_rate;
  TokenCount prompt_tokens = 0;  // of finished turns
  TokenCount cached_tokens = 0;  // of these, found
  // Turns whose chain's previous turn was served by the same replica / turns with a history.
  std::optional<double> locality;

  double recompute_s = 0;      // time of computing history again, reckoned alone
  double transfer_s = 0;       // restores and what was left of offloads
  std::optional<double> jain;  // of sessions' progress 1 / stretch
  std::int64_t starved = 0;    // complete sessions whose stretch is over 10 times the median
  double queue_s_max = 0;      // the longest wait of a turn, ready to start

  SessionTimes times;

  // KV in HBM, over all replicas; GB are 1e9 bytes.
  double hbm_gb_seconds = 0;  // resident
  double idle_gb_seconds = 0;
  double kv_gb_mean = 0;          // resident, over the time of the run
  double kv_gb_peak_replica = 0;  // the highest of any replica
  double host_gb_peak = 0;        // likewise, in host memory
  KvRetentionUsage retention;     // evictions by cause, the host tier

  // Ready, and neither finished nor failed when the run ended.
  std::int64_t turns_unfinished() const {
    return turns - turns_finished - turns_failed - turns_unreached;
  }
};

enum class SessionStatus : std::uint8_t {
  kNotBegun,  // the run ended before
  kUnfinished,
  kComplete,
  kFailed,
};

// The calls of each session, one session after the other, in the order of `records.sessions`.
class SessionCalls {
 public:
  explicit SessionCalls(const ProgramRecords& records) : rest_(records.calls) {}
  // Those of the session behind the one asked about before.
  std::span<const CallRecord> of_next(const SessionRecord& session);

 private:
  std::span<const CallRecord> rest_;
};

// `calls` are those of the session.
SessionStatus status_of(const SessionRecord& session, std::span<const CallRecord> calls);

// The outcome of a call's last attempt as if it had arrived when the call was ready: latencies and
// verdicts that hold the time of earlier attempts. REQUIRES: it has been presented.
Outcome since_ready(const CallRecord& call, std::span<const Outcome> outcomes);

// What a finished call had to compute of its history.
TokenCount history_recomputed(const CallRecord& call, const Outcome& outcome);

// Time of all turns of a session / time of the same turns alone; nothing where that is 0. REQUIRES:
// they are finished.
std::optional<double> stretch_of(std::span<const CallRecord> calls,
                                 std::span<const Outcome> outcomes);

// `outcomes` are those that `records` refer to.
SessionSummary summarize_sessions(const ProgramRecords& records, std::span<const Outcome> outcomes,
                                  const SessionFacts& facts);

}  // namespace inferscale

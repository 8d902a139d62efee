#include "report/run_folder_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "report/json_fields.h"
#include "report/json_file.h"

namespace inferscale {
namespace {

template <typename Integer>
Integer bounded(JsonFields& fields, const char* key) {
  const std::int64_t value = fields.integer(key);
  if (value <= static_cast<std::int64_t>(std::numeric_limits<Integer>::max())) {
    return static_cast<Integer>(value);
  }
  fields.fail(key, "too large: " + std::to_string(value));
  return 0;
}

OutcomeStatus read_status(JsonFields& fields) {
  const std::string name = fields.text("status");
  using enum OutcomeStatus;
  for (const OutcomeStatus status :
       {kFinished, kRefused, kUnfinished, kLost, kDeferred, kAbandoned}) {
    if (name == status_name(status)) return status;
  }
  fields.fail(
      "status",
      "expected finished, refused, unfinished, lost, deferred or abandoned, got '" + name + "'");
  return OutcomeStatus::kUnfinished;
}

Instant instant_or_never(JsonFields& fields, const char* key) {
  const std::optional<std::int64_t> ns = fields.optional_integer(key);
  return ns ? Instant::nanos(*ns) : Instant::never();
}

void read_timestamps(JsonFields& fields, Outcome& outcome) {
  outcome.arrival = Instant::nanos(fields.integer("arrival_ns"));
  outcome.start = instant_or_never(fields, "start_ns");
  outcome.first_token = instant_or_never(fields, "first_token_ns");
  outcome.finish = instant_or_never(fields, "finish_ns");
  // What never came counts as later than everything, so one order holds for all.
  const std::array order = {outcome.arrival, outcome.start, outcome.first_token, outcome.finish};
  if (!std::is_sorted(order.begin(), order.end())) {
    fields.fail("finish_ns",
                "the timestamps are not in the order arrival, start, first token, "
                "finish");
  }
  if (outcome.finished() != (outcome.finish != Instant::never())) {
    fields.fail("finish_ns", outcome.finished() ? "null, but the status is finished"
                                                : "set, but the status is not finished");
  }
}

SloVerdict read_verdict(JsonFields& fields) {
  const std::optional<bool> met = fields.optional_boolean("slo_met");
  if (!met) return SloVerdict::kNotJudged;
  return *met ? SloVerdict::kMet : SloVerdict::kMissed;
}

// Reads a column that not every run has: in all lines or in none, as in the first.
template <typename Integer>
void read_column(JsonFields& fields, const char* key, bool first_line, bool& has, Integer& value) {
  if (first_line) has = fields.has(key);
  if (has) value = bounded<Integer>(fields, key);
  if (!has && fields.has(key)) fields.fail(key, "the lines before do not have it");
}

void read_outcome(JsonFields& fields, RunFolder& folder) {
  Outcome outcome;
  const std::int64_t id = fields.integer("id");
  if (id != static_cast<std::int64_t>(folder.outcomes.size())) {
    fields.fail("id", "expected " + std::to_string(folder.outcomes.size()) + ", got " +
                          std::to_string(id) + ": a line is missing or out of order");
  }
  outcome.status = read_status(fields);
  read_timestamps(fields, outcome);
  if (!folder.outcomes.empty() && outcome.arrival < folder.outcomes.back().arrival) {
    fields.fail("arrival_ns", "earlier than the request before");
  }
  outcome.prompt_tokens = bounded<std::uint32_t>(fields, "prompt_tokens");
  outcome.output_tokens = bounded<std::uint32_t>(fields, "output_tokens");
  outcome.gaps_over_limit = bounded<std::uint32_t>(fields, "gaps_over_limit");
  outcome.preemptions = bounded<std::uint16_t>(fields, "preemptions");
  const bool first = folder.outcomes.empty();
  read_column(fields, "cached_tokens", first, folder.has_cached_tokens, outcome.cached_tokens);
  read_column(fields, "replica", first, folder.has_outcome_replica, outcome.replica);
  if (outcome.cached_tokens > outcome.prompt_tokens) {
    fields.fail("cached_tokens", "more than prompt_tokens");
  }
  const std::optional<double> itl_ms_max = fields.optional_number("itl_ms_max");
  constexpr double kLongestMs = 9e12;  // beyond it nanoseconds don't fit into 64 bits
  if (itl_ms_max && (*itl_ms_max < 0 || *itl_ms_max > kLongestMs)) {
    fields.fail("itl_ms_max", "expected 0 to 9e12 milliseconds");
  } else {
    outcome.itl_max = Duration::from_millis(itl_ms_max.value_or(0));
  }
  folder.verdicts.push_back(read_verdict(fields));
  folder.outcomes.push_back(outcome);
}

void read_signal(JsonFields& fields, RunFolder& folder) {
  SignalSample sample;
  const double t_s = fields.number("t_s");
  constexpr double kLongestSeconds = 9e9;
  if (!(t_s >= 0 && t_s <= kLongestSeconds)) {
    fields.fail("t_s", "expected 0 to 9e9 seconds");
    return;
  }
  sample.at = Instant() + Duration::from_seconds(t_s);
  if (!folder.signals.empty() && sample.at < folder.signals.back().at) {
    fields.fail("t_s", "earlier than the line before");
  }
  sample.replica = bounded<std::uint32_t>(fields, "replica");
  sample.queue_depth = fields.integer("queue_depth");
  sample.running = fields.integer("running");
  sample.kv_blocks_used = fields.integer("kv_blocks_used");
  sample.kv_used_fraction =
      fields.optional_number("kv_used_fraction").value_or(std::numeric_limits<double>::quiet_NaN());
  sample.arrived = fields.integer("arrived");
  sample.finished = fields.integer("finished");
  sample.refused = fields.integer("refused");
  sample.preemptions = fields.integer("preemptions");
  folder.signals.push_back(sample);
}

// Nanoseconds of a time in seconds.
double nanos(JsonFields& fields, const char* key) {
  constexpr double kLongestSeconds = 9e9;
  const double seconds = fields.number(key);
  if (seconds >= 0 && seconds <= kLongestSeconds) return seconds * 1e9;
  fields.fail(key, "expected 0 to 9e9 seconds");
  return 0;
}

void read_replica(JsonFields& fields, RunFolder& folder) {
  ReplicaReport replica;
  replica.index = bounded<std::uint32_t>(fields, "replica");
  if (!folder.replicas.empty() && replica.index <= folder.replicas.back().index) {
    fields.fail("replica", "not more than in the line before");
  }
  replica.pool = fields.text("pool");
  replica.accelerators = fields.integer("accelerators");
  replica.up = Duration::from_seconds(nanos(fields, "up_s") * 1e-9);
  replica.busy_ns = nanos(fields, "busy_s");
  replica.finished = fields.integer("finished");
  replica.preemptions = fields.integer("preemptions");
  replica.prompt_tokens_looked_up = fields.integer("prompt_tokens_looked_up");
  replica.prompt_tokens_cached = fields.integer("prompt_tokens_cached");
  replica.kv_blocks = fields.integer("kv_blocks");
  replica.kv_blocks_peak = fields.integer("kv_blocks_peak");
  replica.kv_block_ns = fields.optional_number("kv_used_mean").value_or(0) *
                        static_cast<double>(replica.up.ns()) *
                        static_cast<double>(replica.kv_blocks);
  replica.queue_peak = fields.integer("queue_peak");
  folder.replicas.push_back(replica);
}

}  // namespace

Result<void> read_outcomes(const std::string& path, RunFolder& folder) {
  return read_json_lines(path, [&](JsonFields& fields) { read_outcome(fields, folder); });
}

Result<void> read_signals(const std::string& path, RunFolder& folder) {
  return read_json_lines(path, [&](JsonFields& fields) { read_signal(fields, folder); });
}

Result<void> read_replicas(const std::string& path, RunFolder& folder) {
  return read_json_lines(path, [&](JsonFields& fields) { read_replica(fields, folder); });
}

}  // namespace inferscale

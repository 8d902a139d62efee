// Claude Code's sessions, one JSON object a line, with the hashes of each prompt's blocks.
//
// An agent that another one started is an entry among its calls (type subagent) with calls of its
// own, whose times count from its beginning. The entry's time is the agent's end if it says how
// long the agent ran, else its beginning (docs/formats/session_traces.md). Hashes stand for whole
// prompts up to their block, within one session. json_calls.h takes the lines apart; this file says
// what they mean.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workload/readers/cell_values.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/format_readers.h"
#include "workload/readers/json_calls.h"
#include "workload/readers/sessions/claude_code_values.h"

namespace inferscale {
namespace {

class SessionLines {
 public:
  SessionLines(LineReader& lines, TraceBuilder& builder, SessionClock& clock)
      : lines_(lines), builder_(builder), clock_(clock) {}
  Result<void> take(const std::string& line);

 private:
  struct Agent {
    std::int64_t begin_ns = 0;
    std::int64_t session_begin_ns = 0;  // of the agent that the session began with
    std::uint32_t series = 0;
    std::string session;
  };

  std::unexpected<Error> refuse(const std::string& what) const {
    return fail(ErrorCode::kInvalidInput, what, place_of(lines_));
  }
  std::unexpected<Error> refuse(const JsonCall& call, const char* key, const std::string& text,
                                const std::string& expected) const {
    return refuse(session_.path_of(call) + "." + key + ": " + quoted_for_error(text) +
                  ": expected " + expected);
  }
  Result<void> take_session();
  // On the agent's own clock, and on the trace's.
  Result<std::int64_t> time_of(const JsonCall& call, const Agent& agent) const;
  Result<std::int64_t> instant_of(const JsonCall& call, const Agent& agent) const;
  Result<std::int64_t> begin_of(const JsonCall& spawned, const Agent& parent) const;
  Result<void> add_call(const JsonCall& call, const Agent& agent);

  LineReader& lines_;
  TraceBuilder& builder_;
  SessionClock& clock_;
  JsonSession session_;  // of the line that is being taken
  std::uint32_t block_tokens_ = 0;
  std::uint32_t next_series_ = 0;
  std::set<std::string> ids_;
  std::vector<std::uint64_t> hashes_;
};

Result<std::int64_t> SessionLines::time_of(const JsonCall& call, const Agent& agent) const {
  const auto time = scaled_decimal(call.time, 9);
  if (time && *time >= 0 && SessionClock::later(agent.begin_ns, *time)) return *time;
  return refuse(call, "t", call.time, "seconds from 0 to 9000000000");
}

Result<std::int64_t> SessionLines::instant_of(const JsonCall& call, const Agent& agent) const {
  const Result<std::int64_t> time = time_of(call, agent);
  if (!time) return time;
  return agent.begin_ns + *time;
}

Result<std::int64_t> SessionLines::begin_of(const JsonCall& spawned, const Agent& parent) const {
  const Result<std::int64_t> time = time_of(spawned, parent);
  if (!time) return time;
  std::optional<std::int64_t> ran = 0;
  if (!spawned.duration.empty()) ran = recorded_time(spawned.duration, 6);
  if (!ran) return refuse(spawned, "duration_ms", spawned.duration, kMillisecondsExpected);
  return parent.begin_ns + std::max<std::int64_t>(0, *time - *ran);
}

Result<void> SessionLines::add_call(const JsonCall& call, const Agent& agent) {
  const Result<std::int64_t> arrival = instant_of(call, agent);
  if (!arrival) return std::unexpected(arrival.error());
  const std::string tokens = "a whole number from 1 to 10000000";
  const auto prompt = token_count(call.prompt, 1);
  if (!prompt) return refuse(call, "in", call.prompt, tokens);
  const auto output = token_count(call.output, 0);
  if (!output) return refuse(call, "out", call.output, tokens);
  const std::size_t full = *prompt / block_tokens_;
  const std::size_t all = full + (*prompt % block_tokens_ == 0 ? 0 : 1);
  const std::span<const std::uint64_t> ids = session_.hashes_of(call);
  if (ids.size() != full && ids.size() != all) {
    return refuse(call, "hash_ids", std::to_string(ids.size()) + " ids",
                  std::to_string(full) + ", one for each whole block of " +
                      std::to_string(block_tokens_) + " of the " + std::to_string(*prompt) +
                      " prompt tokens");
  }
  const std::uint64_t scope = stable_hash(session_.id);
  hashes_.clear();
  for (const std::uint64_t id : ids) hashes_.push_back(content_key(scope, id));
  TraceRow row;
  row.arrival_ns = *arrival;
  row.prompt_tokens = *prompt;
  row.output_tokens = *output;
  row.session = agent.session;
  row.block_hashes = hashes_;
  row.series = agent.series;
  row.session_begin_ns = agent.session_begin_ns;
  return builder_.add(row, {"t", call.time}, {"out", call.output}, lines_);
}

Result<void> SessionLines::take_session() {
  // By call, for those that are agents; the main agent stands behind them.
  std::vector<Agent> agents(session_.calls.size() + 1);
  const std::int64_t session_begin_ns = clock_.next_start_ns();
  agents.back() = {session_begin_ns, session_begin_ns, next_series_++, session_.id};
  for (std::size_t i = 0; i < session_.calls.size(); ++i) {
    const JsonCall& call = session_.calls[i];
    const Agent& agent = call.parent < 0 ? agents.back() : agents[std::size_t(call.parent)];
    if (!call.is_agent) {
      if (const Result<void> added = add_call(call, agent); !added) return added;
      continue;
    }
    const Result<std::int64_t> begin = begin_of(call, agent);
    if (!begin) return std::unexpected(begin.error());
    agents[i] = {*begin, session_begin_ns, next_series_++, agent.session + "/" + call.agent_id};
  }
  return {};
}

Result<void> SessionLines::take(const std::string& line) {
  if (const std::string problem = session_.parse(line); !problem.empty()) return refuse(problem);
  if (session_.id.empty() || !is_name(session_.id)) {
    return refuse("id: " + quoted_for_error(session_.id) +
                  ": expected 1 to 256 bytes of UTF-8 text");
  }
  if (!ids_.insert(session_.id).second) {
    return refuse("id: " + quoted_for_error(session_.id) + ": expected one line for each session");
  }
  if (session_.hash_scope != "local") {
    return refuse("hash_id_scope: " + quoted_for_error(session_.hash_scope) + ": expected local");
  }
  const auto block_tokens = token_count(session_.block_size, 1);
  if (!block_tokens || (block_tokens_ > 0 && *block_tokens != block_tokens_)) {
    return refuse("block_size: " + quoted_for_error(session_.block_size) + ": expected " +
                  (block_tokens_ > 0 ? std::to_string(block_tokens_) + ", as in the lines above"
                                     : std::string("a whole number from 1 to 10000000")));
  }
  if (block_tokens_ == 0) {
    block_tokens_ = *block_tokens;
    builder_.set_columns({.session = true,
                          .several_series = true,
                          .block_tokens = block_tokens_,
                          .session_begins = true});
  }
  return take_session();
}

}  // namespace

Result<void> read_claude_code_jsonl(std::string first_line, LineReader& lines,
                                    TraceBuilder& builder, SessionClock& clock) {
  SessionLines sessions(lines, builder, clock);
  std::string line = std::move(first_line);
  for (;;) {
    if (const Result<void> taken = sessions.take(line); !taken) return taken;
    const Result<bool> more = next_filled_line(lines, line);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
}

}  // namespace inferscale

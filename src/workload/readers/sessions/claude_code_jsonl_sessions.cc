// Claude Code's sessions, one JSON object a line, with the hashes of each prompt's blocks.
//
// json_calls.h takes the lines apart. Times are as in the table (claude_code_csv_sessions.cc): `t`
// of an agent's entry is its end when the entry has duration_ms, else its beginning.

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "workload/readers/cell_values.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/json_calls.h"
#include "workload/readers/sessions/claude_code_values.h"
#include "workload/readers/sessions/session_formats.h"

namespace inferscale {
namespace {

class SessionLines {
 public:
  SessionLines(LineReader& lines, RecordedTrace& trace) : lines_(lines), trace_(trace) {}
  Result<void> take(const std::string& line);
  void finish();

 private:
  std::unexpected<Error> refuse(const std::string& what) const {
    return fail(ErrorCode::kInvalidInput, what, place_of(lines_));
  }
  std::unexpected<Error> refuse(const JsonCall& call, const char* key, const std::string& text,
                                const std::string& expected) const {
    return refuse(session_.path_of(call) + "." + key + ": " + quoted_for_error(text) +
                  ": expected " + expected);
  }
  Result<std::int64_t> time_of(const JsonCall& call) const;
  Result<void> take_head();
  Result<void> take_calls();
  Result<void> begin_agent(const JsonCall& call, TimedChain& chain) const;
  Result<void> add_call(const JsonCall& call, std::uint32_t chain);
  Result<std::span<const std::uint64_t>> hashes_of(const JsonCall& call,
                                                   std::uint32_t prompt_tokens) const;
  void add_content(const JsonCall& call, std::uint32_t chain, RecordedCall& recorded);

  LineReader& lines_;
  RecordedTrace& trace_;
  JsonSession session_;                  // of the line that is being taken
  TimedSession timed_;                   // the same
  std::vector<const JsonCall*> latest_;  // call of each of its chains that was kept
  std::vector<TimedSession> sessions_;
  std::vector<std::uint64_t> keys_;
  std::optional<BlockChains> blocks_;
  std::uint32_t block_tokens_ = 0;
  std::uint32_t rows_ = 0;  // of blocks_
  std::uint64_t failed_ = 0;
  std::set<std::string> ids_;
};

Result<std::int64_t> SessionLines::time_of(const JsonCall& call) const {
  if (const auto time = recorded_time(call.time, 9)) return *time;
  return refuse(call, "t", call.time, kSecondsExpected);
}

Result<std::span<const std::uint64_t>> SessionLines::hashes_of(const JsonCall& call,
                                                               std::uint32_t prompt_tokens) const {
  const std::size_t full = prompt_tokens / block_tokens_;
  const std::size_t all = full + (prompt_tokens % block_tokens_ == 0 ? 0 : 1);
  const std::span<const std::uint64_t> ids = session_.hashes_of(call);
  if (ids.size() == full || ids.size() == all) return ids;
  return refuse(call, "hash_ids", std::to_string(ids.size()) + " ids",
                std::to_string(full) + ", one for each whole block of " +
                    std::to_string(block_tokens_) + " of the " + std::to_string(prompt_tokens) +
                    " prompt tokens");
}

void SessionLines::add_content(const JsonCall& call, std::uint32_t chain, RecordedCall& recorded) {
  const std::span<const std::uint64_t> ids = session_.hashes_of(call);
  if (latest_[chain] != nullptr) {
    // A last block that isn't full is nobody's history: the other prompt fills it otherwise.
    const RecordedCall& before = timed_.chains[chain].calls.back().call;
    const std::span<const std::uint64_t> others = session_.hashes_of(*latest_[chain]);
    const auto parting = std::mismatch(others.begin(), others.end(), ids.begin(), ids.end());
    const auto common = static_cast<std::uint32_t>(parting.first - others.begin());
    const std::uint32_t whole =
        std::min(before.prompt_tokens, recorded.prompt_tokens) / block_tokens_;
    recorded.history_tokens = std::min(common, whole) * block_tokens_;
  }
  latest_[chain] = &call;
  const std::uint64_t scope = stable_hash(session_.id);
  keys_.clear();
  for (const std::uint64_t id : ids) keys_.push_back(content_key(scope, id));
  blocks_->add(keys_, recorded.prompt_tokens);
  recorded.content = rows_++;
}

Result<void> SessionLines::add_call(const JsonCall& call, std::uint32_t chain) {
  TimedCall timed;
  std::vector<TimedCall>& calls = timed_.chains[chain].calls;
  const Result<std::int64_t> start = time_of(call);
  if (!start) return std::unexpected(start.error());
  if (!calls.empty() && *start < calls.back().start_ns) {
    return refuse(call, "t", call.time, "not before the call above it of the same agent");
  }
  timed.start_ns = *start;
  if (!call.answer_time.empty()) {
    timed.answer_ns = recorded_time(call.answer_time, 9);
    if (!timed.answer_ns) return refuse(call, "api_time", call.answer_time, kSecondsExpected);
  }
  const auto prompt = token_count(call.prompt, 1);
  if (!prompt) return refuse(call, "in", call.prompt, "a whole number from 1 to 10000000");
  const auto output = token_count(call.output, 0);
  if (!output) {
    return refuse(call, "out", call.output, "a whole number from 0 (a failed call) to 10000000");
  }
  const auto ids = hashes_of(call, *prompt);
  if (!ids) return std::unexpected(ids.error());
  if (*output == 0) {
    ++failed_;
    return {};
  }
  timed.call.prompt_tokens = *prompt;
  timed.call.output_tokens = *output;
  timed.call.waits_for_person = call.stop == kEndOfTurn;
  add_content(call, chain, timed.call);
  calls.push_back(timed);
  return {};
}

Result<void> SessionLines::begin_agent(const JsonCall& call, TimedChain& chain) const {
  const Result<std::int64_t> time = time_of(call);
  if (!time) return std::unexpected(time.error());
  chain.begin_ns = *time;
  if (call.duration.empty()) return {};
  const auto ran = recorded_time(call.duration, 6);
  if (!ran) return refuse(call, "duration_ms", call.duration, kMillisecondsExpected);
  chain.begin_ns = std::max<std::int64_t>(0, *time - *ran);
  return {};
}

Result<void> SessionLines::take_calls() {
  timed_ = {.name = session_.id, .chains = {TimedChain()}};
  latest_ = {nullptr};
  std::vector<std::uint32_t> chain_of(session_.calls.size());  // of those that are agents
  for (std::size_t i = 0; i < session_.calls.size(); ++i) {
    const JsonCall& call = session_.calls[i];
    const std::uint32_t parent =
        call.parent < 0 ? 0 : chain_of[static_cast<std::size_t>(call.parent)];
    if (!call.is_agent) {
      if (const Result<void> added = add_call(call, parent); !added) return added;
      continue;
    }
    chain_of[i] = static_cast<std::uint32_t>(timed_.chains.size());
    timed_.chains.push_back({.parent = parent});
    latest_.push_back(nullptr);
    if (const auto begun = begin_agent(call, timed_.chains.back()); !begun) return begun;
  }
  sessions_.push_back(std::move(timed_));
  return {};
}

Result<void> SessionLines::take_head() {
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
  block_tokens_ = *block_tokens;
  if (!blocks_) blocks_.emplace(block_tokens_);
  return {};
}

Result<void> SessionLines::take(const std::string& line) {
  if (const std::string problem = session_.parse(line); !problem.empty()) return refuse(problem);
  if (const Result<void> head = take_head(); !head) return head;
  return take_calls();
}

void SessionLines::finish() {
  if (failed_ > 0) trace_.notes.push_back(failed_calls_note(failed_));
  trace_.blocks = blocks_->finish(trace_.scope);
  take_timed_sessions(std::move(sessions_), trace_);
}

}  // namespace

Result<void> read_claude_code_jsonl_sessions(std::string first_line, LineReader& lines,
                                             RecordedTrace& trace) {
  trace.notes.push_back(kSessionTimesNote);
  SessionLines sessions(lines, trace);
  std::string line = std::move(first_line);
  for (;;) {
    if (const Result<void> taken = sessions.take(line); !taken) return taken;
    const Result<bool> more = next_filled_line(lines, line);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
  }
  sessions.finish();
  return {};
}

}  // namespace inferscale

#include "report/session_reader.h"

#include <limits>
#include <optional>

#include "report/json_fields.h"
#include "report/json_file.h"
#include "report/session_lines.h"

namespace inferscale {
namespace {

std::uint32_t bounded(JsonFields& fields, const char* key) {
  const std::int64_t value = fields.integer(key);
  if (value <= std::int64_t{std::numeric_limits<std::uint32_t>::max()}) {
    return static_cast<std::uint32_t>(value);
  }
  fields.fail(key, "too large: " + std::to_string(value));
  return 0;
}

Instant instant_or_never(JsonFields& fields, const char* key) {
  const std::optional<std::int64_t> ns = fields.optional_integer(key);
  return ns ? Instant::nanos(*ns) : Instant::never();
}

// The one of `all` that has the name; the first, and an error, when none has.
template <typename Status>
Status read_status(JsonFields& fields, std::initializer_list<Status> all,
                   std::string_view (*name_of)(Status)) {
  const std::string name = fields.text("status");
  std::string expected;
  for (const Status status : all) {
    if (name == name_of(status)) return status;
    expected += (expected.empty() ? "" : ", ") + std::string(name_of(status));
  }
  fields.fail("status", "expected one of " + expected + ", got '" + name + "'");
  return *all.begin();
}

bool fits(SessionStatus status, const SessionRecord& session) {
  if (session.finished > session.calls) return false;
  if (session.failed > session.calls - session.finished) return false;
  if ((status == SessionStatus::kComplete) != session.complete()) return false;
  return (status == SessionStatus::kFailed) == (session.failed > 0);
}

void read_session(JsonFields& fields, RunFolder& folder) {
  std::vector<SessionRecord>& sessions = folder.programs.sessions;
  if (fields.integer("session") != std::ssize(sessions)) {
    fields.fail("session", "expected " + std::to_string(sessions.size()) +
                               ": a line is missing or out of order");
  }
  const SessionStatus status = read_status(fields,
                                           {SessionStatus::kComplete, SessionStatus::kFailed,
                                            SessionStatus::kUnfinished, SessionStatus::kNotBegun},
                                           session_status_name);
  SessionRecord session{.begin = Instant::nanos(fields.integer("begin_ns")),
                        .end = instant_or_never(fields, "end_ns"),
                        .calls = bounded(fields, "calls"),
                        .finished = bounded(fields, "finished"),
                        .failed = bounded(fields, "failed"),
                        .chains = bounded(fields, "chains")};
  if (session.end < session.begin) fields.fail("end_ns", "before begin_ns");
  if (!sessions.empty() && session.begin < sessions.back().begin) {
    fields.fail("begin_ns", "earlier than in the line before");
  }
  if (session.calls == 0) fields.fail("calls", "expected at least 1");
  if (!fits(status, session)) fields.fail("status", "does not fit calls, finished and failed");
  if (status == SessionStatus::kComplete && session.end == Instant::never()) {
    fields.fail("end_ns", "null, but the status is complete");
  }
  fields.optional_number("makespan_s");
  fields.optional_number("stretch");
  sessions.push_back(session);
  folder.session_status.push_back(status);
}

void check_against_outcome(JsonFields& fields, const CallRecord& call, const RunFolder& folder) {
  if (call.request == CallRecord::kNone) {
    const bool none =
        call.status == CallStatus::kNotReached || call.status == CallStatus::kUnfinished;
    if (!none) fields.fail("request", "null, but the status is not that of a call without one");
    return;
  }
  if (call.request >= folder.outcomes.size()) {
    fields.fail("request", "there is no such line in outcomes.jsonl");
    return;
  }
  const Outcome& outcome = folder.outcomes[call.request];
  if (outcome.finished() != (call.status == CallStatus::kFinished)) {
    fields.fail("status", "the outcome of its request has another");
  }
  if (call.ready > outcome.arrival) fields.fail("ready_ns", "later than its request's arrival");
}

class CallReader {
 public:
  explicit CallReader(RunFolder& folder) : folder_(folder) {}

  void read(JsonFields& fields) {
    CallRecord call{.session = bounded(fields, "session"),
                    .chain = bounded(fields, "chain"),
                    .turn = bounded(fields, "turn"),
                    .prompt_tokens = bounded(fields, "prompt_tokens"),
                    .output_tokens = bounded(fields, "output_tokens"),
                    .history_tokens = bounded(fields, "history_tokens"),
                    .attempts = bounded(fields, "attempts"),
                    .ready = instant_or_never(fields, "ready_ns")};
    call.status = read_status(fields,
                              {CallStatus::kFinished, CallStatus::kFailed, CallStatus::kUnfinished,
                               CallStatus::kNotReached},
                              call_status_name);
    if (!fields.is_null("request")) call.request = bounded(fields, "request");
    if ((call.ready == Instant::never()) != (call.status == CallStatus::kNotReached)) {
      fields.fail("ready_ns", "does not fit the status");
    }
    check_against_outcome(fields, call, folder_);
    expect_session(fields, call.session);
    folder_.programs.calls.push_back(call);
  }
  bool complete() const {
    return session_ == folder_.programs.sessions.size() ||
           (session_ + 1 == folder_.programs.sessions.size() &&
            of_session_ == folder_.programs.sessions[session_].calls);
  }

 private:
  // Calls stand by session, each session's as many as it has.
  void expect_session(JsonFields& fields, std::uint32_t session) {
    const std::vector<SessionRecord>& sessions = folder_.programs.sessions;
    if (session_ < sessions.size() && of_session_ == sessions[session_].calls) {
      ++session_;
      of_session_ = 0;
    }
    ++of_session_;
    if (session == session_ && session_ < sessions.size()) return;
    fields.fail("session", "expected " + std::to_string(session_) + ", got " +
                               std::to_string(session) +
                               ": a line is missing, or there is one too many");
  }

  RunFolder& folder_;
  std::size_t session_ = 0;
  std::uint32_t of_session_ = 0;
};

}  // namespace

Result<void> read_sessions(const std::string& path, RunFolder& folder) {
  return read_json_lines(path, [&](JsonFields& fields) { read_session(fields, folder); });
}

Result<void> read_calls(const std::string& path, RunFolder& folder) {
  CallReader reader(folder);
  auto read = read_json_lines(path, [&](JsonFields& fields) { reader.read(fields); });
  if (!read || reader.complete()) return read;
  return fail(ErrorCode::kInvalidInput,
              "holds " + std::to_string(folder.programs.calls.size()) +
                  " calls, fewer than sessions.jsonl counts: lines are missing",
              path);
}

}  // namespace inferscale

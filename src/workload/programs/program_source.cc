#include "workload/programs/program_source.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "base/check.h"
#include "workload/programs/session_gaps.h"

namespace inferscale {
namespace {

// A call is waiting (for its instant, or for a retry's), in flight, or over. Its record's status
// follows: kNotReached until it is presented, kUnfinished in flight, kFailed while a retry is due.
class ProgramSource final : public ReactiveSource {
 public:
  ProgramSource(const Programs& programs, const CallRetries& retries);

  bool next(Request& request) override;
  std::uint64_t size() const override { return programs_.turns.size(); }
  Instant next_at() const override;
  void ended(RequestId id, const Outcome& outcome, Instant now) override;
  ProgramRecords take_records(Instant end) override;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct ChainState {
    std::uint32_t spawner = kNone;  // the chain that waits for its end; none does of others
    std::uint32_t answered = 0;     // its last call that was answered
    std::uint32_t open_joins = 0;   // what its next call still waits for, ...
    Instant ready;                  // ... and when it is ready if these have ended before
  };
  // Turns are numbered by session, chain and turn: the order within one instant.
  struct Pending {
    Instant at;
    std::uint32_t turn;
    auto operator<=>(const Pending&) const = default;
  };

  void schedule(std::uint32_t turn, Instant ready);
  void push(Pending pending);
  void drop_ended_sessions();
  bool session_begins_next() const;
  void finished(std::uint32_t turn, Instant now);
  void spawn(const ProgramTurn& turn, Instant now);
  void failed(CallRecord& call, std::uint32_t turn, bool again, Instant now);
  void schedule_next(const ChainState& chain);
  Request request_of(const ProgramTurn& turn, std::uint32_t session) const;

  const Programs& programs_;
  CallRetries retries_;
  ProgramRecords records_;
  std::vector<ChainState> chains_;
  std::vector<std::uint32_t> turn_of_;  // of each request
  std::size_t begun_ = 0;               // sessions
  std::vector<Pending> pending_;        // a heap; its top is of no session that has ended
  Instant latest_;                      // nothing ends before
};

ProgramSource::ProgramSource(const Programs& programs, const CallRetries& retries)
    : programs_(programs), retries_(retries), chains_(programs.chains.size()) {
  const char* broken = broken_structure(programs);
  CHECK(broken == nullptr) << broken;
  CHECK(retries.most >= 0 && Duration() <= retries.delay);
  const std::vector<Duration> gaps = session_gaps(programs);
  for (std::size_t i = 0; i < programs.sessions.size(); ++i) {
    const ProgramSession& session = programs.sessions[i];
    SessionRecord& record = records_.sessions.emplace_back();
    record.begin = session.begin;
    record.chains = session.chains;
    record.gaps = gaps[i];
  }
  records_.calls.reserve(programs.turns.size());
  for (std::uint32_t i = 0; i < programs.chains.size(); ++i) {
    const ProgramChain& chain = programs.chains[i];
    records_.sessions[chain.session].calls += chain.turns;
    for (std::uint32_t k = 0; k < chain.turns; ++k) {
      const ProgramTurn& turn = programs.turns[chain.first_turn + k];
      records_.calls.push_back({.session = chain.session,
                                .chain = i,
                                .turn = k,
                                .prompt_tokens = turn.prompt_tokens,
                                .output_tokens = turn.output_tokens,
                                .history_tokens = turn.call.history_tokens});
      for (std::uint32_t child :
           std::span(programs.spawned).subspan(turn.first_spawn, turn.spawns)) {
        if (programs.chains[child].joined) chains_[child].spawner = i;
      }
    }
  }
}

void ProgramSource::push(Pending pending) {
  pending_.push_back(pending);
  std::push_heap(pending_.begin(), pending_.end(), std::greater<>());
}

void ProgramSource::schedule(std::uint32_t turn, Instant ready) {
  records_.calls[turn].ready = ready;
  push({ready, turn});
}

void ProgramSource::drop_ended_sessions() {
  while (!pending_.empty() &&
         records_.sessions[records_.calls[pending_.front().turn].session].end != Instant::never()) {
    std::pop_heap(pending_.begin(), pending_.end(), std::greater<>());
    pending_.pop_back();
  }
}

bool ProgramSource::session_begins_next() const {
  if (begun_ == programs_.sessions.size()) return false;
  const ProgramSession& session = programs_.sessions[begun_];
  const Pending first{session.begin, programs_.chains[session.first_chain].first_turn};
  return pending_.empty() || first < pending_.front();
}

Instant ProgramSource::next_at() const {
  if (session_begins_next()) return programs_.sessions[begun_].begin;
  return pending_.empty() ? Instant::never() : pending_.front().at;
}

Request ProgramSource::request_of(const ProgramTurn& turn, std::uint32_t session) const {
  Request request;
  request.prompt_tokens = turn.prompt_tokens;
  request.output_tokens = turn.output_tokens;
  request.max_tokens = turn.output_tokens;
  request.content = programs_.pieces.data() + turn.content_begin;
  request.content_pieces = turn.content_pieces;
  request.output_is_content = turn.output_is_content;
  request.tenant = programs_.sessions[session].tenant;
  request.session = session;
  request.program = &turn.call;
  return request;
}

bool ProgramSource::next(Request& request) {
  if (session_begins_next()) {
    const ProgramSession& session = programs_.sessions[begun_++];
    schedule(programs_.chains[session.first_chain].first_turn, session.begin);
  }
  if (pending_.empty()) return false;
  std::pop_heap(pending_.begin(), pending_.end(), std::greater<>());
  const Pending pending = pending_.back();
  pending_.pop_back();
  drop_ended_sessions();

  CallRecord& call = records_.calls[pending.turn];
  CHECK(turn_of_.size() < CallRecord::kNone) << "too many requests";
  latest_ = std::max(latest_, pending.at);
  request = request_of(programs_.turns[pending.turn], call.session);
  request.id = static_cast<RequestId>(turn_of_.size());
  request.arrival = pending.at;
  turn_of_.push_back(pending.turn);
  call.request = request.id;
  call.status = CallStatus::kUnfinished;
  ++call.attempts;
  return true;
}

void ProgramSource::ended(RequestId id, const Outcome& outcome, Instant now) {
  CHECK(id < turn_of_.size()) << "request " << id << " was never made";
  CHECK(latest_ <= now) << "an end before the last event";
  latest_ = now;
  const std::uint32_t turn = turn_of_[id];
  CallRecord& call = records_.calls[turn];
  CHECK(call.request == id && call.status == CallStatus::kUnfinished) << "ended twice: " << id;
  CHECK(outcome.status != OutcomeStatus::kUnfinished) << "request " << id << " has not ended";
  if (outcome.finished()) {
    finished(turn, now);
  } else {
    const bool again =
        outcome.status == OutcomeStatus::kLost || outcome.reason == RefusalReason::kQueueFull;
    failed(call, turn, again, now);
  }
  drop_ended_sessions();
}

void ProgramSource::failed(CallRecord& call, std::uint32_t turn, bool again, Instant now) {
  call.status = CallStatus::kFailed;
  SessionRecord& session = records_.sessions[call.session];
  if (session.end != Instant::never()) return;
  if (again && call.attempts <= retries_.most) {
    push({now + retries_.delay, turn});
  } else {
    session.end = now;
  }
}

void ProgramSource::spawn(const ProgramTurn& turn, Instant now) {
  for (std::uint32_t child : std::span(programs_.spawned).subspan(turn.first_spawn, turn.spawns)) {
    const ProgramChain& chain = programs_.chains[child];
    if (chain.joined) ++chains_[turn.call.chain].open_joins;
    schedule(chain.first_turn, now + chain.delay);
  }
}

void ProgramSource::finished(std::uint32_t turn, Instant now) {
  CallRecord& call = records_.calls[turn];
  call.status = CallStatus::kFinished;
  SessionRecord& session = records_.sessions[call.session];
  ++session.finished;
  if (session.end != Instant::never()) return;
  if (session.complete()) session.end = now;

  const ProgramTurn& made = programs_.turns[turn];
  spawn(made, now);
  ChainState& chain = chains_[call.chain];
  chain.answered = turn;
  chain.ready = now + made.gap;
  if (!made.call.ends_chain) return schedule_next(chain);
  if (chain.spawner == kNone) return;
  ChainState& waiting = chains_[chain.spawner];
  --waiting.open_joins;
  waiting.ready = std::max(waiting.ready, now + programs_.chains[made.call.chain].rest);
  // Nothing of the spawner follows its last call, which waits for nobody.
  if (!programs_.turns[waiting.answered].call.ends_chain) schedule_next(waiting);
}

void ProgramSource::schedule_next(const ChainState& chain) {
  if (chain.open_joins == 0) schedule(chain.answered + 1, chain.ready);
}

ProgramRecords ProgramSource::take_records(Instant end) {
  records_.call_of = std::move(turn_of_);
  for (CallRecord& call : records_.calls) {
    SessionRecord& session = records_.sessions[call.session];
    const bool stopped = session.end != Instant::never();
    if (call.status == CallStatus::kNotReached) {
      // Ready, but the run ended before it was taken; or known to be ready later, or never now.
      if (!stopped && call.ready <= end) {
        call.status = CallStatus::kUnfinished;
      } else {
        call.ready = Instant::never();
      }
    } else if (call.status == CallStatus::kFailed && !stopped) {
      call.status = CallStatus::kUnfinished;  // a retry was due
    }
    if (call.status == CallStatus::kFailed) ++session.failed;
  }
  return std::exchange(records_, {});
}

}  // namespace

std::unique_ptr<ReactiveSource> make_program_source(const Programs& programs,
                                                    const CallRetries& retries) {
  return std::make_unique<ProgramSource>(programs, retries);
}

}  // namespace inferscale

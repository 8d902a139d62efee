#include "workload/programs/program_source.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/check.h"
#include "workload/clients/client_calls.h"
#include "workload/programs/session_gaps.h"

namespace inferscale {
namespace {

// What becomes of attempts is client_calls.h's; a call's number there is its turn's, its group its
// session. A call's status follows: kNotReached until it is presented, kUnfinished in flight,
// kFailed while a retry is due.
class ProgramSource final : public ReactiveSource {
 public:
  ProgramSource(const Programs& programs, const ClientOptions& clients, std::uint64_t run_seed);

  bool next(Request& request) override;
  std::uint64_t size() const override { return programs_.turns.size(); }
  Instant next_at() const override { return calls_.next_at(); }
  void expect_end(RequestId id) const override { expect(calls_.expect_end(id)); }
  void ended(RequestId id, const Outcome& outcome, const Answer& answer, Instant now) override;
  Instant next_leave() const override { return calls_.next_leave(); }
  RequestId take_leaver() override;
  SourceRecords take_records(Instant end) override;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct ChainState {
    std::uint32_t spawner = kNone;  // the chain that waits for its end; none does of others
    std::uint32_t answered = 0;     // its last call that was answered
    std::uint32_t open_joins = 0;   // what its next call still waits for, ...
    Instant ready;                  // ... and when it is ready if these have ended before
  };

  void expect(std::uint32_t turn) const {
    __builtin_prefetch(&records_.calls[turn]);
    __builtin_prefetch(&programs_.turns[turn]);
  }
  void add_records();
  // The first session that has not begun is always known, so that it is known what comes first.
  void read_ahead();
  void schedule(std::uint32_t turn, Instant ready);
  // What follows from the calls that are over.
  void follow_ends();
  void note_attempt_over(std::uint32_t turn);
  void finished(std::uint32_t turn, Instant now);
  void failed(std::uint32_t turn, Instant now);
  void spawn(const ProgramTurn& turn, Instant now);
  void schedule_next(const ChainState& chain);
  Request request_of(const ProgramTurn& turn, std::uint32_t session) const;

  const Programs& programs_;
  ClientCalls calls_;
  bool records_clients_;
  ProgramRecords records_;
  std::vector<ChainState> chains_;
  std::size_t begun_ = 0;         // sessions whose first call is known
  std::uint32_t first_call_ = 0;  // of the last of them
};

ProgramSource::ProgramSource(const Programs& programs, const ClientOptions& clients,
                             std::uint64_t run_seed)
    : programs_(programs),
      calls_(clients, run_seed, true),
      records_clients_(!clients.only_full_queue_or_lost),
      chains_(programs.chains.size()) {
  const char* broken = broken_structure(programs);
  CHECK(broken == nullptr) << broken;
  add_records();
  read_ahead();
}

void ProgramSource::add_records() {
  const Programs& programs = programs_;
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

void ProgramSource::read_ahead() {
  while (begun_ < programs_.sessions.size() && (begun_ == 0 || !calls_.is_due(first_call_))) {
    const ProgramSession& session = programs_.sessions[begun_++];
    first_call_ = programs_.chains[session.first_chain].first_turn;
    schedule(first_call_, session.begin);
  }
}

void ProgramSource::schedule(std::uint32_t turn, Instant ready) {
  CallRecord& call = records_.calls[turn];
  call.ready = ready;
  calls_.add(turn, {.tenant = programs_.sessions[call.session].tenant, .group = call.session},
             call.output_tokens, ready);
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
  if (calls_.next_at() == Instant::never()) return false;
  const Presentation presentation = calls_.next();
  CallRecord& call = records_.calls[presentation.number];
  call.request = presentation.id;
  call.status = CallStatus::kUnfinished;
  ++call.attempts;
  request = request_of(programs_.turns[presentation.number], call.session);
  presentation.apply(request);
  follow_ends();
  if (const std::uint32_t next = calls_.expect_next(); next != Caller::kNobody) expect(next);
  return true;
}

void ProgramSource::ended(RequestId id, const Outcome& outcome, const Answer& answer, Instant now) {
  calls_.ended(id, outcome, answer, now);
  const std::uint32_t turn = calls_.request_of()[id];
  if (records_.calls[turn].request == id) note_attempt_over(turn);
  follow_ends();
}

RequestId ProgramSource::take_leaver() {
  const RequestId id = calls_.take_leaver();
  note_attempt_over(calls_.request_of()[id]);
  follow_ends();
  return id;
}

void ProgramSource::note_attempt_over(std::uint32_t turn) {
  if (!calls_.is_in_flight(turn)) records_.calls[turn].status = CallStatus::kFailed;
}

void ProgramSource::follow_ends() {
  for (const CallEnd& end : calls_.take_ends()) {
    if (end.finished) {
      finished(end.number, end.at);
    } else {
      failed(end.number, end.at);
    }
  }
  read_ahead();
}

void ProgramSource::failed(std::uint32_t turn, Instant now) {
  CallRecord& call = records_.calls[turn];
  call.status = CallStatus::kFailed;
  SessionRecord& session = records_.sessions[call.session];
  if (session.end == Instant::never()) session.end = now;
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

SourceRecords ProgramSource::take_records(Instant end) {
  calls_.finish(end);
  follow_ends();
  records_.call_of = calls_.request_of();
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
  SourceRecords records{.programs = std::exchange(records_, {}), .clients = std::nullopt};
  if (records_clients_) records.clients = calls_.take_records(end);
  return records;
}

}  // namespace

ClientOptions clients_of(const CallRetries& retries) {
  CHECK(retries.most >= 0 && Duration() <= retries.delay);
  ClientOptions clients;
  clients.most_retries = retries.most;
  clients.only_full_queue_or_lost = true;
  const double delay_s = retries.delay.seconds();
  clients.backoff = {.base_s = delay_s, .factor = 1, .cap_s = delay_s, .jitter = {}};
  return clients;
}

std::unique_ptr<ReactiveSource> make_program_source(const Programs& programs,
                                                    const CallRetries& retries) {
  // Nothing is drawn.
  return std::make_unique<ProgramSource>(programs, clients_of(retries), 0);
}

std::unique_ptr<ReactiveSource> make_program_source(const Programs& programs,
                                                    const ClientOptions& clients,
                                                    std::uint64_t run_seed) {
  return std::make_unique<ProgramSource>(programs, clients, run_seed);
}

}  // namespace inferscale

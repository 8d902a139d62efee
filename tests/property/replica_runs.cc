#include "property/replica_runs.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/random.h"
#include "property/costing.h"

namespace inferscale {
namespace {

class Owner;

// One replica and the way back from it to the owner.
class Seat final : public ReplicaSink {
 public:
  Seat(Owner& owner, std::size_t index) : owner_(owner), index_(index) {}
  void record(RequestId id, const Outcome& outcome) override;
  void prefilled(const Handoff& handoff) override;
  void reserved(RequestId id, TokenCount resident_tokens, Instant now) override;

  std::unique_ptr<LatencyModel> costing;
  std::unique_ptr<Replica> replica;

 private:
  Owner& owner_;
  std::size_t index_;
};

class Owner {
 public:
  Owner(ReplicaKind kind, const Scenario& scenario, const std::vector<Instant>& look_at);
  ReplicaRun run();

  void record(std::size_t seat, RequestId id, const Outcome& outcome);
  void prefilled(std::size_t seat, const Handoff& handoff);
  void reserved(std::size_t seat, RequestId id, TokenCount resident_tokens, Instant at);

 private:
  struct Custody {
    bool ended = false;
    bool cancelled = false;
    bool parked = false;  // its prefill replica keeps blocks
    Request request;      // while it is parked
    std::uint32_t ticket = 0;
    Instant transfer_ends = Instant::never();
  };

  void break_rule(const std::string& what) {
    if (run_.broken.empty()) run_.broken = what + " at " + std::to_string(now_.ns()) + " ns";
  }
  Instant next_event() const;
  void take_looks(Instant before);
  void check_floors(std::size_t from, std::size_t to);
  void step();
  void arrive(Request request);
  void fail(const Failure& failure);
  bool chain_end_is_due() const;
  bool cancellation_is_due(bool before_wakes) const;
  void cancel(RequestId id);
  // What the decode replica waits for from the prefill replica, which has failed.
  std::vector<Request> withdraw_parked();
  void restart_or_lose(const Request& request, const Failure& failure);
  void release(RequestId id);
  void end_transfer(RequestId id);
  void wake(std::size_t seat);
  void count_idlers(std::size_t seat);

  const Scenario& scenario_;
  const std::vector<Instant>& look_at_;
  Instant now_;
  ReplicaRun run_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<Custody> custody_;
  std::map<std::pair<Instant, RequestId>, bool> transfers_;
  RandomStream delays_;
  std::size_t arrival_ = 0;
  std::size_t failure_ = 0;
  std::size_t chain_end_ = 0;
  std::size_t cancellation_ = 0;
  std::size_t look_ = 0;
};

void Seat::record(RequestId id, const Outcome& outcome) {
  owner_.record(index_, id, outcome);
}
void Seat::prefilled(const Handoff& handoff) {
  owner_.prefilled(index_, handoff);
}
void Seat::reserved(RequestId id, TokenCount resident_tokens, Instant now) {
  owner_.reserved(index_, id, resident_tokens, now);
}

Owner::Owner(ReplicaKind kind, const Scenario& scenario, const std::vector<Instant>& look_at)
    : scenario_(scenario), look_at_(look_at), delays_(scenario.seed, "transfers") {
  run_.outcomes.resize(scenario.requests.size());
  run_.gaps = std::make_unique<DurationHistogram>();
  custody_.resize(scenario.requests.size());
  for (std::size_t i = 0; i < (scenario.decode ? 2U : 1U); ++i) {
    auto seat = std::make_unique<Seat>(*this, i);
    seat->costing = std::make_unique<Costing>(*scenario.latency, i, now_, run_);
    const ReplicaSurroundings surroundings{
        .latency = *seat->costing, .sink = *seat, .gaps = *run_.gaps};
    const ReplicaOptions& options = i == 0 ? scenario.options : *scenario.decode;
    seat->replica = kind == ReplicaKind::kSegments ? make_segment_replica(options, surroundings)
                                                   : make_stepwise_replica(options, surroundings);
    seats_.push_back(std::move(seat));
  }
}

void Owner::record(std::size_t seat, RequestId id, const Outcome& outcome) {
  if (custody_[id].ended) break_rule("request " + std::to_string(id) + " ended twice");
  if (custody_[id].cancelled != (outcome.status == OutcomeStatus::kAbandoned)) {
    break_rule("request " + std::to_string(id) + " is abandoned, or its caller has gone");
  }
  custody_[id].ended = true;
  run_.outcomes[id] = outcome;
  run_.reports.push_back(
      {.kind = Report::Kind::kRecord, .replica = seat, .at = now_, .id = id, .outcome = outcome});
}

void Owner::prefilled(std::size_t seat, const Handoff& handoff) {
  const RequestId id = handoff.request.id;
  if (!scenario_.decode || seat != 0) break_rule("a replica that does not prefill handed over");
  run_.reports.push_back({.kind = Report::Kind::kPrefilled,
                          .replica = seat,
                          .at = now_,
                          .id = id,
                          .outcome = {},
                          .figures = {handoff.start.ns(), handoff.first_token.ns(),
                                      handoff.cached_tokens, handoff.preemptions}});
  custody_[id].parked = true;
  custody_[id].ticket = handoff.ticket;
  custody_[id].request = handoff.request;
  seats_[1]->replica->enqueue_handoff(handoff, now_);
}

void Owner::reserved(std::size_t seat, RequestId id, TokenCount resident_tokens, Instant at) {
  if (!scenario_.decode || seat != 1) break_rule("a replica that does not decode reserved");
  if (at != now_) break_rule("a reservation at another instant");
  run_.reports.push_back({.kind = Report::Kind::kReserved,
                          .replica = seat,
                          .at = now_,
                          .id = id,
                          .outcome = {},
                          .figures = {resident_tokens}});
  // Whole microseconds, so that transfers end together, and with steps of the family `whole`.
  const double us = 1e-3 * scenario_.mean_transfer_ns * 2 * delays_.uniform();
  const Duration drawn = Duration::nanos(static_cast<std::int64_t>(us) * 1000);
  custody_[id].transfer_ends = now_ + scenario_.transfer.value_or(drawn);
  transfers_[{custody_[id].transfer_ends, id}] = true;
}

Instant Owner::next_event() const {
  Instant next = Instant::never();
  if (arrival_ < scenario_.requests.size()) next = scenario_.requests[arrival_].arrival;
  if (!transfers_.empty()) next = std::min(next, transfers_.begin()->first.first);
  for (const auto& seat : seats_) next = std::min(next, seat->replica->next_wake());
  // A failure after everything else has ended is none.
  if (next != Instant::never() && failure_ < scenario_.failures.size()) {
    next = std::min(next, scenario_.failures[failure_].at);
  }
  if (next != Instant::never() && chain_end_ < scenario_.chain_ends.size()) {
    next = std::min(next, scenario_.chain_ends[chain_end_].at);
  }
  if (next != Instant::never() && cancellation_ < scenario_.cancellations.size()) {
    next = std::min(next, scenario_.cancellations[cancellation_].at);
  }
  return next;
}

// Of the looks between two events, numbers `from` to `to`: what an earlier one promises of a later.
void Owner::check_floors(std::size_t from, std::size_t to) {
  for (const auto& seat : seats_) {
    for (std::size_t one = from; one < to; ++one) {
      const ReplicaLoad load = seat->replica->load_at(look_at_[one]);
      const TokenRange range = seat->replica->token_range();
      if (load.tokens_in_flight < range.least || load.tokens_in_flight > range.most) {
        break_rule("tokens in flight are out of their range");
      }
      for (const TokenCount part : {0, 1, 2, 4}) {
        const TokenCount level = load.tokens_in_flight * part / 4;
        const TokenFloor floor = seat->replica->token_floor(look_at_[one], level);
        const bool is_high = 2 * floor.tokens >= load.tokens_in_flight + level;
        if (!is_high && load.tokens_in_flight > level) break_rule("a floor is too low");
        if (floor.until <= look_at_[one]) break_rule("a floor does not hold at its own instant");
        for (std::size_t other = one; other < std::min(to, one + 8); ++other) {
          const ReplicaLoad then = seat->replica->load_at(look_at_[other]);
          if (then.kv_blocks_held < load.kv_blocks_held) break_rule("blocks get fewer in a jump");
          if (look_at_[other] >= floor.until) break;
          if (then.tokens_in_flight < floor.tokens) break_rule("tokens fall below their floor");
          if (floor.is_exact && then.tokens_in_flight != floor.tokens) {
            break_rule("an exact floor is none");
          }
        }
      }
    }
  }
}

void Owner::take_looks(Instant before) {
  std::size_t last = look_;
  while (last < look_at_.size() && look_at_[last] < before) ++last;
  check_floors(look_, last);
  for (; look_ < look_at_.size() && look_at_[look_] < before; ++look_) {
    for (const auto& seat : seats_) run_.loads.push_back(seat->replica->load_at(look_at_[look_]));
  }
}

void Owner::arrive(Request request) {
  if (scenario_.decode) {
    const Reason reason = refusal_of(*scenario_.decode, request, 0);
    if (reason != Reason::kNone) {
      Outcome refused;
      refused.arrival = request.arrival;
      refused.status = OutcomeStatus::kRefused;
      refused.reason = reason;
      record(1, request.id, refused);
      return;
    }
  }
  seats_[0]->replica->enqueue(request);
}

void Owner::release(RequestId id) {
  if (custody_[id].parked) seats_[0]->replica->release(custody_[id].ticket, now_);
  custody_[id].parked = false;
}

void Owner::end_transfer(RequestId id) {
  ++run_.transfers;
  custody_[id].transfer_ends = Instant::never();
  seats_[1]->replica->transferred(id, now_);
  release(id);
}

std::vector<Request> Owner::withdraw_parked() {
  std::vector<Request> withdrawn;
  for (RequestId id = 0; id < custody_.size(); ++id) {
    Custody& one = custody_[id];
    if (!one.parked) continue;
    one.parked = false;
    if (one.transfer_ends != Instant::never()) transfers_.erase({one.transfer_ends, id});
    one.transfer_ends = Instant::never();
    seats_[1]->replica->withdraw(id, now_);
    ++run_.withdrawn;
    withdrawn.push_back(one.request);
  }
  return withdrawn;
}

void Owner::fail(const Failure& failure) {
  if (failure.replica >= seats_.size()) return;
  std::vector<Request> dropped = seats_[failure.replica]->replica->fail(now_);
  if (!std::is_sorted(dropped.begin(), dropped.end(),
                      [](const Request& a, const Request& b) { return a.id < b.id; })) {
    break_rule("the dropped are not in order");
  }
  if (failure.replica == 0) {
    for (const Request& request : withdraw_parked()) dropped.push_back(request);
  }
  for (const Request& request : dropped) {
    Custody& one = custody_[request.id];
    if (one.ended) break_rule("request " + std::to_string(request.id) + " failed after its end");
    if (one.cancelled) break_rule("request " + std::to_string(request.id) + " failed and has gone");
    if (one.transfer_ends != Instant::never()) transfers_.erase({one.transfer_ends, request.id});
    one.transfer_ends = Instant::never();
    release(request.id);
    restart_or_lose(request, failure);
  }
}

void Owner::restart_or_lose(const Request& request, const Failure& failure) {
  if (failure.retries) {
    ++run_.restarted;
    Request again = request;
    again.arrival = now_;
    arrive(again);
    return;
  }
  custody_[request.id].ended = true;
  run_.reports.push_back({.kind = Report::Kind::kLost,
                          .replica = failure.replica,
                          .at = now_,
                          .id = request.id,
                          .outcome = {}});
}

void Owner::wake(std::size_t seat) {
  seats_[seat]->replica->wake(now_);
  run_.wakes.push_back(now_);
  count_idlers(seat);
}

void Owner::count_idlers(std::size_t seat) {
  const Replica& replica = *seats_[seat]->replica;
  if (replica.next_wake() <= now_) return;
  const std::int64_t in_batch = replica.load_at(now_).running;
  if (replica.next_wake() == Instant::never()) {
    run_.paused += in_batch > static_cast<std::int64_t>(transfers_.size()) ? 1 : 0;
  } else if (!scenario_.decode && !run_.shapes.empty()) {
    const StepShape& shape = run_.shapes.back().shape;
    run_.stalled += shape.decode_sequences + shape.prefill_sequences < in_batch ? 1 : 0;
  }
}

bool Owner::chain_end_is_due() const {
  if (chain_end_ == scenario_.chain_ends.size()) return false;
  const ChainEnd& end = scenario_.chain_ends[chain_end_];
  return end.at <= now_ && (!end.after_wakes || seats_[0]->replica->next_wake() > now_);
}

bool Owner::cancellation_is_due(bool before_wakes) const {
  if (cancellation_ == scenario_.cancellations.size()) return false;
  const Cancellation& one = scenario_.cancellations[cancellation_];
  return one.at <= now_ && one.before_wakes == before_wakes;
}

void Owner::cancel(RequestId id) {
  Custody& one = custody_[id];
  const bool is_here = id < arrival_ && !one.ended && !one.cancelled;
  one.cancelled = one.cancelled || is_here;
  if (one.transfer_ends != Instant::never()) {
    ++run_.cancelled_in_transfer;
    transfers_.erase({one.transfer_ends, id});
    one.transfer_ends = Instant::never();
  }
  int taken = 0;
  for (const auto& seat : seats_) taken += seat->replica->cancel(id, now_) ? 1 : 0;
  if (taken != (is_here ? 1 : 0)) break_rule("request " + std::to_string(id) + " is not let go");
  for (const auto& seat : seats_) {
    if (seat->replica->cancel(id, now_)) break_rule("a request is let go twice");
  }
  if (is_here) release(id);
}

// Handles everything that is due at now_ and is first in the order of ties.
void Owner::step() {
  if (arrival_ < scenario_.requests.size() && scenario_.requests[arrival_].arrival == now_) {
    arrive(scenario_.requests[arrival_++]);
  } else if (cancellation_is_due(false)) {
    cancel(scenario_.cancellations[cancellation_++].request);
  } else if (failure_ < scenario_.failures.size() && scenario_.failures[failure_].at <= now_) {
    fail(scenario_.failures[failure_++]);
  } else if (chain_end_is_due()) {
    const ChainEnd& end = scenario_.chain_ends[chain_end_++];
    seats_[0]->replica->end_chain(scenario_.requests[end.request], now_);
  } else if (!transfers_.empty() && transfers_.begin()->first.first == now_) {
    const RequestId id = transfers_.begin()->first.second;
    transfers_.erase(transfers_.begin());
    end_transfer(id);
  } else if (cancellation_is_due(true)) {
    cancel(scenario_.cancellations[cancellation_++].request);
  } else {
    wake(seats_[0]->replica->next_wake() == now_ ? 0 : 1);
  }
  for (const auto& seat : seats_) {
    const char* broken = seat->replica->broken_invariant();
    if (broken != nullptr) break_rule(broken);
    if (seat->replica->next_wake() < now_) break_rule("a wake-up in the past");
  }
}

ReplicaRun Owner::run() {
  const Instant stop = scenario_.stop.value_or(Instant::never() - Duration::nanos(1));
  for (Instant next = next_event(); next <= stop; next = next_event()) {
    take_looks(next);
    now_ = next;
    step();
  }
  if (scenario_.stop) now_ = *scenario_.stop;
  run_.end = now_;
  take_looks(Instant::never());
  for (const auto& seat : seats_) {
    const ReplicaLoad load = seat->replica->load_at(now_);
    if (!scenario_.stop && load.queue_depth + load.running > 0) {
      break_rule("somebody is left behind");
    }
    const ReplicaOptions& options = seat == seats_.front() ? scenario_.options : *scenario_.decode;
    if (!scenario_.stop && load.kv_blocks_held != resident_prefix_blocks(options)) {
      break_rule("KV blocks are left behind");
    }
    seat->replica->settle(now_);
    seat->replica->flush();
    run_.usage.push_back(seat->replica->usage());
  }
  for (const Custody& one : custody_) {
    if (!scenario_.stop && !one.ended) break_rule("a request never ended");
  }
  return std::move(run_);
}

}  // namespace

ReplicaRun run_replica(ReplicaKind kind, const Scenario& scenario,
                       const std::vector<Instant>& look_at) {
  return Owner(kind, scenario, look_at).run();
}

}  // namespace inferscale

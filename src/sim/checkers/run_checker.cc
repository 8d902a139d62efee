#include "sim/checkers/run_checker.h"

namespace inferscale {
namespace {

constexpr size_t kMostViolations = 20;  // one broken rule breaks at every event

std::string at(Instant now) {
  return " at " + std::to_string(now.ns()) + " ns";
}

}  // namespace

void RunChecker::violated(const std::string& what) {
  if (violations_.size() < kMostViolations) violations_.push_back(what);
}

void RunChecker::on_event(Instant now, const Replica& replica, std::int64_t arrived) {
  if (now < last_) {
    violated("INV-3: the clock fell from " + std::to_string(last_.ns()) + " ns" + at(now));
  }
  last_ = now;
  const Instant wake = replica.next_wake();
  if (wake < now) violated("INV-3: the replica asks for a wake-up in the past" + at(now));
  if (const char* broken = replica.broken_invariant(); broken != nullptr) {
    violated(broken + at(now));
  }
  if (wake <= now) return;  // more happens at this instant; the load is defined after all of it
  const ReplicaLoad load = replica.load_at(now);
  const std::int64_t in_replica = load.queue_depth + load.running;
  if (in_replica != arrived - ended_) {
    violated("INV-1: " + std::to_string(arrived - ended_) + " requests have not ended and " +
             std::to_string(in_replica) + " are in the replica" + at(now));
  }
  if (load.kv_blocks_held < 0 || load.kv_blocks_held > options_.kv_blocks) {
    violated("INV-4: " + std::to_string(load.kv_blocks_held) + " of " +
             std::to_string(options_.kv_blocks) + " KV blocks are held" + at(now));
  }
  if (load.running > options_.max_num_seqs) {
    violated("INV-4: " + std::to_string(load.running) + " sequences run" + at(now));
  }
  if (wake == Instant::never() && in_replica > 0) {
    violated("INV-5: the replica stands still with requests in it" + at(now));
  }
}

void RunChecker::on_outcome(RequestId id, const Outcome& outcome) {
  const std::string who = "request " + std::to_string(id);
  if (endings_.size() <= id) endings_.resize(static_cast<size_t>(id) + 1, 0);
  if (++endings_[id] == 1) {
    ++ended_;
  } else {
    endings_[id] = 2;
    violated("INV-1: " + who + " ended twice");
  }
  check_order(who, outcome);
  check_gaps(who, outcome);
}

void RunChecker::check_order(const std::string& who, const Outcome& o) {
  const Instant never = Instant::never();
  // never() is later than everything, so this also says that nothing follows what never came.
  if (o.arrival > o.start || o.start > o.first_token || o.first_token > o.finish) {
    violated("INV-2: " + who + " has timestamps out of order");
  }
  if (o.finished() != (o.finish != never)) {
    violated("INV-2: " + who + (o.finished() ? " finished at no instant" : " has a finish"));
  }
  const bool refused = o.status == OutcomeStatus::kRefused;
  if (refused && o.start != never) violated("INV-2: " + who + " was refused and started");
  if (refused != (o.reason != RefusalReason::kNone)) {
    violated("INV-2: " + who + (refused ? " was refused without a reason" : " has a refusal"));
  }
  if (o.finished() && o.output_tokens == 1 && o.finish != o.first_token) {
    violated("INV-2: " + who + " has one token and two token times");
  }
}

void RunChecker::check_gaps(const std::string& who, const Outcome& o) {
  const bool single = o.output_tokens < 2 || o.first_token == Instant::never();
  if (single && (o.itl_max != Duration() || o.gaps_over_limit > 0)) {
    violated("INV-7: " + who + " has a gap without a second token");
  }
  if (o.gaps_over_limit > 0 && o.gaps_over_limit >= o.output_tokens) {
    violated("INV-7: " + who + " has more gaps than tokens");
  }
  if (!o.finished() || o.finish == Instant::never()) return;
  const Duration decode = o.finish - o.first_token;
  if (o.itl_max > decode) violated("INV-7: " + who + " has a gap longer than its decode");
  if (o.itl_max * (static_cast<std::int64_t>(o.output_tokens) - 1) < decode) {
    violated("INV-7: the longest gap of " + who + " is shorter than their mean");
  }
}

void RunChecker::on_end(std::span<const Outcome> outcomes, bool drained) {
  for (size_t id = 0; id < outcomes.size(); ++id) {
    const std::string who = "request " + std::to_string(id);
    if (id >= endings_.size() || endings_[id] == 0) violated("INV-1: " + who + " never ended");
    if (drained && outcomes[id].status == OutcomeStatus::kUnfinished) {
      violated("INV-1: " + who + " is unfinished in a drained run");
    }
  }
  if (endings_.size() > outcomes.size()) violated("INV-1: more requests ended than arrived");
}

}  // namespace inferscale

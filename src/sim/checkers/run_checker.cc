#include "sim/checkers/run_checker.h"

#include <algorithm>

#include "replica/batch_scheduler.h"

namespace inferscale {
namespace {

constexpr size_t kMostViolations = 20;  // one broken rule breaks at every event

std::string at(Instant now) {
  return " at " + std::to_string(now.ns()) + " ns";
}

std::string named(RequestId id) {
  return "request " + std::to_string(id);
}

std::string named_replica(std::uint32_t index) {
  return "replica " + std::to_string(index);
}

}  // namespace

void RunChecker::violated(const std::string& what) {
  if (violations_.size() < kMostViolations) violations_.push_back(what);
}

RunChecker::Custody& RunChecker::custody(RequestId id) {
  if (custodies_.size() <= id) custodies_.resize(static_cast<size_t>(id) + 1);
  return custodies_[id];
}

void RunChecker::on_arrival(RequestId id) {
  Custody& own = custody(id);
  if (own.arrived) violated("INV-1: " + named(id) + " arrived twice");
  own.arrived = true;
}

void RunChecker::on_dispatch(RequestId id, std::uint32_t replica) {
  Custody& own = custody(id);
  if (own.replica != kNobody) {
    violated("INV-10: " + named(id) + " is dispatched to " + named_replica(replica) + " while " +
             named_replica(own.replica) + " has it");
    --held_[own.replica];
  }
  if (own.endings > 0) violated("INV-1: " + named(id) + " is dispatched after its end");
  const bool decodes = replicas_[replica].role == ReplicaRole::kDecode;
  if (decodes != own.handed_over) {
    violated("INV-11: " + named(id) +
             (decodes ? " is to be decoded and was not prefilled" : " is to be prefilled again"));
  }
  if (!own.handed_over) {
    if (own.first_replica != kNobody) own.in_order = false;
    own.first_replica = replica;
  }
  own.replica = replica;
  ++held_[replica];
}

void RunChecker::on_handoff(RequestId id) {
  Custody& own = custody(id);
  if (own.replica == kNobody) {
    violated("INV-10: " + named(id) + " is handed over and nobody has it");
    return;
  }
  --held_[own.replica];
  own.replica = kNobody;
  own.handed_over = true;
  ++parked_;
}

void RunChecker::on_transfer_start(RequestId id, Instant now) {
  Custody& own = custody(id);
  ++started_;
  if (!own.handed_over || own.replica == kNobody || own.transfer != Transfer::kNone) {
    violated("INV-12: a transfer of " + named(id) + " starts out of turn" + at(now));
  }
  own.transfer = Transfer::kMoving;
  own.transfer_start = now;
}

void RunChecker::on_transfer_end(RequestId id, Instant now) {
  Custody& own = custody(id);
  ++completed_;
  if (own.transfer != Transfer::kMoving || now < own.transfer_start) {
    violated("INV-12: a transfer of " + named(id) + " ends that is not under way" + at(now));
  }
  own.transfer = Transfer::kDone;
  own.transfer_end = now;
  --parked_;
}

void RunChecker::on_transfer_cut(RequestId id) {
  ++cut_;
  if (custody(id).transfer != Transfer::kMoving) {
    violated("INV-12: a transfer of " + named(id) + " is cut that is not under way");
  }
  custody(id).transfer = Transfer::kNone;
}

void RunChecker::on_taken_back(RequestId id) {
  Custody& own = custody(id);
  if (own.replica != kNobody) --held_[own.replica];
  if (own.replica == kNobody && !own.handed_over) {
    violated("INV-10: " + named(id) + " is taken back and nobody has it");
  }
  if (own.handed_over && own.transfer != Transfer::kDone) --parked_;
  own.replica = kNobody;
  own.handed_over = false;
  own.in_order = false;
  // A transfer that is under way stays so until it is cut.
  if (own.transfer == Transfer::kDone) own.transfer = Transfer::kNone;
}

bool RunChecker::may_stand_still(std::uint32_t index) const {
  // In a split, memory is kept for sequences that wait for the other side.
  return replicas_[index].role != ReplicaRole::kWhole && parked_ > 0;
}

void RunChecker::on_event(Instant now, std::uint32_t index, const Replica& replica) {
  if (now < last_) {
    violated("INV-3: the clock fell from " + std::to_string(last_.ns()) + " ns" + at(now));
  }
  last_ = now;
  const Instant wake = replica.next_wake();
  if (wake < now) {
    violated("INV-3: " + named_replica(index) + " asks for a wake-up in the past" + at(now));
  }
  if (const char* broken = replica.broken_invariant(); broken != nullptr) {
    violated(broken + (" in " + named_replica(index)) + at(now));
  }
  if (wake <= now) return;  // more happens at this instant; the load is defined after all of it
  check_load(now, index, replica.load_at(now), wake == Instant::never());
}

void RunChecker::check_load(Instant now, std::uint32_t index, const ReplicaLoad& load,
                            bool stands_still) {
  const std::string where = " in " + named_replica(index) + at(now);
  const std::int64_t in_replica = load.queue_depth + load.running;
  if (in_replica != held_[index]) {
    violated("INV-1: " + std::to_string(held_[index]) + " requests have not ended and " +
             std::to_string(in_replica) + " are" + where);
  }
  if (load.kv_blocks_held < 0 || load.kv_blocks_held > replicas_[index].kv_blocks) {
    violated("INV-4: " + std::to_string(load.kv_blocks_held) + " of " +
             std::to_string(replicas_[index].kv_blocks) + " KV blocks are held" + where);
  }
  if (load.running > replicas_[index].max_num_seqs) {
    violated("INV-4: " + std::to_string(load.running) + " sequences run" + where);
  }
  if (stands_still && in_replica > 0 && !may_stand_still(index)) {
    violated("INV-5: nothing moves and requests are" + where);
  }
}

void RunChecker::on_outcome(RequestId id, const Outcome& outcome) {
  const std::string who = named(id);
  Custody& own = custody(id);
  if (++own.endings > 1) {
    own.endings = 2;
    violated("INV-1: " + who + " ended twice");
  }
  check_order(who, outcome);
  check_gaps(who, outcome);
  check_split(who, own, outcome);
  if (own.replica != kNobody) --held_[own.replica];
  if (own.transfer == Transfer::kMoving) ++moving_at_end_;
  own.replica = kNobody;
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
  const bool refused =
      o.status == OutcomeStatus::kRefused || o.status == OutcomeStatus::kDeferred;
  if (refused && o.start != never) violated("INV-2: " + who + " was refused and started");
  const bool has_reason = refused || o.status == OutcomeStatus::kAbandoned ||
                          o.status == OutcomeStatus::kLost;
  if (has_reason != (o.reason != Reason::kNone)) {
    violated("INV-2: " + who + (has_reason ? " was refused without a reason" : " has a refusal"));
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

void RunChecker::check_split(const std::string& who, const Custody& own, const Outcome& o) {
  if (!o.finished()) return;
  const bool prefilled_only =
      own.replica != kNobody && replicas_[own.replica].role == ReplicaRole::kPrefill;
  if (prefilled_only && o.output_tokens > 1) {
    violated("INV-11: " + who + " was decoded by a prefill replica");
  }
  if (!own.handed_over) return;
  if (own.transfer != Transfer::kDone) {
    violated("INV-11: " + who + " was decoded before its KV cache had come");
  } else if (o.first_token > own.transfer_start || own.transfer_end > o.finish) {
    violated("INV-11: the transfer of " + who + " is not between its first and its last token");
  }
}

void RunChecker::check_first_come(std::span<const Outcome> outcomes) {
  std::vector<Instant> last_start(replicas_.size());
  for (size_t id = 0; id < outcomes.size() && id < custodies_.size(); ++id) {
    const Custody& own = custodies_[id];
    const bool started = outcomes[id].start != Instant::never();
    if (!own.in_order || own.first_replica == kNobody || !started) continue;
    const ReplicaOptions& replica = replicas_[own.first_replica];
    const bool in_order = rules_of(replica.scheduler).order == QueueOrder::kArrival;
    if (!in_order || replica.by_priority) continue;
    Instant& last = last_start[own.first_replica];
    if (outcomes[id].start < last) {
      violated("INV-13: request " + std::to_string(id) + " overtook one that was dispatched to " +
               named_replica(own.first_replica) + " before it");
    }
    last = std::max(last, outcomes[id].start);
  }
}

void RunChecker::on_end(std::span<const Outcome> outcomes, bool drained) {
  for (size_t id = 0; id < outcomes.size(); ++id) {
    const std::string who = "request " + std::to_string(id);
    if (id >= custodies_.size() || custodies_[id].endings == 0) {
      violated("INV-1: " + who + " never ended");
    }
    if (drained && outcomes[id].status == OutcomeStatus::kUnfinished) {
      violated("INV-1: " + who + " is unfinished in a drained run");
    }
  }
  if (custodies_.size() > outcomes.size()) violated("INV-1: more requests ended than arrived");
  const std::int64_t left = started_ - completed_ - cut_;
  if (left != moving_at_end_ || (drained && left != 0)) {
    violated("INV-12: " + std::to_string(started_) + " transfers started, " +
             std::to_string(completed_) + " were completed and " + std::to_string(cut_) + " cut");
  }
  check_first_come(outcomes);
}

}  // namespace inferscale

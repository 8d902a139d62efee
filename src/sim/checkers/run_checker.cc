#include "sim/checkers/run_checker.h"

namespace inferscale {
namespace {

constexpr size_t kMostViolations = 20;  // one broken rule breaks at every event

}  // namespace

void RunChecker::violated(const char* invariant, const std::string& detail) {
  if (violations_.size() < kMostViolations) {
    violations_.push_back(std::string(invariant) + ": " + detail);
  }
}

void RunChecker::on_event(Instant now, const Replica* replica) {
  if (now < last_) {
    violated("INV-3", "the clock fell from " + std::to_string(last_.ns()) + " to " +
                          std::to_string(now.ns()) + " ns");
  }
  last_ = now;
  if (replica == nullptr) return;
  if (const char* broken = replica->broken_invariant(); broken != nullptr) {
    violated("INV-4/5", std::string(broken) + " at " + std::to_string(now.ns()) + " ns");
  }
}

void RunChecker::on_outcome(RequestId id, const Outcome& outcome) {
  if (endings_.size() <= id) endings_.resize(static_cast<size_t>(id) + 1, 0);
  if (++endings_[id] > 1) violated("INV-1", "request " + std::to_string(id) + " ended twice");
  check_timestamps(id, outcome);
}

void RunChecker::check_timestamps(RequestId id, const Outcome& o) {
  const std::string who = "request " + std::to_string(id);
  const Instant never = Instant::never();
  if (o.status == OutcomeStatus::kFinished) {
    if (o.first_token == never || o.finish == never || o.start == never) {
      violated("INV-2", who + " finished without a timestamp");
    } else if (o.arrival > o.start || o.start > o.first_token || o.first_token > o.finish) {
      violated("INV-2", who + " has timestamps out of order");
    } else if (o.itl_max > o.finish - o.first_token) {
      violated("INV-2", who + " has a gap longer than its decode");
    } else if (o.output_tokens == 1 && o.finish != o.first_token) {
      violated("INV-2", who + " has one token and two token times");
    }
    if (o.gaps_over_limit >= o.output_tokens) violated("INV-2", who + " has more gaps than tokens");
  }
  if (o.status == OutcomeStatus::kRefused &&
      (o.start != never || o.reason == RefusalReason::kNone)) {
    violated("INV-2", who + " was refused and started, or without a reason");
  }
}

void RunChecker::on_end(std::span<const Outcome> outcomes, bool drained) {
  for (size_t id = 0; id < outcomes.size(); ++id) {
    const int endings = id < endings_.size() ? endings_[id] : 0;
    if (endings != 1) {
      violated("INV-1", "request " + std::to_string(id) + " has " + std::to_string(endings) +
                            " endings");
    }
    if (drained && outcomes[id].status == OutcomeStatus::kUnfinished) {
      violated("INV-1", "request " + std::to_string(id) + " is unfinished in a drained run");
    }
  }
}

}  // namespace inferscale

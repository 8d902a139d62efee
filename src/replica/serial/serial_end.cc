// Failures of a serial station, the end of a run, and what must hold.

#include <algorithm>

#include "base/check.h"
#include "replica/serial/serial_replica.h"

namespace inferscale {

std::vector<Request> SerialReplica::fail(Instant now) {
  settle(now);
  std::vector<Request> dropped(waiting_.begin(), waiting_.end());
  if (phase_ != Phase::kIdle) {
    break_off(now);
    dropped.push_back(call_.request);
  }
  std::sort(dropped.begin(), dropped.end(),
            [](const Request& a, const Request& b) { return a.id < b.id; });
  waiting_.clear();
  waiting_tokens_ = 0;
  store_.clear();
  if (host_) host_->clear(now);
  if (notes_ != nullptr) notes_->clear();
  phase_ = Phase::kIdle;
  wake_at_ = Instant::never();
  return dropped;
}

std::int64_t SerialReplica::break_off(Instant now) {
  std::int64_t ended = 0;
  if (phase_ == Phase::kDecode && now > boundary_) {
    ended = segment_.first_step_ending_at(now, steps_) - 1;
    if (ended > 0) end_decodes(ended, segment_.time_after(ended));
  }
  account(now);
  return ended;
}

bool SerialReplica::cancel(RequestId id, Instant now) {
  DCHECK(now <= wake_at_);
  if (phase_ != Phase::kIdle && call_.request.id == id) {
    stop_serving(now);
    return true;
  }
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [id](const Request& request) { return request.id == id; });
  if (found == waiting_.end()) return false;
  const Sequence gone{.request = *found};
  const bool was_head = found == waiting_.begin();
  waiting_tokens_ -= static_cast<TokenCount>(found->prompt_tokens) + found->max_tokens;
  waiting_.erase(found);
  record(gone, OutcomeStatus::kAbandoned, Instant::never());
  // The next one may fit where the head had to wait for moves out.
  if (phase_ == Phase::kIdle && was_head) wake_at_ = waiting_.empty() ? Instant::never() : now;
  return true;
}

// The call in service ends with the tokens that it has; the next one's service begins at `now`.
void SerialReplica::stop_serving(Instant now) {
  settle(now);
  const std::int64_t ended = break_off(now);
  if (notes_ != nullptr && ended > 0) {
    notes_->report.steps = ended;
    tell_stretch(segment_.time_after(ended));
  } else if (notes_ != nullptr) {
    notes_->clear();
  }
  phase_ = Phase::kIdle;
  leave_history(now);
  record(call_, OutcomeStatus::kAbandoned, Instant::never());
  wake_at_ = waiting_.empty() ? Instant::never() : now;
}

void SerialReplica::flush() {
  if (phase_ != Phase::kIdle) record(call_, OutcomeStatus::kUnfinished, Instant::never());
  for (const Request& request : waiting_) {
    record(Sequence{.request = request}, OutcomeStatus::kUnfinished, Instant::never());
  }
}

const char* SerialReplica::broken_invariant() const {
  if (const char* broken = store_.broken_invariant()) return broken;
  if (phase_ == Phase::kIdle && store_.held() > 0) return "INV-4: KV tokens are held for nobody";
  if (phase_ == Phase::kIdle && wake_at_ == Instant::never() && !waiting_.empty()) {
    return "INV-5: the replica idles while requests wait";
  }
  return nullptr;
}

// --- a prefill/decode split has no serial stations

void SerialReplica::enqueue_handoff(const Handoff& handoff, Instant) {
  CHECK(false) << "request " << handoff.request.id << " is handed over to a serial station";
}

void SerialReplica::transferred(RequestId id, Instant) {
  CHECK(false) << "request " << id << " has no place reserved in a serial station";
}

void SerialReplica::withdraw(RequestId id, Instant) {
  CHECK(false) << "request " << id << " was not handed over to a serial station";
}

void SerialReplica::release(std::uint32_t ticket, Instant) {
  CHECK(false) << "a serial station keeps nothing for ticket " << ticket;
}

}  // namespace inferscale

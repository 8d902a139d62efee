// From the end of the prefill to the start of the decode.

#include <algorithm>

#include "base/check.h"
#include "sim/fleet_run.h"

namespace inferscale {

// Nobody knows yet which decode replica it will go to; they are all alike.
Reason FleetRun::refusal_by_split(const Request& request) const {
  ReplicaOptions decode = fleet_.groups[1].replica;
  decode.role = ReplicaRole::kDecode;
  decode.max_queued = std::nullopt;
  return refusal_of(decode, request, 0);
}

void FleetRun::prefilled(const Handoff& handoff) {
  CHECK(is_split()) << "a replica handed request " << handoff.request.id << " over to nobody";
  Member& from = members_[current_];
  --from.custody;
  ++from.parked;
  if (checker_) checker_->on_handoff(handoff.request.id);
  handed_over_.push_back(handoff);
}

void FleetRun::reserved(RequestId id, TokenCount resident_tokens, Instant) {
  reservations_.emplace_back(id, resident_tokens);
}

void FleetRun::hand_over_pending(std::uint32_t index, Instant now) {
  for (const Handoff& handoff : handed_over_) {
    const RequestId id = handoff.request.id;
    ++result_.transfers.handed_over;
    front_->ended(index, id, now);
    ParkedSequence& parked = parked_.add({.handoff = handoff, .from = index, .parked_at = now});
    if (decode_->choose(handoff.request, now)) {
      dispatch_parked(parked, now);
    } else {
      unplaced_decodes_.push_back(id);
    }
  }
  handed_over_.clear();
}

void FleetRun::dispatch_parked(ParkedSequence& parked, Instant now) {
  const Request& request = parked.handoff.request;
  parked.to = *decode_->choose(request, now);
  if (options_.observer != nullptr) tell_choice(*decode_, request, now);
  Member& member = members_[parked.to];
  ++member.custody;
  ++member.dispatched;
  result_.outcomes[request.id].replica = parked.to;
  if (checker_) checker_->on_dispatch(request.id, parked.to);
  decode_->dispatched(parked.to, request, now);
  member.replica->enqueue_handoff(parked.handoff, now);
  touched(parked.to, now);
}

void FleetRun::start_transfer(RequestId id, TokenCount resident_tokens, Instant now) {
  ParkedSequence* parked = parked_.find(id);
  CHECK(parked != nullptr && !parked->is_moving())
      << "request " << id << " was reserved for and is not waiting for it";
  const auto prompt = static_cast<TokenCount>(parked->handoff.request.prompt_tokens);
  parked->moving_since = now;
  parked->resident_tokens = std::min(prompt, resident_tokens);
  parked->bytes =
      static_cast<double>(prompt - parked->resident_tokens) * fleet_.split->kv_bytes_per_token;
  TransferFacts& facts = result_.transfers;
  ++facts.started;
  const Duration waited = now - parked->parked_at;
  facts.reserving_ns += static_cast<double>(waited.ns());
  facts.reserving_max = std::max(facts.reserving_max, waited);
  if (checker_) checker_->on_transfer_start(id, now);
  link_->start(id, parked->bytes, now);
}

void FleetRun::end_transfers(Instant now) {
  arrived_.clear();
  link_->advance(now, arrived_);
  for (const RequestId id : arrived_) end_transfer(id, now);
}

void FleetRun::end_transfer(RequestId id, Instant now) {
  const ParkedSequence parked = parked_.take(id);
  TransferFacts& facts = result_.transfers;
  ++facts.completed;
  facts.bytes += parked.bytes;
  facts.resident_tokens += static_cast<double>(parked.resident_tokens);
  const Duration moved = now - parked.moving_since;
  facts.moving_ns += static_cast<double>(moved.ns());
  facts.moving_max = std::max(facts.moving_max, moved);
  if (checker_) checker_->on_transfer_end(id, now);
  Member& from = members_[parked.from];
  --from.parked;
  from.replica->release(parked.handoff.ticket, now);
  touched(parked.from, now);
  members_[parked.to].replica->transferred(id, now);
  touched(parked.to, now);
}

}  // namespace inferscale

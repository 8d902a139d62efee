// Tells the decision trace why a step was formed as it was.

#include "replica/segment_replica.h"

namespace inferscale {

HeadWaits SegmentReplica::why_head_waits() const {
  if (waiting_.empty()) return HeadWaits::kNobody;
  if (rules_.drains && running() > 0 && open_places_ == 0) return HeadWaits::kBatchClosed;
  if (!has_seat()) return HeadWaits::kPlace;
  if (preempted_ && rules_.mixed) return HeadWaits::kAfterPreemption;
  const WaitingQueue::Head head = waiting_.head();
  if (!head_fits(head, find(head), room_after(0))) return HeadWaits::kBlocks;
  return rules_.expects_output && full_ ? HeadWaits::kExpectedRoom : HeadWaits::kBudget;
}

void SegmentReplica::note_formed_step(Instant now) {
  StepReport& report = notes_->report;
  report.replica = options_.index;
  report.start = now;
  report.decodes = decodes_ ? group_.size() : 0;
  report.running = running();
  report.queue_depth = waiting_.size();
  report.kv_blocks_free = blocks_.free();
  report.head_waits = why_head_waits();
  if (!waiting_.empty()) report.head = waiting_.head().request->id;
  for (const Chunk& chunk : chunks_) {
    const Sequence& sequence = batch_[chunk.slot].sequence;
    notes_->chunks.push_back(
        {.request = sequence.request.id, .tokens = chunk.tokens, .before = sequence.computed});
  }
}

void SegmentReplica::tell_ended_step(Instant now) {
  StepReport& report = notes_->report;
  report.end = now;
  report.steps = planned_steps_;
  report.chunks = notes_->chunks;
  report.admitted = notes_->admitted;
  report.preempted = notes_->preempted;
  observer_->on_step(report);
  notes_->clear();
}

}  // namespace inferscale

// The sequences of a batch that decode: all of them advance together, one token a step.
//
// The group is kept in sums: cached tokens, tokens inside sliding windows, requested tokens to
// come. Joining and leaving touch one sequence; ending any number of steps touches only those that
// finish or whose window fills. In between a sequence's own figures follow from the step at which
// it will finish.

#pragma once

#include <cstdint>
#include <vector>

#include "replica/batch.h"
#include "replica/decode_segment.h"
#include "replica/finish_queue.h"
#include "replica/gap_tracker.h"
#include "replica/kv_blocks.h"
#include "replica/latency/latency_model.h"

namespace inferscale {

class DecodeGroup {
 public:
  // All outlive the group. `clip`: for requested_left_clipped(); 0 where nobody asks.
  DecodeGroup(Batch& batch, KvBlocks& blocks, GapTracker& gaps, TokenCount clip)
      : batch_(batch),
        blocks_(blocks),
        gaps_(gaps),
        window_(blocks.layout().window_tokens),
        clip_(clip) {}

  bool empty() const { return finishing_.empty(); }
  std::int64_t size() const { return static_cast<std::int64_t>(finishing_.size()); }
  std::int64_t steps_taken() const { return steps_; }
  // Requested tokens that may still come, of all, at the last boundary.
  TokenCount requested_left() const { return requested_left_; }
  // The same, counting at most `clip` tokens for each. REQUIRES: there is a clip.
  TokenCount requested_left_clipped();
  // A member's tokens in the cache, and those generated, at the last boundary.
  TokenCount cached(const Place& place) const {
    return place.sequence.request.prompt_tokens + static_cast<TokenCount>(generated(place)) - 1;
  }
  std::uint32_t generated(const Place& place) const {
    return place.sequence.request.output_tokens -
           static_cast<std::uint32_t>(place.finish_step - steps_);
  }

  // The group's part in the next step.
  void add_to(StepShape& shape) const;
  // Steps until someone finishes or fills its window. REQUIRES: not empty.
  std::int64_t steps_to_change() const;

  // A sequence that has all but its last token in the cache decodes from the next step on.
  void join(Slot slot);
  // It no longer does: its own figures go into its sequence.
  void leave(Slot slot);
  // The steps from + 1 to from + steps of `segment` have ended, the last at `end`, and the blocks
  // have advanced. Those that have all their tokens leave; they are put into `finished` in order of
  // admission. True: somebody's window is full now, so that a step's shape will grow otherwise than
  // so far. REQUIRES: `end` is segment.time_after(from + steps).
  bool end_steps(const DecodeSegment& segment, std::int64_t from, std::int64_t steps, Instant end,
                 std::vector<Slot>& finished);
  // Nobody is left, and nothing is recorded of those who were.
  void clear();

 private:
  void count_first_gaps(Instant first_end);
  void forget_old_gaps();
  void watch_window(Slot slot, TokenCount cached);
  bool fill_windows();
  // Seldom more than one finishes with a step: kept out of the way of the others.
  [[gnu::noinline]] void sort_by_admission(std::vector<Slot>& slots) const;

  Batch& batch_;
  KvBlocks& blocks_;
  GapTracker& gaps_;
  TokenCount window_;  // 0: none
  FinishQueue finishing_;
  FinishQueue filling_;            // by the step at which a window's next threshold is reached
  std::vector<Slot> joiners_;      // have not taken a step since they joined
  std::int64_t steps_ = 0;         // taken since the start
  Instant last_end_;               // of the last step
  TokenCount context_ = 0;         // cached tokens of all
  TokenCount window_context_ = 0;  // of these, inside windows
  std::int64_t growing_ = 0;       // members whose window is not full
  TokenCount requested_left_ = 0;
  // Members with more than the clip to come, by the step at which they have just that, and the sum
  // of these steps: what they have beyond it follows.
  TokenCount clip_;
  FinishQueue clipping_;
  std::int64_t clipping_steps_ = 0;
};

}  // namespace inferscale

// The token gaps of a batch, kept once for all its sequences.
//
// Sequences that decode together see the same gaps. The tracker keeps the run of these shared gaps:
// how many exceeded the limit so far, and the longest since any earlier point. A sequence notes
// where it joined (`mark()`) and asks at its end what came since: constant work for the count,
// logarithmic for the maximum, none for each token. Gaps of one sequence alone (its first, or one
// that a preemption made) are judged by `judge()` and kept with the sequence.
//
// The maximum since a point is found in a stack of gaps that falls from bottom to top: an older gap
// that is not longer than a newer one can never be a maximum again.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/duration_histogram.h"
#include "replica/decode_segment.h"

namespace inferscale {

// What one sequence has seen of gaps: its own ones, and where it joined the shared ones.
struct GapRecord {
  std::int64_t over = 0;       // own gaps over the limit, and shared ones of earlier stays
  Duration longest;            // likewise
  std::int64_t over_mark = 0;  // the tracker's counts when it joined
  std::int64_t time_mark = 0;
};

class GapTracker {
 public:
  // Without a limit no gap is ever over it. `population` outlives the tracker.
  GapTracker(std::optional<Duration> limit, DurationHistogram& population)
      : limit_(limit), population_(population) {}

  // A gap of one sequence alone.
  void judge(Duration gap, GapRecord& record);
  // One gap that `sequences` sequences share.
  void add(Duration gap, std::int64_t sequences);
  // The gaps of steps from..to of a segment, shared by `sequences` sequences.
  void add_steps(const DecodeSegment& segment, std::int64_t from, std::int64_t to,
                 std::int64_t sequences);

  // The sequence shares the gaps from now on.
  void join(GapRecord& record) const {
    record.over_mark = over_total_;
    record.time_mark = time_;
  }
  // It no longer does: what it shared since join() goes into its record.
  void leave(GapRecord& record) const;
  // Forgets what only sequences that joined before `oldest_mark` could ask for.
  void forget_before(std::int64_t oldest_mark);
  bool wants_forgetting(std::size_t running) const { return peaks_.size() > 64 + 2 * running; }

 private:
  struct Peak {
    std::int64_t time;  // the index of the entry, counted from the start
    Duration gap;
  };
  void push_peak(Duration gap);

  std::optional<Duration> limit_;
  std::int64_t over_total_ = 0;
  std::int64_t time_ = 0;
  std::vector<Peak> peaks_;
  DurationHistogram& population_;  // takes every gap; outlives the tracker
};

}  // namespace inferscale

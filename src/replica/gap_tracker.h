// The token gaps of a batch, kept once for all its sequences.
//
// Sequences that decode together see the same gaps. The tracker keeps the run of these shared gaps:
// how many exceeded the limit so far, and the longest since any earlier point. A sequence notes
// where it joined (`mark()`) and asks at its end what came since: constant work for the count,
// logarithmic for the maximum, none for each token. Gaps of one sequence alone (its first, or one
// that a preemption made) are judged by `judge()` and kept with the sequence.
//
// Classes of requests may have limits of their own: there is one count for each distinct limit, and
// a sequence reads its class's. With one limit a step costs what it costs without classes.
//
// The maximum since a point is found in a stack of gaps that falls from bottom to top: an older gap
// that is not longer than a newer one can never be a maximum again.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "core/duration_histogram.h"
#include "replica/decode_segment.h"

namespace inferscale {

// What one sequence has seen of gaps: its own ones, and where it joined the shared ones.
struct GapRecord {
  std::uint32_t over = 0;      // own gaps over its limit, and shared ones of earlier stays
  std::uint8_t slo_class = 0;  // of its request: which limit that is
  Duration longest;            // likewise
  std::int64_t over_mark = 0;  // the tracker's count of that limit when it joined
  std::int64_t time_mark = 0;
};

class GapTracker {
 public:
  // Without a limit no gap is ever over it. `population` outlives the tracker.
  GapTracker(std::optional<Duration> limit, DurationHistogram& population)
      : GapTracker(limit, {}, population) {}
  // `by_class`: the limit of each class; empty: `limit` is of all sequences.
  GapTracker(std::optional<Duration> limit, std::span<const std::optional<Duration>> by_class,
             DurationHistogram& population);

  // A gap of one sequence alone.
  void judge(Duration gap, GapRecord& record) { judge_by(count_of(record).limit, gap, record); }
  // One gap that `sequences` sequences share.
  void add(Duration gap, std::int64_t sequences);
  // The gaps of steps from..to of a segment, shared by `sequences` sequences.
  void add_steps(const DecodeSegment& segment, std::int64_t from, std::int64_t to,
                 std::int64_t sequences) {
    add_run(segment, from, to, sequences);
    if (!others_.empty()) count_others(segment, from, to);
  }

  // The sequence shares the gaps from now on.
  void join(GapRecord& record) const {
    record.over_mark = count_of(record).over;
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
  // A limit and how many shared gaps were over it.
  struct Count {
    std::optional<Duration> limit;
    std::int64_t over = 0;
  };
  void push_peak(Duration gap);
  void judge_by(const std::optional<Duration>& limit, Duration gap, GapRecord& record);
  void add_run(const DecodeSegment& segment, std::int64_t from, std::int64_t to,
               std::int64_t sequences);
  // Apart from what runs with one limit do at each step, which is to stay short.
  [[gnu::cold]] void count_others(Duration gap);
  [[gnu::cold]] void count_others(const DecodeSegment& segment, std::int64_t from, std::int64_t to);
  [[gnu::cold]] const Count& count_of_class(std::uint8_t slo_class) const;
  const Count& count_of(const GapRecord& record) const {
    return others_.empty() ? first_ : count_of_class(record.slo_class);
  }

  Count first_;
  std::vector<Count> others_;                 // empty: all sequences have the one limit
  std::vector<std::uint8_t> place_of_class_;  // 0: first_, i: others_[i - 1]
  std::int64_t time_ = 0;
  std::vector<Peak> peaks_;
  DurationHistogram& population_;  // takes every gap; outlives the tracker
};

}  // namespace inferscale

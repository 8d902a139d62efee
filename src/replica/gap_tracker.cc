#include "replica/gap_tracker.h"

#include <algorithm>

namespace inferscale {

void GapTracker::judge(Duration gap, GapRecord& record) {
  population_.add(gap, 1);
  if (limit_ && gap > *limit_) ++record.over;
  record.longest = std::max(record.longest, gap);
}

void GapTracker::push_peak(Duration gap) {
  while (!peaks_.empty() && peaks_.back().gap <= gap) peaks_.pop_back();
  peaks_.push_back({time_, gap});
  ++time_;
}

void GapTracker::add(Duration gap, std::int64_t sequences) {
  population_.add(gap, sequences);
  if (limit_ && gap > *limit_) ++over_total_;
  push_peak(gap);
}

void GapTracker::add_steps(const DecodeSegment& segment, std::int64_t from, std::int64_t to,
                           std::int64_t sequences) {
  if (to < from) return;
  population_.add_run(segment.step_ns(from), segment.growth_ns(), to - from + 1, sequences);
  if (limit_) over_total_ += segment.gaps_over(*limit_, from, to);
  push_peak(segment.longest_gap(from, to));
}

void GapTracker::leave(GapRecord& record) const {
  record.over += over_total_ - record.over_mark;
  const auto since =
      std::lower_bound(peaks_.begin(), peaks_.end(), record.time_mark,
                       [](const Peak& peak, std::int64_t mark) { return peak.time < mark; });
  if (since != peaks_.end()) record.longest = std::max(record.longest, since->gap);
}

void GapTracker::forget_before(std::int64_t oldest_mark) {
  const auto keep =
      std::lower_bound(peaks_.begin(), peaks_.end(), oldest_mark,
                       [](const Peak& peak, std::int64_t mark) { return peak.time < mark; });
  peaks_.erase(peaks_.begin(), keep);
}

}  // namespace inferscale

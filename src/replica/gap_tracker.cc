#include "replica/gap_tracker.h"

#include <algorithm>

namespace inferscale {

GapTracker::GapTracker(std::optional<Duration> limit,
                       std::span<const std::optional<Duration>> by_class,
                       DurationHistogram& population)
    : first_{.limit = by_class.empty() ? limit : by_class.front()}, population_(population) {
  for (const std::optional<Duration>& own : by_class) {
    if (own == first_.limit) {
      place_of_class_.push_back(0);
      continue;
    }
    const auto known = std::find_if(others_.begin(), others_.end(),
                                    [&](const Count& count) { return count.limit == own; });
    place_of_class_.push_back(static_cast<std::uint8_t>(known - others_.begin() + 1));
    if (known == others_.end()) others_.push_back({.limit = own});
  }
}

void GapTracker::judge_by(const std::optional<Duration>& limit, Duration gap, GapRecord& record) {
  population_.add(gap, 1);
  if (limit && gap > *limit) ++record.over;
  record.longest = std::max(record.longest, gap);
}

void GapTracker::push_peak(Duration gap) {
  while (!peaks_.empty() && peaks_.back().gap <= gap) peaks_.pop_back();
  peaks_.push_back({time_, gap});
  ++time_;
}

void GapTracker::count_others(Duration gap) {
  for (Count& count : others_) {
    if (count.limit && gap > *count.limit) ++count.over;
  }
}

void GapTracker::count_others(const DecodeSegment& segment, std::int64_t from, std::int64_t to) {
  if (to < from) return;
  for (Count& count : others_) {
    if (count.limit) count.over += segment.gaps_over(*count.limit, from, to);
  }
}

const GapTracker::Count& GapTracker::count_of_class(std::uint8_t slo_class) const {
  const std::uint8_t place = place_of_class_[slo_class];
  return place == 0 ? first_ : others_[place - 1U];
}

void GapTracker::add(Duration gap, std::int64_t sequences) {
  population_.add(gap, sequences);
  if (first_.limit && gap > *first_.limit) ++first_.over;
  if (!others_.empty()) count_others(gap);
  push_peak(gap);
}

void GapTracker::add_run(const DecodeSegment& segment, std::int64_t from, std::int64_t to,
                         std::int64_t sequences) {
  if (to < from) return;
  population_.add_run(segment.step_ns(from), segment.growth_ns(), to - from + 1, sequences);
  if (first_.limit) first_.over += segment.gaps_over(*first_.limit, from, to);
  push_peak(segment.longest_gap(from, to));
}

void GapTracker::leave(GapRecord& record) const {
  record.over += static_cast<std::uint32_t>(count_of(record).over - record.over_mark);
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

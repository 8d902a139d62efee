#include "admission/queue_trend.h"

#include <algorithm>

namespace inferscale {

QueueTrend::QueueTrend(const TrendOptions& options) : options_(options) {
  part_ =
      Duration::nanos(std::max<std::int64_t>(options.window.ns() / std::max(options.rises, 1), 1));
  part_end_ = Instant() + part_;
}

void QueueTrend::told_to_wait(Instant due) {
  if (options_.window.ns() <= 0) return;
  // Dues are gathered by part, so that they are few however many come.
  const std::int64_t part = due.ns() / part_.ns() + 1;
  ++due_[Instant::nanos(part * part_.ns())];
  ++outside_;
}

void QueueTrend::observe(std::int64_t waiting, Instant now) {
  if (options_.window.ns() <= 0) return;
  advance(now);
  waiting_ = waiting;
}

void QueueTrend::advance(Instant now) {
  // After a long silence only the last parts matter.
  const Instant far = part_end_ + options_.window + part_;
  if (now > far) {
    means_.clear();
    const std::int64_t parts = (now - part_end_).ns() / part_.ns();
    part_end_ = part_end_ + part_ * parts;
    last_ = part_end_ - part_;
    integral_ = 0;
  }
  while (part_end_ <= now) {
    integral_ +=
        static_cast<double>(waiting_ + outside_) * static_cast<double>((part_end_ - last_).ns());
    last_ = part_end_;
    close_part();
  }
  integral_ += static_cast<double>(waiting_ + outside_) * static_cast<double>((now - last_).ns());
  last_ = now;
}

void QueueTrend::close_part() {
  means_.push_back(integral_ / static_cast<double>(part_.ns()));
  if (means_.size() > static_cast<std::size_t>(options_.rises) + 1) means_.pop_front();
  integral_ = 0;
  while (!due_.empty() && due_.begin()->first <= part_end_) {
    outside_ -= due_.begin()->second;
    due_.erase(due_.begin());
  }
  part_end_ = part_end_ + part_;
}

bool QueueTrend::is_rising() const {
  if (options_.window.ns() <= 0) return false;
  if (means_.size() < static_cast<std::size_t>(options_.rises) + 1) return false;
  // By a request a part at least: what trembles around a level does not rise.
  for (std::size_t i = 1; i < means_.size(); ++i) {
    if (means_[i] < means_[i - 1] + 1) return false;
  }
  return true;
}

}  // namespace inferscale

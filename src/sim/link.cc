#include "sim/link.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"

namespace inferscale {
namespace {

double moving_ns(const LinkOptions& options, double bytes) {
  return 1e9 * bytes / options.bandwidth * options.scale;
}

double latency_ns(const LinkOptions& options) {
  return static_cast<double>(options.base_latency.ns()) * options.scale;
}

Duration rounded(double ns) {
  return Duration::nanos(std::llround(ns));
}

}  // namespace

double transfer_ns(const LinkOptions& options, double bytes) {
  return latency_ns(options) + moving_ns(options, bytes);
}

void Link::pass(Instant now) {
  DCHECK(now >= now_);
  const Duration passed = now - now_;
  if (under_way() > 0) busy_ += passed;
  if (!moving_.empty()) {
    virtual_ns_ += static_cast<double>(passed.ns()) / static_cast<double>(moving_.size());
  }
  now_ = now;
}

void Link::start(RequestId id, double bytes, Instant now) {
  pass(now);
  if (options_.sharing == LinkSharing::kSerial) {
    serial_.push_back({id, rounded(transfer_ns(options_, bytes))});
    if (serial_.size() == 1) head_ends_ = now + serial_.front().time;
    return;
  }
  waiting_.push_back({id, now + rounded(latency_ns(options_)), moving_ns(options_, bytes)});
}

Instant Link::next_end() const {
  const double left = std::max(0.0, moving_.front().ends_at - virtual_ns_);
  return now_ + rounded(left * static_cast<double>(moving_.size()));
}

Instant Link::next() const {
  if (!serial_.empty()) return head_ends_;
  Instant next = Instant::never();
  if (!moving_.empty()) next = next_end();
  if (!waiting_.empty()) next = std::min(next, waiting_.front().joins_at);
  return next;
}

void Link::join_due(Instant now) {
  while (!waiting_.empty() && waiting_.front().joins_at <= now) {
    if (moving_.empty()) virtual_ns_ = 0;
    const Waiting& joiner = waiting_.front();
    moving_.push_back({virtual_ns_ + joiner.work_ns, joined_++, joiner.id});
    std::push_heap(moving_.begin(), moving_.end(), std::greater<>());
    waiting_.pop_front();
  }
}

void Link::advance(Instant now, std::vector<RequestId>& done) {
  if (options_.sharing == LinkSharing::kSerial) {
    pass(now);
    done.push_back(serial_.front().id);
    serial_.pop_front();
    if (!serial_.empty()) head_ends_ = now + serial_.front().time;
    return;
  }
  // Whoever is due now is done now: the rounding of its end is not left over for the others.
  const bool ends = !moving_.empty() && next_end() <= now;
  pass(now);
  if (ends) {
    virtual_ns_ = std::max(virtual_ns_, moving_.front().ends_at);
    while (!moving_.empty() && moving_.front().ends_at <= virtual_ns_) {
      done.push_back(moving_.front().id);
      std::pop_heap(moving_.begin(), moving_.end(), std::greater<>());
      moving_.pop_back();
    }
  }
  join_due(now);
}

void Link::cut(RequestId id, Instant now) {
  pass(now);
  const auto is_it = [id](const auto& transfer) { return transfer.id == id; };
  if (options_.sharing == LinkSharing::kSerial) {
    const auto found = std::find_if(serial_.begin(), serial_.end(), is_it);
    CHECK(found != serial_.end()) << "request " << id << " is not on the link";
    const bool was_moving = found == serial_.begin();
    serial_.erase(found);
    if (was_moving && !serial_.empty()) head_ends_ = now + serial_.front().time;
    return;
  }
  if (const auto found = std::find_if(waiting_.begin(), waiting_.end(), is_it);
      found != waiting_.end()) {
    waiting_.erase(found);
    return;
  }
  const auto found = std::find_if(moving_.begin(), moving_.end(), is_it);
  CHECK(found != moving_.end()) << "request " << id << " is not on the link";
  moving_.erase(found);
  std::make_heap(moving_.begin(), moving_.end(), std::greater<>());
}

}  // namespace inferscale

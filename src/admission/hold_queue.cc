#include "admission/hold_queue.h"

#include "base/check.h"

namespace inferscale {

bool HoldQueue::has_room(const RequestView& request) const {
  return size() < options_.most && bytes_ + request.body_bytes <= options_.most_bytes;
}

void HoldQueue::add(const RequestView& request, std::optional<double> rank, Instant due,
                    Instant now) {
  CHECK(!rank || *rank == *rank) << "a rank that is no number";
  const Key key{.rank = rank.value_or(0),
                .is_cold = request.reusable_tokens == 0,
                .deadline = request.ttft_deadline,
                .places = tenants_.of(request.tenant).in_flight,
                .order = next_order_++};
  const Instant expires = now + options_.longest;
  held_.emplace(key, Held{.request = request, .since = now, .expires = expires, .due = due});
  keys_[{request.request, request.attempt}] = key;
  by_order_.emplace(key.order, key);
  expiries_.emplace(expires, key.order);
  if (due != Instant::never()) dues_.emplace(due, key.order);
  tenants_.add(request.tenant, request.tokens());
  bytes_ += request.body_bytes;
}

const HoldQueue::Held* HoldQueue::first(Key& key) const {
  if (held_.empty()) return nullptr;
  key = held_.begin()->first;
  return &held_.begin()->second;
}

const HoldQueue::Held* HoldQueue::after(Key& key) const {
  const auto next = held_.upper_bound(key);
  if (next == held_.end()) return nullptr;
  key = next->first;
  return &next->second;
}

HoldQueue::Held HoldQueue::take(const Key& key) {
  const auto place = held_.find(key);
  CHECK(place != held_.end()) << "nobody is held there";
  const Held held = place->second;
  held_.erase(place);
  const auto identity = keys_.find({held.request.request, held.request.attempt});
  // A caller that presents one identity twice is held twice; the later one is found by it.
  if (identity != keys_.end() && identity->second.order == key.order) keys_.erase(identity);
  expiries_.erase({held.expires, key.order});
  dues_.erase({held.due, key.order});
  by_order_.erase(key.order);
  tenants_.remove(held.request.tenant, held.request.tokens());
  bytes_ -= held.request.body_bytes;
  return held;
}

void HoldQueue::set_due(const Key& key, Instant due) {
  Held& held = held_.at(key);
  dues_.erase({held.due, key.order});
  held.due = due;
  if (due != Instant::never()) dues_.emplace(due, key.order);
}

std::optional<HoldQueue::Key> HoldQueue::find(std::uint64_t request, std::uint32_t attempt) const {
  const auto identity = keys_.find({request, attempt});
  return identity == keys_.end() ? std::nullopt : std::optional(identity->second);
}

std::optional<HoldQueue::Key> HoldQueue::expired(Instant now) const {
  if (expiries_.empty() || expiries_.begin()->first > now) return std::nullopt;
  return by_order_.at(expiries_.begin()->second);
}

bool HoldQueue::take_due(Instant now) {
  bool is_due = false;
  while (!dues_.empty() && dues_.begin()->first <= now) {
    held_.at(by_order_.at(dues_.begin()->second)).due = Instant::never();
    dues_.erase(dues_.begin());
    is_due = true;
  }
  return is_due;
}

Instant HoldQueue::next_wake() const {
  Instant next = Instant::never();
  if (!expiries_.empty()) next = std::min(next, expiries_.begin()->first);
  if (!dues_.empty()) next = std::min(next, dues_.begin()->first);
  return next;
}

HoldFigures HoldQueue::figures() const {
  // The longest time is the same for all, so the first to expire is the oldest.
  if (expiries_.empty()) return {};
  return {.held = size(), .oldest = expiries_.begin()->first - options_.longest};
}

}  // namespace inferscale

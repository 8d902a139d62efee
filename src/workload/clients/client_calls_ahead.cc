// What is ahead of each request, and what comes of it: events, budgets, limits and groups that end.

#include <algorithm>

#include "base/check.h"
#include "workload/clients/client_calls.h"

namespace inferscale {

bool ClientCalls::allows(const Live& call) const {
  const auto& budget = behaviour_.options().budget;
  if (!budget || call.is_paid) return true;
  // Its tenant has presented a request, at least this one.
  const Budget& used = budgets_[call.caller.tenant + 1];
  return static_cast<double>(used.retries + 1) <=
         budget->share * static_cast<double>(used.requests) + static_cast<double>(budget->reserve);
}

ClientCalls::Budget& ClientCalls::budget_of(const Live& call) {
  // Nobody's index is the greatest, so that its budget stands first.
  const auto place = std::size_t{call.caller.tenant + 1};
  if (place >= budgets_.size()) budgets_.resize(place + 1);
  return budgets_[place];
}

bool ClientCalls::is_closed(const Live& call) const {
  return call.caller.group < closed_.size() && closed_[call.caller.group];
}

bool ClientCalls::is_presented(const Live& call) const {
  if (is_closed(call) || call.ahead == Ahead::kGivenUp) return false;
  return call.ahead != Ahead::kRetry || allows(call);
}

std::set<ClientCalls::Event>::const_iterator ClientCalls::first_presentation() const {
  std::vector<std::uint32_t> ending;  // groups that an earlier event ends
  for (auto event = events_.begin(); event != events_.end(); ++event) {
    const Live& call = live(event->second);
    const std::uint32_t group = call.caller.group;
    if (is_closed(call) || std::find(ending.begin(), ending.end(), group) != ending.end()) continue;
    if (is_presented(call)) return event;
    if (one_failure_ends_group_) ending.push_back(group);
  }
  return events_.end();
}

std::uint32_t ClientCalls::expect_next() const {
  if (events_.empty()) return Caller::kNobody;
  const std::uint32_t number = events_.begin()->second;
  __builtin_prefetch(&live(number));
  return number;
}

std::uint32_t ClientCalls::expect_end(RequestId id) const {
  const std::uint32_t number = request_of_[id];
  if (is_live(number)) __builtin_prefetch(&live(number));
  return number;
}

Instant ClientCalls::next_at() const {
  const auto first = first_presentation();
  return first == events_.end() ? Instant::never() : first->first;
}

void ClientCalls::put_ahead(Live& call, Ahead ahead, Instant at) {
  call.ahead = ahead;
  call.event = at;
  events_.emplace(at, call.number);
}

void ClientCalls::clear_ahead(Live& call) {
  if (call.waits_for_limit) limits_.stop_waiting(call.caller.group, {call.event, call.number});
  if (call.ahead != Ahead::kNothing && !call.waits_for_limit) {
    // Most often it is the first one.
    const Event event{call.event, call.number};
    if (!events_.empty() && *events_.begin() == event) {
      events_.erase(events_.begin());
    } else {
      events_.erase(event);
    }
  }
  call.ahead = Ahead::kNothing;
  call.waits_for_limit = false;
  call.is_paid = false;
  call.silent = false;
  call.timed_out = false;
}

void ClientCalls::fizzle(const Event& event) {
  Live& call = live(event.second);
  if (is_closed(call)) return drop(call);
  const RequestStatus status = call.timed_out ? RequestStatus::kTimedOut : RequestStatus::kGaveUp;
  if (call.silent) leave(call, call.try_ends);
  clear_ahead(call);
  over(call, status, event.first);
}

void ClientCalls::drop(Live& call) {
  clear_ahead(call);
  if (call.current != kNone) return;
  call.record.status = RequestStatus::kGaveUp;
  retire(call);
}

void ClientCalls::settle(Instant now) {
  while (!events_.empty() && events_.begin()->first < now) {
    const Event event = *events_.begin();
    if (is_presented(live(event.second))) return;
    fizzle(event);
  }
}

void ClientCalls::hold_back() {
  while (!events_.empty() && is_closed(live(events_.begin()->second))) {
    drop(live(events_.begin()->second));
  }
  if (!behaviour_.options().halve_after_429) return;
  while (true) {
    const auto first = first_presentation();
    if (first == events_.end()) return;
    Live& call = live(first->second);
    if (call.ahead == Ahead::kRouter || call.caller.group == Caller::kNobody) return;
    if (!limits_.is_full(call.caller.group)) return;
    limits_.wait(call.caller.group, *first);
    call.waits_for_limit = true;
    events_.erase(first);
  }
}

void ClientCalls::release(std::uint32_t group, Instant now) {
  std::uint32_t room = limits_.room(group);
  while (room > 0) {
    const auto waiting = limits_.take_waiting(group);
    if (!waiting) return;
    Live& call = live(waiting->second);
    call.waits_for_limit = false;
    if (call.ahead == Ahead::kRetry && !call.is_paid && waiting->first <= now) {
      if (!allows(call)) {
        fizzle({now, call.number});
        continue;
      }
      ++budget_of(call).retries;
      call.is_paid = true;
    }
    put_ahead(call, call.ahead, std::max(waiting->first, now));
    // A retry that is due later may yet find no budget, or not be needed: it takes nobody's place.
    if (call.ahead == Ahead::kFirst || call.is_paid) --room;
  }
}

void ClientCalls::close(std::uint32_t group) {
  if (group >= closed_.size()) closed_.resize(std::size_t{group} + 1);
  if (closed_[group]) return;
  closed_[group] = true;
  if (!behaviour_.options().halve_after_429) return;
  for (const CallerLimits::Waiting& waiting : limits_.clear(group)) {
    Live& call = live(waiting.second);
    call.waits_for_limit = false;
    drop(call);
  }
}

void ClientCalls::finish(Instant end) {
  // Where nothing is to come that could change it, what is given up later is certain, too.
  const bool is_all = in_flight_ == 0 && next_at() == Instant::never();
  settle(is_all ? Instant::never() : end + Duration::nanos(1));
}

}  // namespace inferscale

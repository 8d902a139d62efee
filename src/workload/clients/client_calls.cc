#include "workload/clients/client_calls.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {

void Presentation::apply(Request& request) const {
  request.id = id;
  request.arrival = at;
  request.attempt = attempt;
  request.first_attempt = first;
  request.spent += spent;
  request.prompt_tokens += kept_tokens;
  request.output_tokens -= kept_tokens;
  request.max_tokens -= kept_tokens;
  if (breaks_after == 0) return;
  request.output_tokens = breaks_after;
  // What came of the answer is not the piece that later prompts hold.
  request.output_is_content = false;
}

ClientCalls::ClientCalls(const ClientOptions& options, std::uint64_t run_seed,
                         bool one_failure_ends_group)
    : behaviour_(options, run_seed),
      one_failure_ends_group_(one_failure_ends_group),
      keeps_records_(!options.only_full_queue_or_lost) {}

void ClientCalls::add(std::uint32_t number, const Caller& caller, std::uint32_t output_tokens,
                      Instant due) {
  if (number >= slot_.size()) {
    slot_.resize(std::size_t{number} + 1, kNone);
    if (keeps_records_) records_.resize(slot_.size());
  }
  CHECK(slot_[number] == kNone) << number << " was added already";
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(live_.size()));
    live_.emplace_back();
  }
  slot_[number] = free_slots_.back();
  free_slots_.pop_back();
  Live& call = live(number);
  call = {};
  call.record.first_arrival = due;
  call.caller = caller;
  call.number = number;
  call.output_tokens = output_tokens;
  put_ahead(call, Ahead::kFirst, due);
  hold_back();
}

bool ClientCalls::is_due(std::uint32_t number) const {
  return is_live(number) && live(number).ahead == Ahead::kFirst && !live(number).waits_for_limit;
}

bool ClientCalls::is_in_flight(std::uint32_t number) const {
  return is_live(number) && live(number).current != kNone;
}

ClientProgress ClientCalls::progress_of(const Live& call) const {
  return {.request = call.number,
          .attempt = call.record.attempts - 1,
          .retries = call.retries,
          .router_retries = call.router_retries,
          .timeout = call.try_ends};
}

Presentation ClientCalls::next() {
  const auto first = first_presentation();
  CHECK(first != events_.end()) << "nothing is ahead";
  const Event event = *first;
  while (*events_.begin() != event) fizzle(Event(*events_.begin()));
  latest_ = std::max(latest_, event.first);
  Live& call = live(event.second);
  start(call, event.first);
  const RequestRecord& record = call.record;
  const Presentation presentation{.number = call.number,
                                  .id = call.current,
                                  .first = call.first,
                                  .attempt = record.attempts - 1,
                                  .at = event.first,
                                  .spent = event.first - record.first_arrival,
                                  .kept_tokens = call.kept_tokens,
                                  .breaks_after = call.breaks_after};
  hold_back();
  return presentation;
}

void ClientCalls::start(Live& call, Instant at) {
  CHECK(request_of_.size() < kNone) << "too many attempts";
  if (call.silent) leave(call, call.try_ends);
  const Ahead ahead = call.ahead;
  if (ahead == Ahead::kFirst) ++budget_of(call).requests;
  if (ahead == Ahead::kRetry) {
    if (!call.is_paid) ++budget_of(call).retries;
    ++call.retries;
  }
  clear_ahead(call);
  call.router_retries = ahead == Ahead::kRouter ? call.router_retries + 1 : 0;
  RequestRecord& record = call.record;
  if (record.attempts > 0) record.waited += at - call.last_end;
  call.current = static_cast<RequestId>(request_of_.size());
  request_of_.push_back(call.number);
  ++in_flight_;
  if (record.attempts == 0) call.first = call.current;
  record.last_attempt = call.current;
  call.breaks_after =
      behaviour_.breaks_after(call.number, record.attempts, call.output_tokens - call.kept_tokens);
  ++record.attempts;
  call.presented = at;
  const auto& timeout = behaviour_.options().timeout;
  if (timeout && ahead != Ahead::kRouter) call.try_ends = at + *timeout;
  const bool counts = behaviour_.options().halve_after_429 && ahead != Ahead::kRouter;
  if (counts && call.caller.group != Caller::kNobody) {
    limits_.presented(call.caller.group);
  }
  plan_timeout(call);
}

void ClientCalls::plan_timeout(Live& call) {
  if (call.try_ends == Instant::never()) return;
  if (behaviour_.options().closes) {
    leaves_.emplace(call.try_ends, call.current);
    return;
  }
  const ClientStep step = behaviour_.after_timeout(progress_of(call), call.try_ends);
  call.silent = true;
  call.timed_out = true;
  put_ahead(call, step.next == NextStep::kRetry ? Ahead::kRetry : Ahead::kGivenUp, step.at);
}

Instant ClientCalls::next_leave() const {
  return leaves_.empty() ? Instant::never() : leaves_.begin()->first;
}

RequestId ClientCalls::take_leaver() {
  CHECK(!leaves_.empty()) << "nobody leaves";
  const auto [at, id] = *leaves_.begin();
  settle(at);
  latest_ = std::max(latest_, at);
  Live& call = live(request_of_[id]);
  leave(call, at);
  if (is_closed(call)) {
    over(call, RequestStatus::kTimedOut, at);
  } else {
    follow(call, behaviour_.after_timeout(progress_of(call), at), at);
  }
  hold_back();
  return id;
}

void ClientCalls::leave(Live& call, Instant at) {
  gone_.emplace(call.current, call.caller.group);
  if (behaviour_.options().closes) leaves_.erase({call.try_ends, call.current});
  call.current = kNone;
  call.last_end = at;
  call.silent = false;
  ++call.record.left;
}

void ClientCalls::ended_for_nobody(RequestId id, Instant now) {
  const std::uint32_t group = gone_.at(id);
  gone_.erase(id);
  if (!behaviour_.options().halve_after_429 || group == Caller::kNobody) return;
  limits_.ended(group);
  release(group, now);
}

void ClientCalls::ended(RequestId id, const Outcome& outcome, const Answer& answer, Instant now) {
  CHECK(id < request_of_.size()) << "request " << id << " was never made";
  CHECK(latest_ <= now) << "an end before the last event";
  CHECK(outcome.status != OutcomeStatus::kUnfinished) << "request " << id << " has not ended";
  latest_ = now;
  --in_flight_;
  settle(now);
  if (gone_.contains(id)) {
    ended_for_nobody(id, now);
    return hold_back();
  }
  const std::uint32_t number = request_of_[id];
  CHECK(is_in_flight(number) && live(number).current == id) << "ended twice: " << id;
  Live& call = live(number);
  if (!behaviour_.options().closes && call.try_ends <= now) {
    // Its client has left, and what it does next is ahead already, or its group has ended.
    leave(call, call.try_ends);
    if (call.ahead == Ahead::kNothing) over(call, RequestStatus::kTimedOut, now);
    ended_for_nobody(id, now);
  } else {
    ended_in_time(call, outcome, answer, now);
  }
  hold_back();
}

void ClientCalls::ended_in_time(Live& call, const Outcome& outcome, const Answer& answer,
                                Instant now) {
  clear_ahead(call);
  if (behaviour_.options().closes) leaves_.erase({call.try_ends, call.current});
  call.current = kNone;
  call.last_end = now;
  count(call, outcome);
  if (outcome.finished() && call.breaks_after > 0) {
    limit(call, outcome, answer, now);
    return broken(call, outcome, now);
  }
  ClientStep step = behaviour_.after_end(progress_of(call), outcome, answer, now);
  if (is_closed(call) && step.next != NextStep::kDone)
    step = {.next = NextStep::kGiveUp, .at = now};
  // What a router in between does is one call of the client's.
  if (step.next != NextStep::kRouterRetry) limit(call, outcome, answer, now);
  RequestRecord& record = call.record;
  if (step.next == NextStep::kDone && record.first_token == Instant::never()) {
    record.first_token = outcome.first_token;
  }
  follow(call, step, now);
}

void ClientCalls::broken(Live& call, const Outcome& outcome, Instant now) {
  RequestRecord& record = call.record;
  ClientStep step = behaviour_.after_broken_stream(progress_of(call), now);
  if (is_closed(call)) step = {.next = NextStep::kGiveUp, .at = now};
  const bool resumes = behaviour_.options().stream_failures.then == AfterBrokenStream::kResume;
  if (resumes && step.next == NextStep::kRetry) {
    call.kept_tokens += call.breaks_after;
    record.resumed_tokens = call.kept_tokens;
  }
  const bool keeps = resumes || step.next == NextStep::kGiveUp;
  if (keeps && record.first_token == Instant::never()) record.first_token = outcome.first_token;
  follow(call, step, now);
}

void ClientCalls::count(Live& call, const Outcome& outcome) {
  RequestRecord& record = call.record;
  if (outcome.status == OutcomeStatus::kDeferred) ++record.deferred;
  if (outcome.status == OutcomeStatus::kRefused) ++record.rejected;
  if (outcome.status == OutcomeStatus::kAbandoned) ++record.left;
  if (outcome.status == OutcomeStatus::kLost) ++record.broken;
  if (outcome.finished() && call.breaks_after > 0) ++record.broken;
}

void ClientCalls::limit(const Live& call, const Outcome& outcome, const Answer& answer,
                        Instant now) {
  const std::uint32_t group = call.caller.group;
  if (!behaviour_.options().halve_after_429 || group == Caller::kNobody) return;
  constexpr int kTooManyRequests = 429;
  if (outcome.finished()) {
    limits_.answered(group);
  } else if (answer.status == kTooManyRequests) {
    limits_.refused_by_429(group, call.presented, now);
  }
  limits_.ended(group);
  release(group, now);
}

void ClientCalls::follow(Live& call, const ClientStep& step, Instant now) {
  switch (step.next) {
    case NextStep::kDone:
      return over(call, RequestStatus::kFinished, now);
    case NextStep::kElsewhere:
      return over(call, RequestStatus::kElsewhere, now);
    case NextStep::kRouterRetry:
      return put_ahead(call, Ahead::kRouter, step.at);
    case NextStep::kRetry:
      put_ahead(call, Ahead::kRetry, step.at);
      break;
    case NextStep::kGiveUp:
      if (step.at <= now) {
        return over(call, step.timed_out ? RequestStatus::kTimedOut : RequestStatus::kGaveUp, now);
      }
      // Its router is still waiting when its client's patience is over.
      put_ahead(call, Ahead::kGivenUp, step.at);
      break;
  }
  call.timed_out = step.timed_out;
}

void ClientCalls::retire(Live& call) {
  if (keeps_records_) records_[call.number] = call.record;
  free_slots_.push_back(std::exchange(slot_[call.number], kOver));
}

void ClientCalls::over(Live& call, RequestStatus status, Instant at) {
  call.record.status = status;
  const bool finished = status == RequestStatus::kFinished;
  ends_.push_back({.number = call.number, .finished = finished, .at = at});
  const std::uint32_t group = call.caller.group;
  retire(call);
  if (!finished && one_failure_ends_group_ && group != Caller::kNobody) close(group);
}

ClientRecords ClientCalls::take_records(Instant end) {
  CHECK(keeps_records_);
  std::vector<std::uint32_t> order;
  for (std::uint32_t number = 0; number < records_.size(); ++number) {
    RequestRecord& record = records_[number];
    if (is_live(number)) {
      const Live& call = live(number);
      record = call.record;
      if (is_closed(call) && call.current == kNone) record.status = RequestStatus::kGaveUp;
      if (call.silent && call.try_ends <= end) ++record.left;
    }
    // Due, even if it was held back until the end; but not what its session never came to.
    const bool arrived = record.attempts > 0 || (record.status == RequestStatus::kUnfinished &&
                                                 is_live(number) && record.first_arrival <= end);
    if (arrived) order.push_back(number);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(records_[a].first_arrival, a) < std::pair(records_[b].first_arrival, b);
  });
  ClientRecords records;
  std::vector<std::uint32_t> place(records_.size());
  for (const std::uint32_t number : order) {
    place[number] = static_cast<std::uint32_t>(records.requests.size());
    records.requests.push_back(records_[number]);
  }
  for (const std::uint32_t number : request_of_) records.request_of.push_back(place[number]);
  return records;
}

}  // namespace inferscale

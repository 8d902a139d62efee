#include "routing/replica_books.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace inferscale {
namespace {

// Out of range is unknown.
ReplicaSignals sane(ReplicaSignals signals) {
  if (signals.queue_depth && *signals.queue_depth < 0) signals.queue_depth.reset();
  if (signals.running && *signals.running < 0) signals.running.reset();
  if (signals.tokens_in_flight && *signals.tokens_in_flight < 0) signals.tokens_in_flight.reset();
  const double kv = signals.kv_used_fraction.value_or(0);
  if (!(kv >= 0 && kv <= 1)) signals.kv_used_fraction.reset();
  return signals;
}

// Of the tokens that a reading counts, those of one request.
TokenCount share_of_one(const ReplicaSignals& reading) {
  if (!reading.tokens_in_flight || !reading.queue_depth || !reading.running) return 0;
  const std::int64_t requests = *reading.queue_depth + *reading.running;
  return requests == 0 ? 0 : *reading.tokens_in_flight / requests;
}

}  // namespace

ReplicaBooks::Entry& ReplicaBooks::entry(std::uint32_t replica) {
  CHECK(replica < entries_.size()) << "no replica " << replica << " of " << entries_.size();
  return entries_[replica];
}

std::uint32_t ReplicaBooks::add_replica(const ReplicaTraits& traits) {
  CHECK(traits.weight > 0) << "a replica of weight " << traits.weight;
  CHECK(options_.measure != LoadMeasure::kWait || traits.token_ns > 0)
      << "waits are compared, but the time of a token is " << traits.token_ns << " ns";
  const std::uint32_t replica = replicas();
  entries_.emplace_back();
  entries_.back().traits = traits;
  if (options_.readings_have_age) events_.emplace_back();
  available_.grow(replica + 1);
  if (options_.ranked) tournament_.grow(replica + 1);
  set_available(replica, true);
  return replica;
}

void ReplicaBooks::set_available(std::uint32_t replica, bool available) {
  CHECK(replica < entries_.size()) << "no replica " << replica << " of " << entries_.size();
  if (available) {
    available_.insert(replica);
    rank(replica);
  } else {
    available_.erase(replica);
    if (options_.ranked) tournament_.remove(replica);
  }
}

// Adds an event from after the reading to the changes since.
void ReplicaBooks::apply(const Event& event, Entry& entry) {
  const DispatchedRequest& work = event.work;
  if (!event.is_end) {
    ++entry.since.requests;
    entry.since.tokens += work.tokens();
    entry.since.prompt_tokens += work.prompt_tokens;
    return;
  }
  const bool was_read = work.dispatch <= entry.dispatch_read;
  --entry.since.requests;
  entry.since.tokens -= was_read ? share_of_one(entry.reading) : work.tokens();
  entry.since.prompt_tokens -= work.prompt_tokens;
}

void ReplicaBooks::book(std::uint32_t replica, const Event& event) {
  apply(event, entries_[replica]);
  if (!options_.readings_have_age) return;
  std::deque<Event>& events = events_[replica];
  if (events.size() == kMostEvents) events.pop_front();
  events.push_back(event);
}

void ReplicaBooks::observe(std::uint32_t replica, const ReplicaSignals& signals) {
  Entry& observed = entry(replica);
  observed.reading = sane(signals);
  observed.since = {};
  observed.dispatch_read = dispatches_;
  if (options_.readings_have_age) correct(observed, events_[replica]);
  rank(replica);
}

void ReplicaBooks::observe_tokens(std::uint32_t replica, TokenCount tokens) {
  Entry& observed = entries_[replica];
  observed.reading.tokens_in_flight = tokens;
  observed.since = {};
  observed.dispatch_read = dispatches_;
  rank(replica);
}

// Drops the events that the reading saw, and corrects it by the others.
void ReplicaBooks::correct(Entry& entry, std::deque<Event>& events) {
  while (!events.empty() && events.front().at <= entry.reading.observed_at) events.pop_front();
  const auto first =
      std::find_if(events.begin(), events.end(), [](const Event& event) { return !event.is_end; });
  if (first != events.end()) entry.dispatch_read = first->work.dispatch - 1;
  for (const Event& event : events) apply(event, entry);
}

void ReplicaBooks::dispatched(std::uint32_t replica, const Request& request, Instant now) {
  Entry& to = entry(replica);
  const DispatchedRequest work{.replica = replica,
                               .prompt_tokens = request.prompt_tokens,
                               .max_tokens = request.max_tokens,
                               .dispatch = ++dispatches_};
  ++to.in_flight.requests;
  if (source_ != nullptr) {
    to.last_dispatch = work.dispatch;
    source_->changed(replica);
    return;
  }
  if (counts_tokens()) in_flight_.add(request.id, work);
  to.in_flight.tokens += work.tokens();
  to.in_flight.prompt_tokens += work.prompt_tokens;
  to.last_dispatch = work.dispatch;
  book(replica, {.at = now, .work = work, .is_end = false});
  rank(replica);
}

void ReplicaBooks::finished(std::uint32_t replica, RequestId request, Instant now) {
  Entry& from = entry(replica);
  DispatchedRequest work;
  if (source_ == nullptr && counts_tokens()) {
    work = in_flight_.take(request);
    CHECK(work.replica == replica) << "request " << request << " was dispatched to replica "
                                   << work.replica << " and ended on " << replica;
  }
  CHECK(from.in_flight.requests > 0)
      << "more requests ended on replica " << replica << " than were dispatched to it";
  --from.in_flight.requests;
  if (source_ != nullptr) {
    source_->changed(replica);
    return;
  }
  from.in_flight.tokens -= work.tokens();
  from.in_flight.prompt_tokens -= work.prompt_tokens;
  book(replica, {.at = now, .work = work, .is_end = true});
  rank(replica);
}

void ReplicaBooks::forget(std::uint32_t replica) {
  Entry& gone = entry(replica);
  CHECK(gone.in_flight.requests == 0)
      << gone.in_flight.requests << " requests are in flight on replica " << replica;
  gone.reading = {};
  gone.in_flight = {};
  gone.since = {};
  if (options_.readings_have_age) events_[replica].clear();
  rank(replica);
}

std::optional<std::uint32_t> ReplicaBooks::least() {
  std::optional<std::uint32_t> best = tournament_.best();
  if (source_ == nullptr) return best;
  while (best && (source_->raise(*best) || source_->see(*best))) best = tournament_.best();
  return best;
}

double ReplicaBooks::least_bound() {
  std::optional<std::uint32_t> best = tournament_.best();
  while (best && source_ != nullptr && source_->raise(*best)) best = tournament_.best();
  return best ? tournament_.key(*best).load : 0;
}

ReplicaBooks::LoadBounds ReplicaBooks::bounds(std::uint32_t replica) {
  if (source_ == nullptr) {
    const double load = key_bound(replica).load;
    return {.least = load, .most = load};
  }
  const TokenBounds tokens = source_->bounds(replica);
  const ReplicaTraits& traits = entries_[replica].traits;
  return {.least = load_of_tokens(traits, static_cast<double>(tokens.least)),
          .most = load_of_tokens(traits, static_cast<double>(tokens.most))};
}

TokenCount ReplicaBooks::tokens_at_least_load(std::uint32_t replica) const {
  const std::optional<std::uint32_t> best = tournament_.best();
  if (!best) return 0;
  const double least = tournament_.key(*best).load;
  const ReplicaTraits& traits = entries_[replica].traits;
  return static_cast<TokenCount>(options_.measure == LoadMeasure::kWait ? least / traits.token_ns
                                                                        : least * traits.weight);
}

double ReplicaBooks::requests(const Entry& entry) const {
  const ReplicaSignals& reading = entry.reading;
  if (!reading.queue_depth || !reading.running)
    return static_cast<double>(entry.in_flight.requests);
  std::int64_t requests = *reading.queue_depth + *reading.running;
  if (options_.corrections) requests = std::max<std::int64_t>(0, requests + entry.since.requests);
  return static_cast<double>(requests);
}

double ReplicaBooks::tokens(const Entry& entry) const {
  if (!entry.reading.tokens_in_flight) return static_cast<double>(entry.in_flight.tokens);
  TokenCount tokens = *entry.reading.tokens_in_flight;
  if (options_.corrections) tokens = std::max<TokenCount>(0, tokens + entry.since.tokens);
  return static_cast<double>(tokens);
}

std::optional<double> ReplicaBooks::kv_fraction(const Entry& entry) const {
  const TokenCount capacity = entry.traits.kv_cache_tokens;
  const auto part = [&](TokenCount tokens) {
    return static_cast<double>(tokens) / static_cast<double>(capacity);
  };
  if (!entry.reading.kv_used_fraction) {
    if (capacity <= 0) return std::nullopt;
    return part(entry.in_flight.prompt_tokens);
  }
  if (!options_.corrections || capacity <= 0) return entry.reading.kv_used_fraction;
  return std::max(0.0, *entry.reading.kv_used_fraction + part(entry.since.prompt_tokens));
}

LoadKey ReplicaBooks::computed_key(std::uint32_t replica) const {
  const Entry& of = entries_[replica];
  LoadKey key{.weight = of.traits.weight, .last_dispatch = of.last_dispatch};
  switch (options_.measure) {
    case LoadMeasure::kRequests:
      key.load = requests(of) / of.traits.weight;
      break;
    case LoadMeasure::kTokens:
    case LoadMeasure::kWait:
      key.load = load_of_tokens(of.traits, tokens(of));
      break;
    case LoadMeasure::kKv:
      key.load = kv_fraction(of).value_or(std::numeric_limits<double>::infinity());
      key.next_load = requests(of) / of.traits.weight;
      break;
  }
  return key;
}

void ReplicaBooks::rank(std::uint32_t replica) {
  if (options_.ranked && available_.contains(replica))
    tournament_.set(replica, computed_key(replica));
}

}  // namespace inferscale

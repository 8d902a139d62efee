#include "admission/pool_signals.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {
namespace {

// A replica without a queue is full when so much of its KV cache is in use.
constexpr double kFullKvFraction = 0.95;

const RequestView kNoRequest;

}  // namespace

PoolSignals::PoolSignals(const PoolSignalOptions& options)
    : options_(options),
      ledger_(options.replicas),
      members_(options.replicas),
      arrivals_(static_cast<std::size_t>(kParts), 0) {
  CHECK(options.replicas > 0) << "a pool without replicas";
  CHECK(options.rate_window.ns() >= kParts) << "no window for rates";
}

void PoolSignals::observe(std::uint32_t replica, const EngineReading& page) {
  CHECK(replica < members_.size()) << "replica " << replica << " of " << members_.size();
  members_[replica].page.observe(page, options_.rate_window, ledger_.waiting_at(replica));
}

void PoolSignals::set_available(std::uint32_t replica, bool available) {
  CHECK(replica < members_.size()) << "replica " << replica << " of " << members_.size();
  members_[replica].is_available = available;
  if (!available) members_[replica].page.forget();
}

void PoolSignals::arrived(Instant now) {
  if (first_arrival_ == Instant::never()) first_arrival_ = now;
  const std::int64_t part = now.ns() / (options_.rate_window.ns() / kParts);
  const std::int64_t steps = std::min(part - arrivals_part_, kParts);
  for (std::int64_t i = 1; i <= steps; ++i) {
    arrivals_[static_cast<std::size_t>((part - steps + i) % kParts)] = 0;
  }
  arrivals_part_ = std::max(part, arrivals_part_);
  ++arrivals_[static_cast<std::size_t>(arrivals_part_ % kParts)];
}

void PoolSignals::dispatched(std::uint64_t ticket, std::uint32_t replica, Instant now) {
  const LedgerEntry& entry = *ledger_.find(ticket);
  // Tried again elsewhere: the first replica has lost it.
  if (entry.replica != LedgerEntry::kNowhere) members_[entry.replica].page.ended(entry, 0, now);
  ledger_.dispatched(ticket, replica, now);
  members_[replica].page.dispatched(entry, now);
}

void PoolSignals::first_token(std::uint64_t ticket, Instant now) {
  const LedgerEntry& entry = *ledger_.find(ticket);
  if (!entry.is_waiting()) return;
  members_[entry.replica].page.first_token(entry, now);
  ledger_.first_token(ticket, now);
}

LedgerEntry PoolSignals::end(std::uint64_t ticket, TokenCount output_tokens, Instant now) {
  const LedgerEntry entry = ledger_.end(ticket);
  if (entry.replica != LedgerEntry::kNowhere) {
    members_[entry.replica].page.ended(entry, output_tokens, now);
  }
  return entry;
}

bool PoolSignals::is_read(const Member& member, Signal signal, Instant now, bool any_age) const {
  return member.is_available && member.page.carries(signal) &&
         (any_age || now - member.page.observed_at() <= options_.max_age);
}

bool PoolSignals::is_fresh(Signal signal, Instant now) const {
  if (spec_of(signal).origin == SignalOrigin::kLedger) return true;
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return is_read(member, signal, now, false); });
}

Reading PoolSignals::read(Signal signal, const RequestView& request, const HoldFigures& hold,
                          Instant now, bool any_age) const {
  const SignalSpec& spec = spec_of(signal);
  if (spec.origin == SignalOrigin::kLedger) return of_ledger(signal, request, hold, now);
  if (signal == Signal::kPrefixHitRate) return hit_rate(now, any_age);
  if (signal == Signal::kReplicasFullFraction) return full_fraction(now, any_age);
  return combine(signal, now, any_age);
}

double PoolSignals::on_the_way(Signal signal) const {
  if (!options_.corrections || ledger_.undispatched() == 0) return 0;
  if (signal == Signal::kQueueDepth) return static_cast<double>(ledger_.undispatched());
  const auto tokens = static_cast<double>(ledger_.undispatched_tokens());
  if (signal == Signal::kKvFreeTokens) return -tokens;
  if (signal != Signal::kKvUsedFraction) return 0;
  double capacity = 0;
  for (const Member& member : members_) {
    if (member.is_available) capacity += static_cast<double>(member.page.kv_capacity_tokens());
  }
  return capacity > 0 ? tokens / capacity : 0;
}

Reading PoolSignals::combine(Signal signal, Instant now, bool any_age) const {
  const SignalSum rule = spec_of(signal).over_replicas;
  double sum = 0;
  double most = 0;
  std::int64_t known = 0;
  std::int64_t there = 0;
  Instant oldest = Instant::never();
  for (const Member& member : members_) {
    if (!member.is_available) continue;
    ++there;
    if (!is_read(member, signal, now, any_age)) continue;
    const Reading reading = member.page.read(signal, options_.corrections);
    if (!reading.is_known()) continue;
    ++known;
    sum += reading.value;
    most = std::max(most, reading.value);
    oldest = std::min(oldest, reading.observed_at);
  }
  if (known == 0) return Reading::unknown();
  const double more = on_the_way(signal);
  const auto known_now = static_cast<double>(known);
  switch (rule) {
    case SignalSum::kSum:
      return Reading::of(signal, sum * static_cast<double>(there) / known_now + more, oldest);
    case SignalSum::kMean:
      return Reading::of(signal, std::min(sum / known_now + more, spec_of(signal).most), oldest);
    case SignalSum::kMax:
      return Reading::of(signal, std::max(most + more, spec_of(signal).least), oldest);
    case SignalSum::kRatioOfSums:
    case SignalSum::kOfPool:
      break;
  }
  return Reading::unknown();
}

Reading PoolSignals::hit_rate(Instant now, bool any_age) const {
  double queries = 0;
  double hits = 0;
  Instant oldest = Instant::never();
  for (const Member& member : members_) {
    if (!is_read(member, Signal::kPrefixHitRate, now, any_age)) continue;
    queries += member.page.hits().queries;
    hits += member.page.hits().hits;
    oldest = std::min(oldest, member.page.observed_at());
  }
  if (queries <= 0) return Reading::unknown();
  return Reading::of(Signal::kPrefixHitRate, hits / queries, oldest);
}

Reading PoolSignals::full_fraction(Instant now, bool any_age) const {
  std::int64_t known = 0;
  std::int64_t full = 0;
  Instant oldest = Instant::never();
  for (const Member& member : members_) {
    if (!is_read(member, Signal::kReplicasFullFraction, now, any_age)) continue;
    const Reading queue = member.page.read(Signal::kQueueDepth, options_.corrections);
    const Reading kv = member.page.read(Signal::kKvUsedFraction, options_.corrections);
    if (!queue.is_known() && !kv.is_known()) continue;
    ++known;
    const bool is_full =
        (queue.is_known() && queue.value >= 1) || (kv.is_known() && kv.value >= kFullKvFraction);
    if (is_full) ++full;
    oldest = std::min(oldest, member.page.observed_at());
  }
  if (known == 0) return Reading::unknown();
  return Reading::of(Signal::kReplicasFullFraction,
                     static_cast<double>(full) / static_cast<double>(known), oldest);
}

Reading PoolSignals::queue_age(std::uint32_t replica, Instant now) const {
  const LedgerEntry* entry = ledger_.oldest_waiting(replica);
  if (entry == nullptr) return Reading::unknown();
  Duration age = now - entry->dispatched_at;
  if (options_.service.is_known()) {
    const double prefill = options_.service.prefill_ns(entry->request.tokens_to_compute());
    age = age - Duration::nanos(static_cast<std::int64_t>(prefill));
  }
  return Reading::of(Signal::kQueueAgeS, std::max(0.0, age.seconds()), now);
}

Reading PoolSignals::oldest_queue_age(Instant now) const {
  Reading oldest = Reading::unknown();
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const Reading age = queue_age(i, now);
    if (age.is_known() && (!oldest.is_known() || age.value > oldest.value)) oldest = age;
  }
  return oldest;
}

Reading PoolSignals::of_ledger(Signal signal, const RequestView& request, const HoldFigures& hold,
                               Instant now) const {
  const auto known = [&](double value) { return Reading::of(signal, value, now); };
  switch (signal) {
    case Signal::kQueueAgeS:
      return oldest_queue_age(now);
    case Signal::kInFlight:
      return known(static_cast<double>(ledger_.in_flight()));
    case Signal::kTokensInFlight:
      return known(static_cast<double>(ledger_.tokens_in_flight()));
    case Signal::kTenantInFlight:
      if (request.tenant == kNoCaller) return Reading::unknown();
      return known(static_cast<double>(ledger_.tenant(request.tenant).in_flight));
    case Signal::kTenantTokenShare:
      if (request.tenant == kNoCaller) return Reading::unknown();
      if (ledger_.tokens_in_flight() == 0) return known(0);
      return known(static_cast<double>(ledger_.tenant(request.tenant).tokens) /
                   static_cast<double>(ledger_.tokens_in_flight()));
    case Signal::kSessionInFlight:
      if (request.session == kNoCaller) return Reading::unknown();
      return known(static_cast<double>(ledger_.session(request.session).in_flight));
    case Signal::kArrivalRate:
      return first_arrival_ == Instant::never() ? Reading::unknown() : known(arrival_rate(now));
    case Signal::kHeld:
      return known(static_cast<double>(hold.held));
    case Signal::kHoldAgeS:
      return hold.held == 0 ? Reading::unknown() : known((now - hold.oldest).seconds());
    default:
      return Reading::unknown();
  }
}

double PoolSignals::arrival_rate(Instant now) const {
  const std::int64_t part_ns = options_.rate_window.ns() / kParts;
  const std::int64_t newest = now.ns() / part_ns;
  std::int64_t arrivals = 0;
  for (std::int64_t part = std::max<std::int64_t>(newest - kParts + 1, 0); part <= arrivals_part_;
       ++part) {
    if (part > arrivals_part_ - kParts)
      arrivals += arrivals_[static_cast<std::size_t>(part % kParts)];
  }
  // From the window's first part that is counted, or from the first arrival of all, to now.
  const Instant begin = std::max(
      Instant::nanos(std::max<std::int64_t>(newest - kParts + 1, 0) * part_ns), first_arrival_);
  const double seconds = std::max((now - begin).seconds(), static_cast<double>(part_ns) * 1e-9);
  return static_cast<double>(arrivals) / seconds;
}

Reading PoolSignals::read_replica(Signal signal, std::uint32_t replica, Instant now,
                                  bool any_age) const {
  CHECK(replica < members_.size()) << "replica " << replica << " of " << members_.size();
  switch (signal) {
    case Signal::kQueueAgeS:
      return queue_age(replica, now);
    case Signal::kInFlight:
      return Reading::of(signal, static_cast<double>(ledger_.in_flight_at(replica)), now);
    case Signal::kTokensInFlight:
      return Reading::of(signal, static_cast<double>(ledger_.tokens_at(replica)), now);
    default:
      break;
  }
  CHECK(spec_of(signal).over_replicas != SignalSum::kOfPool)
      << spec_of(signal).name << " is of the pool, not of a replica";
  const Member& member = members_[replica];
  if (!is_read(member, signal, now, any_age)) return Reading::unknown();
  return member.page.read(signal, options_.corrections);
}

Reading GateView::read(Signal signal) const {
  CHECK(declared_.has(signal)) << "a policy reads " << spec_of(signal).name
                               << " without having declared it";
  return signals_.read(signal, request_ != nullptr ? *request_ : kNoRequest, hold_, now_, any_age_);
}

Reading GateView::read_replica(Signal signal, std::uint32_t replica) const {
  CHECK(declared_.has(signal)) << "a policy reads " << spec_of(signal).name
                               << " without having declared it";
  return signals_.read_replica(signal, replica, now_, any_age_);
}

}  // namespace inferscale

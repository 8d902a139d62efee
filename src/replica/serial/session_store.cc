#include "replica/serial/session_store.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {

void SessionStore::add_up(Instant to) {
  DCHECK(to >= settled_);
  const double ns = static_cast<double>((to - settled_).ns());
  usage_.idle_token_ns += ns * static_cast<double>(idle_);
  usage_.resident_token_ns += ns * static_cast<double>(idle_ + held_);
  settled_ = to;
}

void SessionStore::settle(Instant now) {
  while (!departures_.empty() && departures_.begin()->first <= now) {
    const auto [at, chain] = *departures_.begin();
    add_up(at);
    const std::uint32_t place = by_chain_.find(chain);
    const Entry& entry = entries_[place];
    if (!entry.moving) {
      usage_.evicted_ttl += entry.tokens;
      ++usage_.evictions_ttl;
    }
    remove(place);
  }
  add_up(now);
}

bool SessionStore::make_room(std::optional<std::uint32_t> chain, TokenCount tokens) {
  const std::uint32_t own = chain ? by_chain_.find(*chain) : kNobody;
  TokenCount others = idle_ - (own == kNobody ? 0 : entries_[own].tokens);
  for (std::uint32_t next = oldest_; next != kNobody && others + tokens > capacity_;) {
    const std::uint32_t place = next;
    const Entry& entry = entries_[place];
    next = entry.after;
    if (entry.moving || place == own) continue;
    others -= entry.tokens;
    usage_.evicted_pressure += entry.tokens;
    ++usage_.evictions_pressure;
    remove(place);
  }
  return others + tokens <= capacity_;
}

TokenCount SessionStore::begin_call(std::optional<std::uint32_t> chain, TokenCount tokens) {
  DCHECK(held_ == 0);
  TokenCount found = 0;
  const std::uint32_t own = chain ? by_chain_.find(*chain) : kNobody;
  if (own != kNobody) {
    if (!entries_[own].moving) found = entries_[own].tokens;
    remove(own);
  }
  held_ = tokens;
  usage_.resident_peak = std::max(usage_.resident_peak, held_ + idle_);
  return found;
}

void SessionStore::keep(std::uint32_t chain, TokenCount tokens) {
  if (tokens > 0 && ttl_ == Duration()) {
    // Kept for no time: it must not stand beside the call that begins at this very instant.
    usage_.evicted_ttl += tokens;
    ++usage_.evictions_ttl;
    return;
  }
  add({.chain = chain,
       .moving = false,
       .tokens = tokens,
       .gone = ttl_ ? settled_ + *ttl_ : Instant::never()});
}

void SessionStore::keep_moving(std::uint32_t chain, TokenCount tokens, Instant done) {
  add({.chain = chain, .moving = true, .tokens = tokens, .gone = done});
}

void SessionStore::add(const Entry& entry) {
  if (entry.tokens == 0) return;
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back(entry);
  }
  const std::uint32_t place = unused_.back();
  unused_.pop_back();
  entries_[place] = entry;
  entries_[place].before = newest_;
  (newest_ == kNobody ? oldest_ : entries_[newest_].after) = place;
  newest_ = place;
  by_chain_.insert(entry.chain, place);
  if (entry.gone != Instant::never()) departures_.emplace(entry.gone, entry.chain);
  idle_ += entry.tokens;
}

void SessionStore::remove(std::uint32_t place) {
  const Entry& entry = entries_[place];
  idle_ -= entry.tokens;
  if (entry.gone != Instant::never()) departures_.erase({entry.gone, entry.chain});
  by_chain_.erase(entry.chain);
  (entry.before == kNobody ? oldest_ : entries_[entry.before].after) = entry.after;
  (entry.after == kNobody ? newest_ : entries_[entry.after].before) = entry.before;
  unused_.push_back(place);
}

Instant SessionStore::next_departure() const {
  return departures_.empty() ? Instant::never() : departures_.begin()->first;
}

void SessionStore::drop_ended(std::uint32_t chain) {
  const std::uint32_t place = by_chain_.find(chain);
  if (place == kNobody) return;
  usage_.dropped_ended += entries_[place].tokens;
  remove(place);
}

void SessionStore::clear() {
  entries_.clear();
  unused_.clear();
  oldest_ = newest_ = kNobody;
  by_chain_ = KeyTable();
  departures_.clear();
  idle_ = held_ = 0;
}

const char* SessionStore::broken_invariant() const {
  if (idle_ < 0 || held_ < 0) return "INV-4: a negative number of KV tokens";
  if (idle_ + held_ > capacity_) return "INV-4: more KV tokens than there is room for";
  if (by_chain_.size() == 0 && idle_ != 0) return "INV-4: idle KV tokens of no chain";
  return nullptr;
}

}  // namespace inferscale

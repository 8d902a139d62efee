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
    const Entries::iterator entry = by_chain_.find(chain)->second;
    if (!entry->moving) {
      usage_.evicted_ttl += entry->tokens;
      ++usage_.evictions_ttl;
    }
    remove(entry);
  }
  add_up(now);
}

bool SessionStore::make_room(std::optional<std::uint32_t> chain, TokenCount tokens) {
  TokenCount others = idle_;
  if (chain) {
    const auto own = by_chain_.find(*chain);
    if (own != by_chain_.end()) others -= own->second->tokens;
  }
  for (auto next = entries_.begin(); next != entries_.end() && others + tokens > capacity_;) {
    const auto entry = next++;
    if (entry->moving || entry->chain == chain) continue;
    others -= entry->tokens;
    usage_.evicted_pressure += entry->tokens;
    ++usage_.evictions_pressure;
    remove(entry);
  }
  return others + tokens <= capacity_;
}

TokenCount SessionStore::begin_call(std::optional<std::uint32_t> chain, TokenCount tokens) {
  DCHECK(held_ == 0);
  TokenCount found = 0;
  if (chain) {
    const auto own = by_chain_.find(*chain);
    if (own != by_chain_.end()) {
      if (!own->second->moving) found = own->second->tokens;
      remove(own->second);
    }
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
       .tokens = tokens,
       .gone = ttl_ ? settled_ + *ttl_ : Instant::never(),
       .moving = false});
}

void SessionStore::keep_moving(std::uint32_t chain, TokenCount tokens, Instant done) {
  add({.chain = chain, .tokens = tokens, .gone = done, .moving = true});
}

void SessionStore::add(const Entry& entry) {
  if (entry.tokens == 0) return;
  DCHECK(!by_chain_.contains(entry.chain));
  entries_.push_back(entry);
  by_chain_.emplace(entry.chain, std::prev(entries_.end()));
  if (entry.gone != Instant::never()) departures_.emplace(entry.gone, entry.chain);
  idle_ += entry.tokens;
}

void SessionStore::remove(Entries::iterator entry) {
  idle_ -= entry->tokens;
  if (entry->gone != Instant::never()) departures_.erase({entry->gone, entry->chain});
  by_chain_.erase(entry->chain);
  entries_.erase(entry);
}

Instant SessionStore::next_departure() const {
  return departures_.empty() ? Instant::never() : departures_.begin()->first;
}

void SessionStore::drop_ended(std::uint32_t chain) {
  const auto found = by_chain_.find(chain);
  if (found == by_chain_.end()) return;
  usage_.dropped_ended += found->second->tokens;
  remove(found->second);
}

void SessionStore::clear() {
  entries_.clear();
  by_chain_.clear();
  departures_.clear();
  idle_ = held_ = 0;
}

const char* SessionStore::broken_invariant() const {
  if (idle_ < 0 || held_ < 0) return "INV-4: a negative number of KV tokens";
  if (idle_ + held_ > capacity_) return "INV-4: more KV tokens than there is room for";
  if (entries_.empty() && idle_ != 0) return "INV-4: idle KV tokens of no chain";
  return nullptr;
}

}  // namespace inferscale

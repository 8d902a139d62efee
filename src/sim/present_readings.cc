#include "sim/present_readings.h"

#include <limits>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr TokenCount kExactly = std::numeric_limits<TokenCount>::max();

}  // namespace

PresentReadings::PresentReadings(const std::vector<PoolMember>& members, Router& router,
                                 const NeededSignals& needed)
    : members_(members),
      router_(router),
      tokens_(needed.tokens),
      exact_until_(members.size(), Instant::never()),
      changed_(members.size(), 0) {
  CHECK(needed.tokens != needed.kv) << "loads are made of tokens in flight or of KV blocks";
  for (std::size_t i = 0; i < members.size(); ++i) bounds_end_.add();
  router.ask(*this);
}

void PresentReadings::forgotten(std::uint32_t member) {
  exact_until_[member] = Instant::never();
  bounds_end_.set(member, Instant::never());
}

void PresentReadings::begin_choice(Instant now) {
  now_ = now;
  before_ = now > Instant() ? now - Duration::nanos(1) : now;
  for (const std::uint32_t member : changes_) {
    bound(member);
    changed_[member] = 0;
  }
  changes_.clear();
  while (bounds_end_.first_at() < now) bound(bounds_end_.first());
}

bool PresentReadings::see(std::uint32_t member) {
  if (exact_until_[member] >= now_) return false;
  if (tokens_) {
    read_tokens(member, kExactly);
  } else {
    read_kv(member);
  }
  return true;
}

void PresentReadings::bound(std::uint32_t member) {
  if (tokens_) {
    read_tokens(member, router_.tokens_at_least_load(member));
  } else {
    read_kv(member);
  }
}

void PresentReadings::read_tokens(std::uint32_t member, TokenCount level) {
  const TokenFloor floor = members_[member].replica->token_floor(before_, level);
  router_.observe(member, {.observed_at = now_, .tokens_in_flight = floor.tokens});
  exact_until_[member] = floor.is_exact ? floor.until : now_ - Duration::nanos(1);
  bounds_end_.set(member, floor.until);
}

void PresentReadings::read_kv(std::uint32_t member) {
  const ReplicaLoad load = members_[member].replica->load_at(before_);
  router_.observe(member, signals_of(members_[member], load, {.kv = true}, now_));
  exact_until_[member] = now_;
}

}  // namespace inferscale

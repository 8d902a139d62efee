#include "sim/present_readings.h"

#include <limits>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr Instant kNotExact = Instant::nanos(-1);  // before every choice
constexpr TokenCount kExactly = std::numeric_limits<TokenCount>::max();

}  // namespace

PresentReadings::PresentReadings(const std::vector<PoolMember>& members, Router& router,
                                 const NeededSignals& needed)
    : members_(members), router_(router), tokens_(needed.tokens), known_(members.size()) {
  CHECK(needed.tokens != needed.kv) << "loads are made of tokens in flight or of KV blocks";
  for (std::size_t i = 0; i < members.size(); ++i) bounds_end_.add();
  router.ask(*this);
}

void PresentReadings::forgotten(std::uint32_t member) {
  known_[member].tokens = 0;
  known_[member].exact_until = Instant::never();
  bounds_end_.set(member, Instant::never());
}

void PresentReadings::begin_choice(Instant now) {
  now_ = now;
  before_ = now > Instant() ? now - Duration::nanos(1) : now;
  for (const std::uint32_t member : changes_) {
    known_[member].changed = false;
    if (!tokens_) {
      read_kv(member);
    } else if (!is_still_bound(member)) {
      read_tokens(member, router_.tokens_at_least_load(member));
    }
  }
  changes_.clear();
  while (bounds_end_.first_at() < now) {
    const std::uint32_t member = bounds_end_.first();
    read_tokens(member, router_.tokens_at_least_load(member));
  }
}

// After an event at the member: what is known of it holds on, or is made a bound until its next
// event without asking for instants. False: that would be too far down.
bool PresentReadings::is_still_bound(std::uint32_t member) {
  Known& known = known_[member];
  const TokenCount floor = range(member).least;
  if (floor < known.tokens) {
    const TokenCount level = router_.tokens_at_least_load(member);
    if (floor <= level) return false;
    tell(member, floor - (floor - level) / 2);
  }
  known.exact_until = kNotExact;
  bounds_end_.set(member, Instant::never());
  return true;
}

bool PresentReadings::see(std::uint32_t member) {
  if (known_[member].exact_until >= now_) return false;
  if (tokens_) {
    read_tokens(member, kExactly);
  } else {
    read_kv(member);
  }
  return true;
}

TokenBounds PresentReadings::bounds(std::uint32_t member) {
  const TokenRange tokens = range(member);
  return {.least = tokens.least, .most = tokens.most};
}

bool PresentReadings::raise(std::uint32_t member) {
  Known& known = known_[member];
  if (!tokens_ || known.exact_until >= now_) return false;
  const TokenCount floor = range(member).least;
  if (floor <= known.tokens) return false;
  tell(member, floor);
  bounds_end_.set(member, Instant::never());
  return true;
}

void PresentReadings::tell(std::uint32_t member, TokenCount tokens) {
  known_[member].tokens = tokens;
  router_.observe_tokens(member, tokens);
}

void PresentReadings::read_tokens(std::uint32_t member, TokenCount level) {
  const TokenFloor floor = members_[member].replica->token_floor(before_, level);
  tell(member, floor.tokens);
  known_[member].exact_until = floor.is_exact ? floor.until : kNotExact;
  bounds_end_.set(member, floor.until);
}

void PresentReadings::read_kv(std::uint32_t member) {
  const ReplicaLoad load = members_[member].replica->load_at(before_);
  router_.observe(member, signals_of(members_[member], load, {.kv = true}, now_));
  known_[member].exact_until = now_;
}

}  // namespace inferscale

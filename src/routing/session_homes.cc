#include "routing/session_homes.h"

namespace inferscale {
namespace {

std::optional<std::uint64_t> key_of(const Request& request) {
  constexpr std::uint64_t kTenants = std::uint64_t{1} << 32;
  if (request.session != Request::kNobody) return request.session;
  if (request.tenant != Request::kNobody) return kTenants + request.tenant;
  return std::nullopt;
}

}  // namespace

std::optional<SessionHome> SessionHomes::find(const Request& request) const {
  const auto key = key_of(request);
  if (!key) return std::nullopt;
  const RecentKeys::Place place = homes_.find(*key);
  if (place == RecentKeys::kNone) return std::nullopt;
  const auto replica = static_cast<std::uint32_t>(homes_.value(place));
  return SessionHome{.replica = replica,
                     .has_cache = homes_.value(place) >> 32 == starts_[replica]};
}

void SessionHomes::dispatched(std::uint32_t replica, const Request& request) {
  const auto key = key_of(request);
  if (!key) return;
  const std::uint64_t value = std::uint64_t{starts_[replica]} << 32 | replica;
  const RecentKeys::Place place = homes_.find(*key);
  if (place != RecentKeys::kNone) {
    homes_.set_value(place, value);
    homes_.touch(place);
    return;
  }
  if (homes_.size() == most_) homes_.erase(homes_.oldest());
  homes_.add(*key, value);
}

}  // namespace inferscale

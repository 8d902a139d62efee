// Where sessions were served last: a table of bounded size; the session that was dispatched
// longest ago is forgotten first.
//
// A request belongs to its session; without one, to its tenant; without either, to nobody, and has
// no home.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/recent_keys.h"
#include "core/request.h"

namespace inferscale {

struct SessionHome {
  std::uint32_t replica = 0;
  bool has_cache = true;  // it has not started anew since the session was there
};

class SessionHomes {
 public:
  // REQUIRES: most >= 1.
  explicit SessionHomes(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  std::optional<SessionHome> find(const Request& request) const;
  void dispatched(std::uint32_t replica, const Request& request);
  void replica_added() { starts_.push_back(0); }
  // The replica starts anew, with an empty cache.
  void forgotten(std::uint32_t replica) { ++starts_[replica]; }

 private:
  std::size_t most_;
  RecentKeys homes_;                   // value: replica, and above it how often it had started
  std::vector<std::uint32_t> starts_;  // of each replica
};

}  // namespace inferscale

// A place for each of the callers seen most recently: bounded memory for policies that count by
// caller. Places are indices from 0 below `most`; the policy keeps its own array behind them.
//
// When all places are taken, the caller seen longest ago loses its place to the new one: what was
// counted for it is forgotten, and it begins anew when it comes back. Constant time an operation.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/recent_keys.h"
#include "core/request_view.h"

namespace inferscale {

class RecentCallers {
 public:
  // REQUIRES: most >= 1.
  explicit RecentCallers(std::int64_t most);

  struct Seat {
    std::uint32_t place = 0;
    bool is_new = false;  // what was kept at this place is nobody's, or another caller's
  };
  // The caller's place; makes it the one seen most recently.
  Seat see(CallerKey caller);
  std::size_t size() const { return callers_.size(); }

 private:
  std::size_t most_;
  RecentKeys callers_;
};

}  // namespace inferscale

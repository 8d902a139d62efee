// What a caller is told at the end of an attempt, as far as it decides what the caller does next.

#pragma once

#include <optional>

#include "base/time.h"

namespace inferscale {

struct Answer {
  int status = 200;                     // of HTTP; 0: the connection broke without one
  std::optional<Duration> retry_after;  // the wait that the answer asks for
};

}  // namespace inferscale

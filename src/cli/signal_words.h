// Words for people and JSON about where signals come from (signals.cc).

#pragma once

#include <string_view>

#include "core/signal.h"

namespace inferscale {

std::string_view origin_word(SignalOrigin origin);
std::string_view sum_word(SignalSum sum);

}  // namespace inferscale

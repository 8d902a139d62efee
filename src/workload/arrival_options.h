// The keys of an arrival process, wherever a configuration has one.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/config_reader.h"
#include "workload/arrivals.h"

namespace inferscale {

// Reads and finishes the map. `unit` of the rates: "requests/s".
ArrivalOptions read_arrival_options(ConfigReader arrivals, std::string_view unit);

// Whether so many arrive within 1e9 s (31 years). Instants are 64-bit nanoseconds; the limit also
// refuses runs that nobody meant.
bool arrive_in_time(const ArrivalOptions& options, std::uint64_t count);

}  // namespace inferscale

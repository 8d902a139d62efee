// What a search for the capacity found, in sentences that a person can act on.

#pragma once

#include <string>
#include <vector>

#include "report/studies/capacity/capacity_reading.h"

namespace inferscale {

// "25.3 requests/s", "1 replica".
std::string load_text(const ReadCapacity& result, double load);

// A percentage with as many digits as show that it misses the target, where it does.
std::string attainment_text(double fraction, double target);

// The criteria that a load failed and in how many repetitions: "attainment 3, drain 1"; empty when
// it is carried.
std::string missed_text(const ReadProbe& probe);

// The answer first, one sentence a line.
std::vector<std::string> capacity_verdict(const ReadCapacity& result);

// What a reader must know beside the answer.
std::vector<std::string> capacity_cautions(const ReadCapacity& result);

}  // namespace inferscale

// What a trace says about each request beside its lengths, carried along to the outcomes.

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace inferscale {

// Views of columns as long as the run has requests; a column that the trace does not have is empty.
// A name occurs in many rows, so rows hold its index. Owned by whoever read the trace.
struct CarriedColumns {
  static constexpr std::uint32_t kNoName = std::numeric_limits<std::uint32_t>::max();

  std::span<const std::uint32_t> tenant;  // index into tenant_names, kNoName for an empty cell
  std::span<const std::string> tenant_names;
  std::span<const std::uint32_t> session;  // index into session_names, likewise
  std::span<const std::string> session_names;
  std::span<const std::int64_t> priority;  // kNoPriority for an empty cell
  std::span<const double> deadline_ms;     // for the whole answer, from arrival; NaN: an empty cell

  static constexpr std::int64_t kNoPriority = std::numeric_limits<std::int64_t>::min();
};

}  // namespace inferscale

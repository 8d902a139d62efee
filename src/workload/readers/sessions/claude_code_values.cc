#include "workload/readers/sessions/claude_code_values.h"

#include "workload/readers/cell_values.h"

namespace inferscale {

std::optional<std::int64_t> recorded_time(std::string_view text, int decimals) {
  constexpr std::int64_t kMostNs = 1'000'000'000'000'000'000;
  const auto time = scaled_decimal(text, decimals);
  if (!time || *time < 0 || *time > kMostNs) return std::nullopt;
  return time;
}

std::string failed_calls_note(std::uint64_t calls) {
  return counted(calls, "call", "calls") +
         " without output (failed) left out; their time belongs to the gaps before and behind them";
}

}  // namespace inferscale

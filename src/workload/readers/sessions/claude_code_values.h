// What the two readers of Claude Code's sessions have in common: times, failed calls, sentences.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workload/readers/sessions/recorded_times.h"

namespace inferscale {

// The model was done: what follows waits for the person.
inline constexpr std::string_view kEndOfTurn = "end_turn";
inline constexpr const char* kSecondsExpected = "seconds from 0 to 1000000000, as a decimal number";
inline constexpr const char* kMillisecondsExpected =
    "milliseconds from 0 to 1000000000000, as a decimal number";
inline constexpr const char* kSessionTimesNote =
    "the trace has times within sessions only; the gaps are those between an answer and the next "
    "call, and how long the recorded answers took is not replayed";

// Nanoseconds; `decimals`: 9 of seconds, 6 of milliseconds. Nothing below 0 or beyond 1e9 s.
std::optional<std::int64_t> recorded_time(std::string_view text, int decimals);

std::string failed_calls_note(std::uint64_t calls);

}  // namespace inferscale

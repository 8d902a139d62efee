// Values in the cells of traces: token counts, times as exact nanoseconds, UTC timestamps.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace inferscale {

// `text` * 10^decimals, exactly, rounded half up to a whole number when it has more decimals than
// that: "1.25" with 9 decimals is 1250000000. Nothing for what isn't a decimal number or does not
// fit. Doubles would lose nanoseconds after 104 days.
std::optional<std::int64_t> scaled_decimal(std::string_view text, int decimals);

// Nanoseconds since 1970 of "YYYY-MM-DD hh:mm:ss[.fraction][+00:00|Z]", with a space or a T in the
// middle and up to nine digits of fraction. UTC only.
std::optional<std::int64_t> utc_nanoseconds(std::string_view text);

// A whole number from `least` to kMostTokens.
std::optional<std::uint32_t> token_count(std::string_view text, std::int64_t least);

// Text in UTF-8 without control characters, at most 256 bytes: the name of a tenant or session.
bool is_name(std::string_view text);

}  // namespace inferscale

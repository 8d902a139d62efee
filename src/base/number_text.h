// Numbers from and to text, strictly and the same on every machine.
//
// Parsing takes the whole text or nothing: no spaces, no trailing letters, no NaN, no infinity, no
// overflow. Underscores between digits are not taken. Writing gives the shortest text that reads
// back as the same value.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace inferscale {

// Decimal notation with an optional sign, fraction and exponent. Magnitudes that a double can't
// hold are nothing; so is "nan".
std::optional<double> parse_finite(std::string_view text);

// A whole number; "1e6" and "250.0" are taken as well, since people write them.
std::optional<std::int64_t> parse_whole(std::string_view text);

// The shortest text that parses to `value`: "0.1", "16", "1e+30".
std::string number_text(double value);

}  // namespace inferscale

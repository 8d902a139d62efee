// UTF-8, as far as text of others has to be checked for it.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace inferscale {

// The length of the UTF-8 sequence that `text` begins with (RFC 3629: the shortest form, no
// surrogates, at most U+10FFFF), or 0 when it begins with none.
std::size_t utf8_sequence_length(std::string_view text);

// The text with U+FFFD for each byte that is not UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace inferscale

// What a text must be before the YAML library sees it: UTF-8 without control characters.
//
// The library itself guesses at other encodings, and takes the byte 0x04 for the end of the text,
// so that everything after it would be dropped without a word.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace inferscale {

struct TextFlaw {
  int line = 0;  // from 1
  std::string message;
};

// The first byte that does not belong in a text file, or nothing.
std::optional<TextFlaw> find_text_flaw(std::string_view text);

}  // namespace inferscale

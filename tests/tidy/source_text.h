// C++ text split into what is code, what is a comment and what stands in quotation marks.
//
// Each part is a copy of the whole text in which everything else is blank: positions and lines stay
// what they are, so a match in one part is a place in the file.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inferscale::tidy {

struct SourceText {
  std::string code;         // without comments, and without what quotation marks hold
  std::string uncommented;  // without comments only
  std::string comments;     // comments only
};

// Knows line and block comments, strings with escapes and prefixes, raw strings, character
// constants, and the apostrophes of long numbers.
SourceText split_source(std::string_view text);

// From 1.
int line_of(std::string_view text, std::size_t offset);

// Without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace inferscale::tidy

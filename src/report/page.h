// Puts a page together: the frame, styles and scripts that all pages have, what one page adds to
// them, and its data.
//
// The page holds all of it, charting library included, and fetches nothing.

#pragma once

#include <string>
#include <string_view>

namespace inferscale {

struct PageParts {
  std::string_view style;   // of this kind of page, behind that of all pages
  std::string_view script;  // likewise
  std::string data_json;    // what it shows; REQUIRES: without '<', see without_less_than()
};

std::string assemble_page(const PageParts& parts);

// The same JSON without the character '<', so that no text in it can end the element that holds it.
std::string without_less_than(std::string_view json);

}  // namespace inferscale

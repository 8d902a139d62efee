// What a mistyped word was probably meant to be.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inferscale {

// The candidate nearest to `word` by edit distance, when near enough to be a misspelling of it.
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& candidates);

}  // namespace inferscale

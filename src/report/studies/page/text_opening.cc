#include "report/studies/page/text_opening.h"

#include <cstddef>
#include <utility>

namespace inferscale {
namespace {

constexpr std::size_t kWidestHead = 24;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// "Verdict    It is better." is a head and a text.
std::pair<std::string_view, std::string_view> split_head(std::string_view line) {
  const std::size_t gap = line.find("  ");
  if (gap == std::string_view::npos || gap > kWidestHead) return {{}, line};
  return {line.substr(0, gap), trimmed(line.substr(gap))};
}

bool is_title(std::string_view line) {
  return !line.starts_with(' ') && !line.ends_with('.') && split_head(line).first.empty();
}

// A row of a table has columns that are set apart.
bool is_row(std::string_view line) {
  return line.starts_with(' ') && trimmed(line).find("  ") != std::string_view::npos;
}

void continue_last(std::vector<OpeningPart>& parts, std::string_view text) {
  parts.back().text.append(parts.back().text.empty() ? "" : " ").append(text);
}

}  // namespace

std::vector<OpeningPart> opening_of(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  std::vector<OpeningPart> parts;
  bool block_begins = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool first_of_block = std::exchange(block_begins, line.empty());
    if (line.empty()) continue;
    const bool alone = i + 1 == lines.size() || lines[i + 1].empty();
    if (i == 0 && is_title(line) && (alone || !split_head(lines[1]).first.empty())) continue;
    if (first_of_block && (line.starts_with(' ') || (alone && is_title(line)))) break;
    if (first_of_block && !alone && is_row(lines[i + 1])) break;  // the title of a table
    if (is_row(line)) break;
    const std::string_view words = trimmed(line);
    const auto [head, rest] = split_head(line);
    if (line.starts_with(' ') && words.starts_with("--")) {
      parts.push_back({.head = {}, .text = std::string(words), .command = true});
    } else if (line.starts_with(' ') && !parts.empty()) {
      continue_last(parts, words);
    } else if (!first_of_block && head.empty() && !parts.empty() && !parts.back().command &&
               !parts.back().text.ends_with('.')) {
      continue_last(parts, words);
    } else {
      parts.push_back({.head = std::string(head), .text = std::string(rest)});
    }
  }
  return parts;
}

}  // namespace inferscale

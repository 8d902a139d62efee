#include "tidy/documents.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "tidy/source_text.h"

namespace inferscale::tidy {
namespace {

// The text with its code blanked: fenced blocks, and spans in backquotes.
std::string without_code(std::string_view markdown) {
  std::string out;
  bool fenced = false;
  for (const std::string_view line : lines_of(markdown)) {
    const std::size_t first = line.find_first_not_of(' ');
    const bool fence = first != std::string_view::npos && (line.substr(first).starts_with("```") ||
                                                           line.substr(first).starts_with("~~~"));
    bool span = false;
    for (const char c : line) {
      if (c == '`') span = !span;
      out += fenced || fence || span || c == '`' ? ' ' : c;
    }
    if (fence) fenced = !fenced;
    out += '\n';
  }
  return out;
}

// The path that `relative` names when it stands in the file `from`.
std::string resolved(const std::string& from, const std::string& relative) {
  return (std::filesystem::path(from).parent_path() / relative).lexically_normal().generic_string();
}

}  // namespace

std::vector<std::string> names_between(std::string_view text, std::string_view before,
                                       std::string_view after) {
  const std::string code = split_source(text).uncommented;
  std::vector<std::string> names;
  for (std::size_t at = code.find(before); at != std::string::npos;
       at = code.find(before, at + 1)) {
    const std::size_t begin = at + before.size();
    const std::size_t end = code.find(after, begin);
    if (end != std::string::npos) names.push_back(code.substr(begin, end - begin));
  }
  return names;
}

std::vector<Link> local_links(std::string_view markdown) {
  const std::string text = without_code(markdown);
  std::vector<Link> links;
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
    const std::size_t end = text.find(')', at);
    if (end == std::string::npos) break;
    std::string target = text.substr(at + 2, end - at - 2);
    target = target.substr(0, target.find(' '));  // a title may follow
    const bool remote = target.find("://") != std::string::npos || target.starts_with("mailto:");
    if (!target.empty() && !remote) links.push_back({target, line_of(text, at)});
  }
  return links;
}

std::vector<std::string> heading_anchors(std::string_view markdown) {
  std::vector<std::string> anchors;
  bool fenced = false;
  for (const std::string_view line : lines_of(markdown)) {
    if (line.starts_with("```")) fenced = !fenced;
    const std::size_t level = line.find_first_not_of('#');
    if (fenced || level == 0 || level == std::string_view::npos || line[level] != ' ') continue;
    std::string anchor;
    for (const char c : line.substr(level + 1)) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0 || byte >= 0x80 || c == '-' || c == '_') {
        anchor += static_cast<char>(std::tolower(byte));
      } else if (c == ' ') {
        anchor += '-';
      }
    }
    const auto same = std::count(anchors.begin(), anchors.end(), anchor);
    anchors.push_back(same == 0 ? anchor : anchor + "-" + std::to_string(same));
  }
  return anchors;
}

std::vector<std::string> check_links(const ProjectFile& file, const TextOf& text_of) {
  std::vector<std::string> broken;
  if (!file.path.ends_with(".md")) return broken;
  for (const Link& link : local_links(file.text)) {
    const std::size_t hash = link.target.find('#');
    const std::string name = link.target.substr(0, hash);
    const std::string path = name.empty() ? file.path : resolved(file.path, name);
    const std::string* text = name.empty() ? &file.text : text_of(path);
    if (text == nullptr) {
      broken.push_back(
          violation(file.path, link.line, "the link '" + link.target + "' leads nowhere"));
    } else if (hash != std::string::npos && path.ends_with(".md")) {
      const std::vector<std::string> anchors = heading_anchors(*text);
      const std::string anchor = link.target.substr(hash + 1);
      if (std::find(anchors.begin(), anchors.end(), anchor) != anchors.end()) continue;
      broken.push_back(violation(file.path, link.line,
                                 "the link '" + link.target + "' leads to no heading of " + path));
    }
  }
  return broken;
}

}  // namespace inferscale::tidy

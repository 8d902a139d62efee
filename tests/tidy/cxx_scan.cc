#include "tidy/cxx_scan.h"

#include <algorithm>
#include <array>

namespace inferscale::tidy {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The code without its preprocessor lines, their continuations included.
std::string without_directives(std::string_view code) {
  std::string out(code);
  bool continued = false;
  std::size_t at = 0;
  while (at < out.size()) {
    const std::size_t end = std::min(out.find('\n', at), out.size());
    const std::string_view line = trimmed(std::string_view(out).substr(at, end - at));
    const bool directive = continued || line.starts_with('#');
    continued = directive && line.ends_with('\\');
    if (directive)
      std::fill(out.begin() + static_cast<long>(at), out.begin() + static_cast<long>(end), ' ');
    at = end + 1;
  }
  return out;
}

// The word that `text` begins with.
std::string_view first_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(0, end);
}

// The offset behind the bracket that closes the one at `open`.
std::size_t behind_bracket(std::string_view text, std::size_t open, char left, char right) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == left) ++depth;
    if (text[i] == right && --depth == 0) return i + 1;
  }
  return text.size();
}

// What stands in front of a brace tells what the brace opens.
enum class BraceKind { kScope, kFunction, kMemberInitialiser, kOther };

std::string_view without_template(std::string_view header) {
  header = trimmed(header);
  while (first_word(header) == "template") {
    const std::size_t open = header.find('<');
    if (open == std::string_view::npos) return header;
    header = trimmed(header.substr(behind_bracket(header, open, '<', '>')));
  }
  return header;
}

// Whether a single colon follows the parameters: the list of member initialisers has begun.
bool has_initialiser_list(std::string_view header) {
  const std::size_t open = header.find('(');
  if (open == std::string_view::npos) return false;
  for (std::size_t i = behind_bracket(header, open, '(', ')'); i < header.size(); ++i) {
    if (header[i] != ':') continue;
    if (i + 1 < header.size() && header[i + 1] == ':') {
      ++i;
    } else {
      return true;
    }
  }
  return false;
}

BraceKind kind_of_brace(std::string_view header) {
  header = without_template(header);
  for (const std::string_view label : {"public:", "private:", "protected:"}) {
    if (header.starts_with(label)) header = trimmed(header.substr(label.size()));
  }
  constexpr std::array<std::string_view, 7> kScopes = {"namespace", "inline", "class", "struct",
                                                       "union",     "extern", "enum"};
  const std::string_view word = first_word(header);
  const bool scope = std::find(kScopes.begin(), kScopes.end(), word) != kScopes.end();
  const bool parameters = header.find('(') != std::string_view::npos;
  const std::size_t assigned = header.find('=');
  if (!parameters) return scope ? BraceKind::kScope : BraceKind::kOther;
  if (assigned != std::string_view::npos && assigned < header.find('(') &&
      header.find("operator") > assigned) {
    return BraceKind::kOther;
  }
  const bool named = is_word(header.back()) || header.back() == '>';
  if (named && has_initialiser_list(header)) return BraceKind::kMemberInitialiser;
  return BraceKind::kFunction;
}

std::string function_name(std::string_view header) {
  header = without_template(header);
  std::string_view name = trimmed(header.substr(0, header.find('(')));
  std::size_t begin = name.size();
  while (begin > 0 &&
         (is_word(name[begin - 1]) || name[begin - 1] == ':' || name[begin - 1] == '~')) {
    --begin;
  }
  name.remove_prefix(begin);
  return std::string(name.empty() ? std::string_view("operator") : name);
}

// Whether the name behind `before` is a member of an object, or of a namespace other than std.
bool is_member_or_foreign(std::string_view before) {
  if (before.ends_with('.') || before.ends_with("->")) return true;
  if (!before.ends_with("::")) return false;
  before.remove_suffix(2);
  std::size_t begin = before.size();
  while (begin > 0 && is_word(before[begin - 1])) --begin;
  const std::string_view qualifier = before.substr(begin);
  return !qualifier.empty() && qualifier != "std";
}

}  // namespace

std::vector<Include> find_includes(const SourceText& source) {
  std::vector<Include> includes;
  int number = 0;
  for (std::string_view line : lines_of(source.uncommented)) {
    ++number;
    line = trimmed(line);
    if (!line.starts_with('#')) continue;
    line = trimmed(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trimmed(line.substr(std::string_view("include").size()));
    const std::size_t end = line.find_last_of(">\"");
    if (line.size() < 2 || end == 0 || end == std::string_view::npos) continue;
    includes.push_back({std::string(line.substr(1, end - 1)), number});
  }
  return includes;
}

std::vector<Function> find_functions(const SourceText& source) {
  const std::string code = without_directives(source.code);
  std::vector<Function> functions;
  std::size_t header = 0;  // where the declaration that may end in a brace begins
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '(') {
      i = behind_bracket(code, i, '(', ')') - 1;
    } else if (code[i] == ';' || code[i] == '}') {
      header = i + 1;
    } else if (code[i] == '{') {
      const std::string_view before = std::string_view(code).substr(header, i - header);
      const BraceKind kind = kind_of_brace(before);
      if (kind == BraceKind::kScope) {
        header = i + 1;
        continue;
      }
      const std::size_t end = behind_bracket(code, i, '{', '}');
      if (kind == BraceKind::kFunction) {
        const int line = line_of(code, i);
        functions.push_back({function_name(before), line, line_of(code, end - 1) - line + 1});
      }
      i = end - 1;
      if (kind != BraceKind::kMemberInitialiser) header = end;
    }
  }
  return functions;
}

std::vector<int> find_word(const SourceText& source, const WordRule& rule) {
  const std::string_view code = source.code;
  std::vector<int> lines;
  std::size_t at = code.find(rule.word);
  for (; at != std::string_view::npos; at = code.find(rule.word, at + 1)) {
    const std::size_t end = at + rule.word.size();
    if (at > 0 && is_word(code[at - 1])) continue;
    if (end < code.size() && is_word(code[end])) continue;
    if (rule.call_only) {
      const std::size_t next = code.find_first_not_of(kSpace, end);
      if (next == std::string_view::npos || code[next] != '(') continue;
      if (is_member_or_foreign(code.substr(0, at))) continue;
    }
    lines.push_back(line_of(code, at));
  }
  return lines;
}

}  // namespace inferscale::tidy

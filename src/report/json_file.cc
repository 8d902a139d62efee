#include "report/json_file.h"

#include <algorithm>
#include <string_view>

#include "base/edge/input_file.h"

namespace inferscale {
namespace {

constexpr int kDeepestJson = 64;

// Brackets open at once, outside strings. Writing a value recurses, so depth is bounded first.
int nesting_depth(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<Json> read_json_file(const std::string& path, std::uint64_t max_bytes) {
  const Result<std::string> text = read_file(path, max_bytes);
  if (!text) return std::unexpected(text.error());
  if (nesting_depth(*text) > kDeepestJson) {
    return fail(ErrorCode::kInvalidInput, "more than 64 levels of maps and lists", path);
  }
  return parse_json_object(*text, {path});
}

Result<void> read_json_lines(const std::string& path,
                             const std::function<void(JsonFields&)>& read) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return std::unexpected(lines.error());
  std::string line;
  while (true) {
    const Result<bool> more = lines->next(line);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    const JsonPlace place{path, lines->line_number()};
    const Result<Json> object = parse_json_object(line, place);
    if (!object) return std::unexpected(object.error());
    JsonFields fields(*object, place);
    read(fields);
    if (fields.failed()) return std::unexpected(fields.error());
  }
}

}  // namespace inferscale

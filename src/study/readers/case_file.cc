#include "study/readers/case_file.h"

#include <array>
#include <utility>

#include "base/edge/input_file.h"
#include "base/edge/yaml_config.h"
#include "study/readers/json_tree.h"

namespace inferscale {
namespace {

enum class CaseFormat { kYaml, kJsonLines, kUnknown };

CaseFormat format_of(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  for (const std::string_view end : {".jsonl", ".ndjson"}) {
    if (path.ends_with(end)) return CaseFormat::kJsonLines;
  }
  for (const std::string_view end : {".yaml", ".yml", ".json"}) {
    if (path.ends_with(end)) return CaseFormat::kYaml;
  }
  return CaseFormat::kUnknown;
}

// A list by itself is the `cases` of a head that says nothing.
Result<ConfigNode> with_head(Result<ConfigNode> tree, const std::string& source) {
  if (!tree) return tree;
  if (tree->is_map()) return tree;
  if (tree->kind() != ConfigNode::Kind::kList) {
    return fail(ErrorCode::kInvalidInput, tree->describe() + ": expected a list of cases", source);
  }
  const SourcePosition at = tree->position();
  ConfigNode head = ConfigNode::map(at);
  head.append("cases", std::move(*tree), at);
  return head;
}

Result<ConfigNode> read_lines(const std::string& path) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return std::unexpected(lines.error());
  ConfigNode list = ConfigNode::list({.source = path, .line = 1});
  std::string text;
  for (;;) {
    const Result<bool> more = lines->next(text);
    if (!more) return std::unexpected(more.error());
    if (!*more) return list;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const SourcePosition at{.source = path, .line = static_cast<int>(lines->line_number())};
    Result<ConfigNode> tree = parse_json_tree(text, at);
    if (!tree) return tree;
    list.append(std::move(*tree));
  }
}

}  // namespace

Result<ConfigNode> read_case_file(const std::string& path) {
  switch (format_of(path)) {
    case CaseFormat::kYaml:
      return with_head(read_yaml_file(path), path);
    case CaseFormat::kJsonLines:
      return with_head(read_lines(path), path);
    case CaseFormat::kUnknown:
      break;
  }
  return fail(ErrorCode::kInvalidInput,
              "not known by its name: expected .yaml, .yml, .json, .jsonl or .ndjson, or one of "
              "these with .gz",
              path);
}

Result<ConfigNode> parse_case_text(std::string_view text, const std::string& source) {
  return with_head(parse_yaml(text, source), source);
}

}  // namespace inferscale

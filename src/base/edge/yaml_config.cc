#include "base/edge/yaml_config.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <sstream>
#include <utility>

#include "base/edge/input_file.h"
#include "base/edge/yaml_text_check.h"
#include "base/edge/yaml_tree_builder.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kLargestText = 16 * 1024 * 1024;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::ptrdiff_t kDeepestSetting = 64;

bool is_tab_indented(std::string_view text, int line_from_0) {
  std::size_t begin = 0;
  for (int line = 0; line < line_from_0; ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return false;
    begin = end + 1;
  }
  const std::size_t first = text.find_first_not_of(' ', begin);
  return first != std::string_view::npos && text[first] == '\t';
}

// What the library means by its messages, in words that say what to do.
std::string explain(const std::string& library_message) {
  struct Explanation {
    std::string_view library;
    std::string_view ours;
  };
  const std::array kExplanations = {
      Explanation{YAML::ErrorMsg::MAP_VALUE,
                  "a ':' where no key can end: check the indentation, or put text that holds ': ' "
                  "in quotation marks"},
      Explanation{YAML::ErrorMsg::UNKNOWN_TOKEN,
                  "a value can't begin with this character: put the text in quotation marks"},
      Explanation{YAML::ErrorMsg::DOC_IN_SCALAR,
                  "a document mark (--- or ...) inside quotation marks: is one never closed?"},
      Explanation{YAML::ErrorMsg::FLOW_END, "a closing bracket that does not fit the open one"},
      Explanation{YAML::ErrorMsg::BLOCK_ENTRY, "a list item (-) where none can stand"},
      Explanation{YAML::ErrorMsg::END_OF_MAP, "the map ends here: check the indentation"},
      Explanation{YAML::ErrorMsg::END_OF_SEQ, "the list ends here: check the indentation"},
  };
  for (const Explanation& entry : kExplanations) {
    if (library_message == entry.library) return "not valid YAML: " + std::string(entry.ours);
  }
  return "not valid YAML: " + library_message;
}

Error syntax_error(const YAML::Exception& thrown, std::string_view text,
                   const YamlTreeBuilder& builder) {
  const bool open_map = thrown.msg == YAML::ErrorMsg::END_OF_MAP_FLOW;
  const bool open_list = thrown.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW;
  const std::optional<SourcePosition> bracket = builder.unclosed_bracket();
  if ((open_map || open_list) && bracket) {
    const char* message = open_map ? "the bracket { is never closed: expected }"
                                   : "the bracket [ is never closed: expected ]";
    return {ErrorCode::kInvalidConfig, message, bracket->to_string()};
  }
  if (builder.error()) return *builder.error();
  const bool tab = is_tab_indented(text, thrown.mark.line);
  return {ErrorCode::kInvalidConfig,
          tab ? "a tab in the indentation: YAML takes spaces only" : explain(thrown.msg),
          builder.position(thrown.mark).to_string()};
}

Result<ConfigNode> parse(std::string_view given, const std::string& source, bool has_lines) {
  if (given.size() > kLargestText) {
    return fail(ErrorCode::kInvalidConfig, "larger than 16 MiB: expected a configuration", source);
  }
  if (given.starts_with(kByteOrderMark)) given.remove_prefix(kByteOrderMark.size());
  if (const std::optional<TextFlaw> flaw = find_text_flaw(given)) {
    const SourcePosition at{source, has_lines ? flaw->line : 0};
    return fail(ErrorCode::kInvalidConfig, flaw->message, at.to_string());
  }
  // The library meets some ends of text in the middle of a value only when a line end is missing.
  std::string text(given);
  if (!text.ends_with('\n')) text += '\n';
  YamlTreeBuilder builder(text, source, has_lines);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (!builder.error() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& thrown) {
    return std::unexpected(syntax_error(thrown, text, builder));
  } catch (const std::exception& thrown) {
    return fail(ErrorCode::kInvalidConfig, std::string("not valid YAML: ") + thrown.what(), source);
  }
  if (builder.error()) return std::unexpected(*builder.error());
  return builder.take_root();
}

}  // namespace

Result<ConfigNode> parse_yaml(std::string_view text, const std::string& source) {
  return parse(text, source, true);
}

Result<ConfigNode> read_yaml_file(const std::string& path) {
  const Result<std::string> text = read_file(path, kLargestText);
  if (text) return parse_yaml(*text, path);
  Error error = text.error();
  if (error.code == ErrorCode::kInvalidInput) error.code = ErrorCode::kInvalidConfig;
  return std::unexpected(std::move(error));
}

Result<void> apply_setting(ConfigNode& root, std::string_view assignment, std::string_view flag) {
  const std::string source(flag);
  const std::size_t equals = assignment.find('=');
  const std::string_view path = assignment.substr(0, equals);
  if (equals == std::string_view::npos || path.empty()) {
    const std::string shown = ConfigNode::scalar(std::string(assignment), false, {}).describe();
    return fail(ErrorCode::kInvalidConfig,
                shown + ": expected key.path=value, as in workload.requests=1000", source);
  }
  if (std::count(path.begin(), path.end(), '.') >= kDeepestSetting) {
    return fail(ErrorCode::kInvalidConfig, "a key path of more than 64 steps", source);
  }
  Result<ConfigNode> value = parse(assignment.substr(equals + 1), source, false);
  if (!value) {
    Error error = value.error();
    error.message = "'" + std::string(path) + "': " + error.message;
    return std::unexpected(std::move(error));
  }
  return root.set_path(path, std::move(*value));
}

}  // namespace inferscale

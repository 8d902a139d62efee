#include "tidy/sizes.h"

#include <algorithm>

#include "tidy/cxx_scan.h"

namespace inferscale::tidy {
namespace {

constexpr std::size_t kFileWarns = 400;
constexpr std::size_t kFileFails = 600;
constexpr std::size_t kTestFileFails = 900;
constexpr int kFunctionWarns = 50;
constexpr int kFunctionFails = 70;
constexpr long kColumns = 100;

// In characters: every UTF-8 byte but the continuations.
long width(std::string_view line) {
  return std::count_if(line.begin(), line.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

bool has_line_limit(const ProjectFile& file) {
  return file.is_cxx() || file.is_below("scripts") || file.is_below(".ci") ||
         file.path.ends_with(".js") || file.path.ends_with(".mjs") || file.path.ends_with(".ts");
}

void check_file_length(const ProjectFile& file, std::size_t length, SizeFindings& findings) {
  const std::size_t limit = file.is_test() ? kTestFileFails : kFileFails;
  const std::string text = std::to_string(length) + " lines, ";
  if (length > limit) {
    findings.broken.push_back(
        violation(file.path, 1, text + "at most " + std::to_string(limit) + " are allowed"));
  } else if (length > kFileWarns && !file.is_test()) {
    findings.warnings.push_back(
        violation(file.path, 1, text + "should be at most " + std::to_string(kFileWarns)));
  }
}

void check_function(const ProjectFile& file, const Function& function, SizeFindings& findings) {
  const std::string text = function.name + " has " + std::to_string(function.length) + " lines, ";
  if (function.length > kFunctionFails) {
    findings.broken.push_back(
        violation(file.path, function.line,
                  text + "at most " + std::to_string(kFunctionFails) + " are allowed"));
  } else if (function.length > kFunctionWarns) {
    findings.warnings.push_back(violation(
        file.path, function.line, text + "should have at most " + std::to_string(kFunctionWarns)));
  }
}

}  // namespace

SizeFindings check_sizes(const ProjectFile& file) {
  SizeFindings findings;
  const std::vector<std::string_view> lines = lines_of(file.text);
  if (has_line_limit(file)) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (width(lines[i]) <= kColumns) continue;
      findings.broken.push_back(violation(file.path, static_cast<int>(i + 1),
                                          std::to_string(width(lines[i])) + " columns, at most " +
                                              std::to_string(kColumns) + " are allowed"));
    }
  }
  if (!file.is_cxx()) return findings;
  check_file_length(file, lines.size(), findings);
  for (const Function& function : find_functions(split_source(file.text))) {
    check_function(file, function, findings);
  }
  return findings;
}

}  // namespace inferscale::tidy

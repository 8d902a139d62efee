// The files of the project, as the rules look at them.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace inferscale::tidy {

struct ProjectFile {
  std::string path;  // below the project's root: "src/base/time.h"
  std::string text;

  bool is_cxx() const { return path.ends_with(".cc") || path.ends_with(".h"); }
  bool is_header() const { return path.ends_with(".h"); }
  // Tests and what only they include.
  bool is_test() const;
  bool is_below(std::string_view folder) const;
};

// Every text file of the project: sources, scripts, documents, configurations. Left out: what is
// built, installed or hidden (but .ci), and files that are not text. Sorted by path.
const std::vector<ProjectFile>& project_files();

// One broken rule in a place.
std::string violation(const std::string& path, int line, const std::string& message);

// Empty when no file breaks the rule, else one line for each place, for a failure message.
std::string violations_of(const std::function<std::vector<std::string>(const ProjectFile&)>& rule);

// For tests: fails with the violations, if there are any.
void expect_none(const std::string& violations);

}  // namespace inferscale::tidy

// Words that code may not use: what would make results differ from run to run or from machine to
// machine, what the house does not do, and what names the machine that it was written on.

#pragma once

#include <string>
#include <vector>

#include "tidy/project_tree.h"

namespace inferscale::tidy {

// Calls and types, in the code of C++ files.
std::vector<std::string> check_banned_words(const ProjectFile& file);

// `throw` anywhere below src/, and try and catch outside the targets that say THROWS.
std::vector<std::string> check_exceptions(const ProjectFile& file,
                                          const std::vector<ProjectFile>& tree);

// Notes of unfinished work in comments, unless they name an issue: TODO(#12).
std::vector<std::string> check_unfinished(const ProjectFile& file);

// Absolute paths of somebody's machine, in every text file but the tests.
std::vector<std::string> check_machine_paths(const ProjectFile& file);

// Headers begin with a comment that says what they are for, and with #pragma once behind it.
std::vector<std::string> check_header_form(const ProjectFile& file);

}  // namespace inferscale::tidy

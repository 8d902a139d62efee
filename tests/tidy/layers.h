// Which module may include what. Linking alone does not catch a forbidden header: every module sees
// all of src/.

#pragma once

#include <string>
#include <vector>

#include "tidy/project_tree.h"

namespace inferscale::tidy {

// Includes of the file that its place does not allow.
std::vector<std::string> check_includes(const ProjectFile& file);

// Sources below src/ that the CMakeLists.txt of their folder, or of one above it, does not name: no
// target compiles them. For a header its source may stand, and a program need not name headers.
std::vector<std::string> check_listed(const ProjectFile& file,
                                      const std::vector<ProjectFile>& tree);

// Headers below src/ that nobody includes but the source and the test of the same name.
std::vector<std::string> check_header_is_used(const ProjectFile& file,
                                              const std::vector<ProjectFile>& tree);

}  // namespace inferscale::tidy

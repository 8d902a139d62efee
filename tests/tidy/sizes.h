// How large files, functions and lines may be.

#pragma once

#include <string>
#include <vector>

#include "tidy/project_tree.h"

namespace inferscale::tidy {

struct SizeFindings {
  std::vector<std::string> broken;
  std::vector<std::string> warnings;  // large, and still allowed
};

SizeFindings check_sizes(const ProjectFile& file);

}  // namespace inferscale::tidy

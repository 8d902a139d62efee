// Documents that must exist, and links that must lead somewhere.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tidy/project_tree.h"

namespace inferscale::tidy {

// The strings between `before` and `after` in the code of `text`: with before = `add_subcommand("`
// and after = `"`, the names of the commands.
std::vector<std::string> names_between(std::string_view text, std::string_view before,
                                       std::string_view after);

struct Link {
  std::string target;  // "../docs/x.md#part"
  int line = 0;
};

// Links and pictures of a Markdown text that lead to files or parts of a page; those that lead to
// the network are left out, and so is what stands in code.
std::vector<Link> local_links(std::string_view markdown);

// The anchors of its headings, as GitHub makes them: "## The run, again" is "the-run-again".
std::vector<std::string> heading_anchors(std::string_view markdown);

// `text_of(path)`: the text of a file of the project (empty for one that is not text), or null when
// there is no such file or folder.
using TextOf = std::function<const std::string*(const std::string& path)>;
std::vector<std::string> check_links(const ProjectFile& file, const TextOf& text_of);

}  // namespace inferscale::tidy

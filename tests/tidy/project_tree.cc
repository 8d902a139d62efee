#include "tidy/project_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace inferscale::tidy {
namespace {

namespace fs = std::filesystem;

bool is_left_out(const fs::path& folder) {
  constexpr std::array<std::string_view, 4> kNames = {"build", "node_modules", "dist", "runs"};
  const std::string name = folder.filename();
  if (name == ".ci") return false;
  return name.starts_with('.') || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::vector<ProjectFile> read_tree(const fs::path& root) {
  constexpr std::uintmax_t kLargest = 4 << 20;  // larger ones are data
  std::vector<ProjectFile> files;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    if (entry->is_directory()) {
      if (is_left_out(entry->path())) entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file() || entry->file_size() > kLargest) continue;
    std::ifstream stream(entry->path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (text.find('\0') != std::string::npos) continue;
    files.push_back({fs::relative(entry->path(), root).generic_string(), std::move(text)});
  }
  std::sort(files.begin(), files.end(),
            [](const ProjectFile& a, const ProjectFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace

bool ProjectFile::is_below(std::string_view folder) const {
  return path.starts_with(std::string(folder) + "/");
}

bool ProjectFile::is_test() const {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return name.ends_with("_test.cc") || name.starts_with("test_") || is_below("tests");
}

const std::vector<ProjectFile>& project_files() {
  static const std::vector<ProjectFile> files = read_tree(INFERSCALE_SOURCE_DIR);
  return files;
}

std::string violation(const std::string& path, int line, const std::string& message) {
  return path + ":" + std::to_string(line) + ": " + message;
}

std::string violations_of(const std::function<std::vector<std::string>(const ProjectFile&)>& rule) {
  std::string all;
  for (const ProjectFile& file : project_files()) {
    for (const std::string& broken : rule(file)) all += "\n" + broken;
  }
  return all;
}

void expect_none(const std::string& violations) {
  EXPECT_TRUE(violations.empty()) << violations;
}

}  // namespace inferscale::tidy

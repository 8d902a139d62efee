#include "tidy/layers.h"

#include <algorithm>
#include <array>
#include <span>

#include "tidy/cxx_scan.h"

namespace inferscale::tidy {
namespace {

using Names = std::vector<std::string_view>;

// A module may include itself, base, and what stands here.
struct ModuleRule {
  std::string_view module;
  Names may_use;
};

const std::vector<ModuleRule>& module_rules() {
  static const std::vector<ModuleRule> rules = {
      {"base", {}},
      {"core", {}},
      {"catalog", {"core"}},
      {"admission", {"core"}},
      {"plugin", {"core", "admission"}},
      {"workload", {"core"}},
      {"metrics", {"core"}},
      {"replica", {"core", "catalog"}},
      {"routing", {"core"}},
      {"sim", {"core", "catalog", "admission", "routing", "workload", "replica"}},
      {"study", {"core", "catalog", "admission", "workload", "replica", "sim", "metrics"}},
      {"report", {"core", "metrics"}},
      {"cli",
       {"core", "catalog", "admission", "plugin", "workload", "metrics", "replica", "routing",
        "sim", "study", "report"}},
  };
  return rules;
}

// The places that may touch files and the libraries that throw. All other code is free of both, so
// that it also runs in a browser. A place is a folder below src/, or any folder of that name.
const Names kEdges = {"base/edge", "plugin", "readers", "study/executors", "report", "cli"};

struct HeaderRule {
  std::string_view header;  // a whole name, or a folder that ends in "/"
  Names places;
  std::string_view why;
};

const std::vector<HeaderRule>& header_rules() {
  static const std::string_view kFiles = "files are read and written at the edges only";
  static const std::vector<HeaderRule> rules = {
      {"base/edge/", kEdges, kFiles},
      {"fstream", kEdges, kFiles},
      {"filesystem", kEdges, kFiles},
      {"unistd.h", kEdges, kFiles},
      {"fcntl.h", kEdges, kFiles},
      {"sys/", kEdges, kFiles},
      {"dlfcn.h", {"plugin"}, "use plugin/plugin_library.h"},
      {"yaml-cpp/", {"base/edge"}, "use base/edge/yaml_config.h"},
      {"zlib.h", {"base/edge"}, "use base/edge/input_file.h"},
      {"nlohmann/", kEdges, "JSON is read at the edges only; base/json_writer.h writes it"},
      {"CLI/", {"cli"}, "flags belong to cli"},
      {"iostream", {"cli"}, "only cli talks to people: return a value instead"},
      {"random", {}, "use base/random.h: the standard distributions differ between platforms"},
      {"regex", {"cli"}, "parse by hand: std::regex is slow and overflows the stack"},
      {"thread", {"study/executors", "cli"}, "no threads below the executors of study"},
      {"future", {"study/executors", "cli"}, "no threads below the executors of study"},
      {"mutex", {"study/executors", "cli"}, "no threads below the executors of study"},
      {"cassert", {}, "use CHECK of base/check.h"},
      {"assert.h", {}, "use CHECK of base/check.h"},
  };
  return rules;
}

// Includes that the tables above refuse and that are right all the same, each with its reason.
struct Exception {
  std::string_view path;
  std::string_view header;
  std::string_view reason;
};

constexpr std::array<Exception, 4> kExceptions = {{
    {"src/admission/gate_lock.h", "mutex",
     "a door is used by many threads; without threads there is no lock"},
    {"src/admission/gate_random_test.cc", "thread", "64 threads use one gate"},
    {"src/base/check.cc", "iostream", "a failed CHECK says why on its way out"},
    {"src/study/study_test_support.h", "base/edge/yaml_config.h",
     "scenarios of tests are written as people write them"},
}};

bool is_excepted(const std::string& path, const std::string& header) {
  return std::any_of(kExceptions.begin(), kExceptions.end(),
                     [&](const Exception& e) { return path == e.path && header == e.header; });
}

// "src/base/edge/x.cc" -> "base".
std::string_view module_of(std::string_view path) {
  path.remove_prefix(std::string_view("src/").size());
  return path.substr(0, path.find('/'));
}

bool is_in_place(const std::string& path, std::span<const std::string_view> places) {
  const std::string folder = path.substr(path.find('/'), path.rfind('/') - path.find('/') + 1);
  return std::any_of(places.begin(), places.end(), [&](std::string_view place) {
    return folder.find("/" + std::string(place) + "/") != std::string::npos;
  });
}

bool is_header_of(std::string_view rule, std::string_view header) {
  return rule.ends_with('/') ? header.starts_with(rule) : header == rule;
}

// Why the module of `path` may not include `header`; empty when it may.
std::string module_violation(const std::string& path, const std::string& header) {
  const std::string_view target = std::string_view(header).substr(0, header.find('/'));
  const auto& rules = module_rules();
  const auto rule_of = [&](std::string_view module) {
    return std::find_if(rules.begin(), rules.end(),
                        [&](const ModuleRule& rule) { return rule.module == module; });
  };
  if (header.find('/') == std::string::npos || rule_of(target) == rules.end()) return {};
  const std::string_view module = module_of(path);
  const auto rule = rule_of(module);
  if (rule == rules.end()) {
    return "the module '" + std::string(module) + "' has no line in the table of layers.cc";
  }
  if (target == module || target == "base" ||
      std::find(rule->may_use.begin(), rule->may_use.end(), target) != rule->may_use.end()) {
    return {};
  }
  return std::string(module) + " may not include " + header;
}

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// "src/base/time_test.cc" -> "src/base/time".
std::string_view stem(std::string_view path) {
  for (const std::string_view end : {"_test.cc", ".cc", ".h"}) {
    if (path.ends_with(end)) return path.substr(0, path.size() - end.size());
  }
  return path;
}

// The CMakeLists.txt of the file's folder, or the nearest above it below src/.
const ProjectFile* nearest_list(const std::string& path, const std::vector<ProjectFile>& tree) {
  std::string folder = path.substr(0, path.rfind('/'));
  while (folder.find('/') != std::string::npos) {
    for (const ProjectFile& other : tree) {
      if (other.path == folder + "/CMakeLists.txt") return &other;
    }
    folder = folder.substr(0, folder.rfind('/'));
  }
  return nullptr;
}

// Whether the list holds the name, whole: between blanks, brackets or line ends.
bool names_whole(std::string_view list, const std::string& name) {
  const auto is_end = [&](std::size_t at) {
    return at >= list.size() || std::string_view(" \n()").find(list[at]) != std::string_view::npos;
  };
  for (std::size_t at = list.find(name); at != std::string_view::npos;
       at = list.find(name, at + 1)) {
    if ((at == 0 || is_end(at - 1)) && is_end(at + name.size())) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> check_includes(const ProjectFile& file) {
  std::vector<std::string> broken;
  if (!file.is_cxx() || !file.is_below("src")) return broken;
  for (const Include& include : find_includes(split_source(file.text))) {
    if (is_excepted(file.path, include.header)) continue;
    const std::string module = module_violation(file.path, include.header);
    if (!module.empty()) broken.push_back(violation(file.path, include.line, module));
    if (file.is_test()) continue;  // may use what it likes of the libraries, and files
    for (const HeaderRule& rule : header_rules()) {
      if (!is_header_of(rule.header, include.header) || is_in_place(file.path, rule.places))
        continue;
      broken.push_back(
          violation(file.path, include.line, "<" + include.header + ">: " + std::string(rule.why)));
    }
    // What readers/ offers stands on files as well.
    if (include.header.find("/readers/") != std::string::npos && !is_in_place(file.path, kEdges)) {
      broken.push_back(violation(file.path, include.line,
                                 include.header + ": readers are included at the edges only"));
    }
  }
  return broken;
}

std::vector<std::string> check_listed(const ProjectFile& file,
                                      const std::vector<ProjectFile>& tree) {
  if (!file.is_cxx() || !file.is_below("src")) return {};
  const ProjectFile* list = nearest_list(file.path, tree);
  if (list == nullptr) return {violation(file.path, 1, "no CMakeLists.txt in its folder or above")};
  const std::string name = file.path.substr(list->path.rfind('/') + 1);
  if (names_whole(list->text, name)) return {};
  const bool program = list->text.find("add_executable(") != std::string::npos;
  if (file.is_header() && (program || names_whole(list->text, std::string(stem(name)) + ".cc"))) {
    return {};
  }
  return {violation(file.path, 1, "is not named in " + list->path)};
}

std::vector<std::string> check_header_is_used(const ProjectFile& file,
                                              const std::vector<ProjectFile>& tree) {
  if (!file.is_header() || !file.is_below("src")) return {};
  const std::string name = file.path.substr(std::string_view("src/").size());
  for (const ProjectFile& other : tree) {
    if (!other.is_cxx() || stem(other.path) == stem(file.path)) continue;
    if (other.text.find(file_name(name)) == std::string::npos) continue;
    for (const Include& include : find_includes(split_source(other.text))) {
      if (include.header == name) return {};
    }
  }
  return {violation(file.path, 1, "nobody includes this header but its own source and test")};
}

}  // namespace inferscale::tidy

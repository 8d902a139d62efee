#include "tidy/banned_words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "tidy/cxx_scan.h"

namespace inferscale::tidy {
namespace {

using Places = std::vector<std::string_view>;

struct Ban {
  std::vector<std::string_view> words;
  bool call_only = false;
  Places allowed;  // files, or folders with "/" at the end
  std::string_view instead;
};

const std::vector<Ban>& bans() {
  static const std::vector<Ban> list = {
      {{"random_device", "mt19937", "mt19937_64", "default_random_engine", "random_shuffle"},
       false,
       {},
       "use the named streams of base/random.h"},
      {{"rand", "srand", "drand48"}, true, {}, "use the named streams of base/random.h"},
      {{"system_clock", "steady_clock", "high_resolution_clock", "clock_gettime", "gettimeofday"},
       false,
       {"src/base/edge/", "src/cli/"},
       "take a Clock (base/time.h): no wall clock in results"},
      {{"log",  "log2", "log10", "log1p", "exp",  "exp2", "expm1",  "pow",
        "sin",  "cos",  "tan",   "asin",  "acos", "atan", "atan2",  "sinh",
        "cosh", "tanh", "cbrt",  "hypot", "erf",  "erfc", "tgamma", "lgamma"},
       true,
       {"src/base/exact_math.cc"},
       "use base/exact_math.h: the last bits of libm differ between machines"},
      {{"std::cout", "std::cerr", "std::clog", "stdout"},
       false,
       {"src/cli/"},
       "only cli talks to people: return a value instead"},
      {{"stderr", "fprintf", "fputs"},
       false,
       {"src/cli/", "src/base/check.cc"},
       "only cli talks to people: return a value instead"},
      {{"printf", "puts", "putchar"},
       true,
       {"src/cli/"},
       "only cli talks to people: return a value instead"},
      {{"fmt::print"}, false, {"src/cli/"}, "only cli talks to people: return a value instead"},
      // The files allowed ask whether a key is there, and never walk over the keys.
      {{"unordered_map", "unordered_set", "unordered_multimap", "unordered_multiset"},
       false,
       {"src/cli/", "src/workload/readers/trace_builder.h", "src/workload/trace_summary.cc"},
       "use std::map, or a sorted vector: no unordered iteration in results"},
      {{"std::thread", "std::jthread", "std::async", "std::mutex"},
       false,
       {"src/study/executors/", "src/cli/", "src/admission/gate_lock.h",
        "src/admission/gate_random_test.cc"},
       "no threads below the executors of study; a gate has its lock"},
      {{"getenv", "secure_getenv"}, false, {"src/cli/"}, "the environment is read by cli only"},
      {{"setlocale", "std::locale"}, false, {}, "texts are the same in every locale"},
      {{"assert"}, true, {}, "use CHECK of base/check.h"},
      {{"using namespace"}, false, {"src/cli/main.cc"}, "name what is used"},
      {{"strtod", "strtol", "atoi", "atof", "stoi", "stol", "stoll", "stod", "sscanf"},
       true,
       {},
       "use base/number_text.h: strict, and the same in every locale"},
  };
  return list;
}

bool is_allowed(const std::string& path, const Places& places) {
  return std::any_of(places.begin(), places.end(), [&](std::string_view place) {
    return place.ends_with('/') ? path.starts_with(place) : path == place;
  });
}

// Whether the nearest CMakeLists.txt declares a target that may catch: a program, or an edge.
bool may_catch(const std::string& path, const std::vector<ProjectFile>& tree) {
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    const std::string list = path.substr(0, slash) + "/CMakeLists.txt";
    for (const ProjectFile& other : tree) {
      if (other.path != list) continue;
      return other.text.find(" THROWS") != std::string::npos ||
             other.text.find("add_executable(") != std::string::npos;
    }
  }
  return false;
}

std::string_view trimmed_start(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

}  // namespace

std::vector<std::string> check_banned_words(const ProjectFile& file) {
  std::vector<std::string> broken;
  if (!file.is_cxx() || !file.is_below("src") || file.is_test()) return broken;
  const SourceText source = split_source(file.text);
  for (const Ban& ban : bans()) {
    if (is_allowed(file.path, ban.allowed)) continue;
    for (const std::string_view word : ban.words) {
      for (const int line : find_word(source, {word, ban.call_only})) {
        broken.push_back(
            violation(file.path, line, std::string(word) + ": " + std::string(ban.instead)));
      }
    }
  }
  return broken;
}

std::vector<std::string> check_exceptions(const ProjectFile& file,
                                          const std::vector<ProjectFile>& tree) {
  std::vector<std::string> broken;
  if (!file.is_cxx() || !file.is_below("src") || file.is_test()) return broken;
  const SourceText source = split_source(file.text);
  for (const int line : find_word(source, {"throw"})) {
    broken.push_back(violation(file.path, line, "throw: return a Result (base/result.h)"));
  }
  if (may_catch(file.path, tree)) return broken;
  for (const std::string_view word : {"try", "catch"}) {
    for (const int line : find_word(source, {word})) {
      broken.push_back(
          violation(file.path, line, std::string(word) + ": only in a target that says THROWS"));
    }
  }
  return broken;
}

std::vector<std::string> check_unfinished(const ProjectFile& file) {
  std::vector<std::string> broken;
  if (!file.is_cxx()) return broken;
  SourceText comments;
  comments.code = split_source(file.text).comments;
  for (const std::string_view word : {"TODO", "FIXME", "XXX", "HACK"}) {
    for (const int line : find_word(comments, {word})) {
      const std::string_view text = lines_of(comments.code)[static_cast<std::size_t>(line - 1)];
      if (text.find(std::string(word) + "(#") != std::string_view::npos) continue;
      broken.push_back(
          violation(file.path, line, std::string(word) + ": finish it, or name an issue"));
    }
  }
  return broken;
}

std::vector<std::string> check_machine_paths(const ProjectFile& file) {
  constexpr std::array<std::string_view, 6> kRoots = {"/work/", "/home/",   "/root/",
                                                      "/tmp/",  "/var/tmp", "/Users/"};
  std::vector<std::string> broken;
  if (file.is_test()) return broken;
  for (const std::string_view root : kRoots) {
    for (std::size_t at = file.text.find(root); at != std::string::npos;
         at = file.text.find(root, at + 1)) {
      // "https://host/home/" and "../work/" are other things.
      const bool inside =
          at > 0 && (std::isalnum(static_cast<unsigned char>(file.text[at - 1])) != 0 ||
                     file.text[at - 1] == '.' || file.text[at - 1] == '}');
      if (inside) continue;
      broken.push_back(violation(file.path, line_of(file.text, at),
                                 std::string(root) + "...: a path of one machine"));
    }
  }
  return broken;
}

std::vector<std::string> check_header_form(const ProjectFile& file) {
  if (!file.is_header()) return {};
  if (!trimmed_start(file.text).starts_with("//")) {
    return {violation(file.path, 1, "expected a comment first that says what the file is for")};
  }
  const SourceText source = split_source(file.text);
  if (!trimmed_start(source.code).starts_with("#pragma once\n")) {
    return {violation(file.path, 1, "expected #pragma once behind the first comment")};
  }
  return {};
}

}  // namespace inferscale::tidy

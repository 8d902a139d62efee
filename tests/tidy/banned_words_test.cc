// Banned words, on made-up files and on the project.

#include "tidy/banned_words.h"

#include <gtest/gtest.h>

namespace inferscale::tidy {
namespace {

bool allowed(const std::string& path, const std::string& code) {
  return check_banned_words({path, code}).empty();
}

TEST(BannedWords, KeepChanceAndClocksOutOfResults) {
  EXPECT_FALSE(allowed("src/sim/x.cc", "int a = rand();"));
  EXPECT_FALSE(allowed("src/sim/x.cc", "std::mt19937 generator(1);"));
  EXPECT_FALSE(allowed("src/sim/x.cc", "auto t = std::chrono::steady_clock::now();"));
  EXPECT_TRUE(allowed("src/cli/x.cc", "auto t = std::chrono::steady_clock::now();"));
  EXPECT_FALSE(allowed("src/sim/x.cc", "std::unordered_map<int, int> m;"));
  EXPECT_TRUE(allowed("src/sim/x.cc", "int random = operand(3); // rand()"));
}

TEST(BannedWords, KeepLibmOutOfResults) {
  for (const char* code : {"std::log(x)", "exp(x)", "::pow(x, y)", "std::tgamma (x)"}) {
    EXPECT_FALSE(allowed("src/workload/x.cc", code)) << code;
    EXPECT_TRUE(allowed("src/base/exact_math.cc", code)) << code;
    EXPECT_TRUE(allowed("src/workload/x_test.cc", code)) << code;
  }
  EXPECT_TRUE(allowed("src/workload/x.cc", "std::sqrt(x) + exact_log(x) + catalog(x) + x.exp(1)"));
}

TEST(BannedWords, KeepTheLibrarySilent) {
  for (const char* code : {"std::cout << 1", "printf(\"x\")", "fmt::print(\"x\")", "stderr"}) {
    EXPECT_FALSE(allowed("src/metrics/x.cc", code)) << code;
    EXPECT_TRUE(allowed("src/cli/x.cc", code)) << code;
  }
  EXPECT_TRUE(allowed("src/metrics/x.cc", "snprintf(buffer, 9, \"printf()\")"));
}

TEST(BannedWords, SayWhereAndWhatInstead) {
  EXPECT_EQ(check_banned_words({"src/sim/x.cc", "a;\nassert(a);\n"}),
            std::vector<std::string>{"src/sim/x.cc:2: assert: use CHECK of base/check.h"});
}

TEST(Exceptions, AreCaughtAtTheEdgesAndThrownNowhere) {
  const ProjectFile plain{"src/a/CMakeLists.txt", "inferscale_module(a\n"};
  const ProjectFile edge{"src/a/edge/CMakeLists.txt", "inferscale_module(a_edge THROWS\n"};
  const std::string code = "void f() { try { g(); } catch (...) {} }";
  EXPECT_EQ(check_exceptions({"src/a/x.cc", code}, {plain, edge}).size(), 2U);
  EXPECT_TRUE(check_exceptions({"src/a/edge/x.cc", code}, {plain, edge}).empty());
  EXPECT_FALSE(check_exceptions({"src/a/edge/x.cc", "throw 1;"}, {plain, edge}).empty());
}

TEST(Unfinished, NeedsAnIssue) {
  EXPECT_FALSE(check_unfinished({"src/a/x.cc", "// TODO: more\n"}).empty());
  EXPECT_FALSE(check_unfinished({"src/a/x.cc", "/* FIXME */\n"}).empty());
  EXPECT_TRUE(check_unfinished({"src/a/x.cc", "// TODO(#12): more\n"}).empty());
  EXPECT_TRUE(check_unfinished({"src/a/x.cc", "f(\"TODO\");\n"}).empty());
}

TEST(MachinePaths, AreFoundInEveryTextFile) {
  EXPECT_FALSE(check_machine_paths({"docs/x.md", "see /home/me/x"}).empty());
  EXPECT_FALSE(check_machine_paths({"scripts/x", "cd \"/work/main\""}).empty());
  EXPECT_FALSE(check_machine_paths({"src/a/x.cc", "open(\"/tmp/x\")"}).empty());
  EXPECT_TRUE(check_machine_paths({"src/a/x_test.cc", "open(\"/tmp/x\")"}).empty());
  EXPECT_TRUE(check_machine_paths({"docs/x.md", "https://a.org/home/x ../work/y"}).empty());
}

TEST(HeaderForm, IsACommentThenPragmaOnce) {
  EXPECT_TRUE(check_header_form({"src/a/x.h", "// What for.\n\n#pragma once\nint x;\n"}).empty());
  EXPECT_FALSE(check_header_form({"src/a/x.h", "#pragma once\n// What for.\n"}).empty());
  EXPECT_FALSE(check_header_form({"src/a/x.h", "// What for.\nint x;\n#pragma once\n"}).empty());
  EXPECT_FALSE(check_header_form({"src/a/x.h", ""}).empty());
}

TEST(Project, UsesNoBannedWord) {
  expect_none(violations_of(check_banned_words));
}
TEST(Project, ThrowsNothing) {
  expect_none(
      violations_of([](const ProjectFile& f) { return check_exceptions(f, project_files()); }));
}
TEST(Project, IsFinished) {
  expect_none(violations_of(check_unfinished));
}
TEST(Project, NamesNoMachine) {
  expect_none(violations_of(check_machine_paths));
}
TEST(Project, HasHeadersOfOneForm) {
  expect_none(violations_of(check_header_form));
}

}  // namespace
}  // namespace inferscale::tidy

// Size limits, on made-up files and on the project.

#include "tidy/sizes.h"

#include <gtest/gtest.h>

#include <iostream>

namespace inferscale::tidy {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Sizes, LimitLinesInCharactersNotBytes) {
  const auto broken = [](const std::string& line) {
    return check_sizes({"src/a/x.h", "\n" + line + "\n"}).broken;
  };
  EXPECT_TRUE(broken(std::string(100, 'x')).empty());
  EXPECT_TRUE(broken("// " + repeated("\xC3\xBC", 97)).empty());
  EXPECT_EQ(broken(std::string(101, 'x')),
            std::vector<std::string>{"src/a/x.h:2: 101 columns, at most 100 are allowed"});
  EXPECT_TRUE(check_sizes({"docs/x.md", std::string(500, 'x')}).broken.empty());
}

TEST(Sizes, LimitFiles) {
  EXPECT_EQ(check_sizes({"src/a/x.cc", repeated("\n", 400)}).warnings.size(), 0U);
  EXPECT_EQ(check_sizes({"src/a/x.cc", repeated("\n", 401)}).warnings.size(), 1U);
  EXPECT_EQ(check_sizes({"src/a/x.cc", repeated("\n", 601)}).broken.size(), 1U);
  EXPECT_EQ(check_sizes({"src/a/x_test.cc", repeated("\n", 900)}).broken.size(), 0U);
  EXPECT_EQ(check_sizes({"src/a/x_test.cc", repeated("\n", 901)}).broken.size(), 1U);
}

TEST(Sizes, LimitFunctions) {
  const auto of_length = [](int lines) {
    return check_sizes({"src/a/x.cc", "void f() {\n" + repeated("  a;\n", lines - 2) + "}\n"});
  };
  EXPECT_TRUE(of_length(50).warnings.empty());
  EXPECT_EQ(of_length(51).warnings.size(), 1U);
  EXPECT_TRUE(of_length(70).broken.empty());
  EXPECT_EQ(of_length(71).broken,
            std::vector<std::string>{"src/a/x.cc:1: f has 71 lines, at most 70 are allowed"});
}

TEST(Project, StaysWithinItsSizes) {
  expect_none(violations_of([](const ProjectFile& file) { return check_sizes(file).broken; }));
  const std::string warnings =
      violations_of([](const ProjectFile& file) { return check_sizes(file).warnings; });
  if (!warnings.empty()) std::cout << "Large, and still allowed:" << warnings << "\n";
}

}  // namespace
}  // namespace inferscale::tidy

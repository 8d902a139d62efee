// The scanners on small texts whose answer is plain.

#include "tidy/cxx_scan.h"

#include <gtest/gtest.h>

namespace inferscale::tidy {
namespace {

std::string functions_of(std::string_view text) {
  std::string out;
  for (const Function& f : find_functions(split_source(text))) {
    out += f.name + ":" + std::to_string(f.line) + "+" + std::to_string(f.length) + " ";
  }
  return out;
}

TEST(FindIncludes, SeesBothKindsAndNoComments) {
  const auto includes = find_includes(
      split_source("#include <a/b.h>\n// #include \"c.h\"\n #  include \"d.h\" // x\n"));
  ASSERT_EQ(includes.size(), 2U);
  EXPECT_EQ(includes[0].header, "a/b.h");
  EXPECT_EQ(includes[1].header, "d.h");
  EXPECT_EQ(includes[1].line, 3);
}

TEST(FindFunctions, MeasuresBodies) {
  EXPECT_EQ(functions_of("int f(int a) {\n  return a;\n}\nvoid g() {}\n"), "f:1+3 g:4+1 ");
  EXPECT_EQ(functions_of("void f(int a,\n       int b)\n    const {\n  if (a) {\n    b;\n  }\n}\n"),
            "f:3+5 ");
  EXPECT_EQ(functions_of("void f();\nint x = 3;\n"), "");
}

TEST(FindFunctions, LooksIntoScopesAndNotIntoData) {
  EXPECT_EQ(functions_of("namespace a::b {\nclass C : public D {\n public:\n  C() {\n  }\n};\n}\n"),
            "C:4+2 ");
  EXPECT_EQ(
      functions_of("const T kTable[] = {\n  {f(1), {2}},\n  {g(3), {4}},\n};\nint h() {\n}\n"),
      "h:5+2 ");
  EXPECT_EQ(functions_of("enum class E : int { kA, kB };\nvoid f() {\n}\n"), "f:2+2 ");
  EXPECT_EQ(functions_of("extern \"C\" {\nvoid f() {\n}\n}\n"), "f:2+2 ");
}

TEST(FindFunctions, KnowsTemplatesConstructorsAndOperators) {
  EXPECT_EQ(functions_of("template <typename T, int N = (2)>\nT A<T>::get(T t) {\n}\n"),
            "::get:2+2 ");
  EXPECT_EQ(functions_of("A::A(int x)\n    : x_(x), y_{1}, z_{2} {\n  go();\n}\n"), "A::A:2+3 ");
  EXPECT_EQ(functions_of("bool operator==(A a, A b) {\n  return 1;\n}\n"), "operator:1+3 ");
  EXPECT_EQ(functions_of("auto f() -> std::vector<int> {\n}\n"), "f:1+2 ");
}

TEST(FindFunctions, CountsLambdasWithTheirFunction) {
  EXPECT_EQ(functions_of("void f() {\n  auto g = [](int a) {\n    return a;\n  };\n}\n"), "f:1+5 ");
}

TEST(FindFunctions, IsNotMisledByTextAndDirectives) {
  EXPECT_EQ(functions_of("#define M(a) { \\\n  (a) {\nvoid f() {\n  g(\"}\"); // }\n}\n"),
            "f:3+3 ");
}

std::vector<int> words(std::string_view text, const WordRule& rule) {
  return find_word(split_source(text), rule);
}

TEST(FindWord, MatchesWholeWordsOfTheCodeOnly) {
  const WordRule clock{"steady_clock"};
  EXPECT_EQ(words("x\nstd::chrono::steady_clock::now();", clock), std::vector<int>{2});
  EXPECT_TRUE(
      words("my_steady_clock steady_clocks // steady_clock\n\"steady_clock\"", clock).empty());
}

TEST(FindWord, TellsCallsFromMembersAndOtherNames) {
  const WordRule log{"log", true};
  EXPECT_EQ(words("a = log(b);\nc = std::log (d);\ne = ::log(f);", log),
            (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(words("x.log(1); y->log(2); exact::log(3); log = 4; catalog(5);", log).empty());
}

}  // namespace
}  // namespace inferscale::tidy

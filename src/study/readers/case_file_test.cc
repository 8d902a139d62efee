#include "study/readers/case_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "base/config_json.h"
#include "base/edge/test_folder.h"
#include "study/readers/json_tree.h"

namespace inferscale {
namespace {

std::string tree_of(const std::string& path) {
  const auto tree = read_case_file(path);
  return tree ? to_json_text(*tree) : tree.error().to_string();
}

std::string json_of(const std::string& text) {
  const auto tree = parse_json_tree(text, {.source = "x.jsonl", .line = 3});
  return tree ? to_json_text(*tree) : tree.error().to_string();
}

constexpr char kTree[] = R"({"cases":[{"id":"a","n":1.50,"off":false},{"id":"b","of":[null,-2]}]})";

TEST(CaseFile, AllFormsGiveOneTree) {
  const TestFolder folder;
  const std::string lines =
      "{\"id\": \"a\", \"n\": 1.50, \"off\": false}\n\n  \n{\"id\": \"b\", \"of\": [null, -2]}";
  EXPECT_EQ(tree_of(folder.write("c.jsonl", lines)), kTree);
  EXPECT_EQ(tree_of(folder.write("c.ndjson", lines)), kTree);
  const std::string list = "- {id: a, n: 1.50, off: false}\n- {id: b, of: [null, -2]}\n";
  EXPECT_EQ(tree_of(folder.write("c.yml", list)), kTree);
  EXPECT_EQ(tree_of(folder.write("c.yaml", "cases:\n" + list)), kTree);
  EXPECT_EQ(tree_of(folder.write("c.json", kTree)), kTree);
}

TEST(CaseFile, GzipIsUnpacked) {
  const TestFolder folder;
  const std::string path = folder / "c.jsonl.gz";
  const gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "{\"id\": \"a\"}\n");
  gzclose(file);
  EXPECT_EQ(tree_of(path), R"({"cases":[{"id":"a"}]})");
}

TEST(CaseFile, CasesKnowTheirLine) {
  const TestFolder folder;
  const auto tree = read_case_file(folder.write("c.jsonl", "{\"id\":1}\n\n{\"id\":2}\n"));
  ASSERT_TRUE(tree);
  const ConfigNode* cases = tree->find("cases");
  EXPECT_EQ(cases->items()[1].position().to_string(), (folder / "c.jsonl") + ":3");
  EXPECT_EQ(cases->items()[1].find("id")->position().line, 3);
}

TEST(CaseFile, WhatIsWrongIsSaidWithTheLine) {
  const TestFolder folder;
  EXPECT_TRUE(tree_of(folder.write("c.jsonl", "{\"id\":1}\n{\"id\":\n"))
                  .starts_with((folder / "c.jsonl") + ":2: not valid JSON at byte 7: "))
      << tree_of(folder / "c.jsonl");
  EXPECT_NE(tree_of(folder.write("c.csv", "id\n")).find("expected .yaml"), std::string::npos);
  EXPECT_NE(tree_of(folder.write("c.yaml", "3\n")).find("expected a list of cases"),
            std::string::npos);
  EXPECT_NE(tree_of(folder / "none.jsonl").find("none.jsonl"), std::string::npos);
}

TEST(JsonTree, TextStaysTextAndNumbersStayAsWritten) {
  EXPECT_EQ(json_of(R"({"a":"true","b":true,"c":"1","d":512.0,"e":"\u00e9\/\ud83d\ude00"})"),
            R"({"a":"true","b":true,"c":"1","d":512.0,"e":"é/😀"})");
}

TEST(JsonTree, RefusesWhatAConfigurationHasNoUseFor) {
  EXPECT_EQ(json_of(R"({"a":1,"a":2})"),
            "x.jsonl:3: key 'a' twice in one object: expected it once");
  EXPECT_EQ(json_of(std::string(65, '[') + std::string(65, ']')),
            "x.jsonl:3: nested deeper than 64: expected a flat case");
  EXPECT_TRUE(json_of("{} {}").starts_with("x.jsonl:3: not valid JSON at byte 4"));
  EXPECT_TRUE(json_of("").starts_with("x.jsonl:3: not valid JSON"));
  EXPECT_TRUE(json_of("{\"a\": NaN}").starts_with("x.jsonl:3: not valid JSON"));
}

}  // namespace
}  // namespace inferscale

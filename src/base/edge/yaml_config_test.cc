// What YAML becomes as a configuration tree, with its positions, and settings from a command line.

#include "base/edge/yaml_config.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/config_json.h"
#include "base/edge/test_folder.h"

namespace inferscale {
namespace {

ConfigNode parsed(std::string_view text) {
  Result<ConfigNode> node = parse_yaml(text, "c.yaml");
  EXPECT_TRUE(node) << node.error().to_string();
  return node ? std::move(*node) : ConfigNode();
}

TEST(YamlConfig, KeepsOrderTextAndPositions) {
  const ConfigNode root = parsed(
      "# a comment\n"
      "name: chat\n"
      "deployment:\n"
      "  model: \"8\"\n"
      "  sizes: [1, 2.50,\n"
      "          three]\n"
      "empty:\n");
  ASSERT_TRUE(root.is_map());
  ASSERT_EQ(root.entries().size(), 3U);
  EXPECT_EQ(root.entries()[0].key, "name");
  EXPECT_EQ(root.entries()[1].key, "deployment");
  EXPECT_EQ(root.entries()[1].key_position.to_string(), "c.yaml:3");
  const ConfigNode& deployment = root.entries()[1].value;
  EXPECT_EQ(deployment.position().to_string(), "c.yaml:4");
  EXPECT_TRUE(deployment.find("model")->quoted());
  EXPECT_FALSE(root.find("name")->quoted());
  const ConfigNode& sizes = *deployment.find("sizes");
  ASSERT_EQ(sizes.items().size(), 3U);
  EXPECT_EQ(sizes.items()[1].text(), "2.50");
  EXPECT_EQ(sizes.items()[2].position().to_string(), "c.yaml:6");
  EXPECT_TRUE(root.find("empty")->is_null());
}

TEST(YamlConfig, EmptyDocumentsAreNull) {
  for (const char* text : {"", "\n\n", "# only a comment", "---\n", "~", "null\n"}) {
    EXPECT_TRUE(parsed(text).is_null()) << text;
  }
  EXPECT_FALSE(parsed("''").is_null());
}

TEST(YamlConfig, TakesWindowsLineEndsMarksAndForeignLetters) {
  const ConfigNode root = parsed("\xEF\xBB\xBF---\r\nname: \"Z\xC3\xBCrich\"\r\nn: 1\r\n...\r\n");
  EXPECT_EQ(root.find("name")->text(), "Z\xC3\xBCrich");
  EXPECT_EQ(root.find("n")->text(), "1");
  EXPECT_EQ(root.find("n")->position().line, 3);
}

TEST(YamlConfig, TakesQuotesOfBothKindsAndBlocks) {
  const ConfigNode root = parsed(
      "single: 'it''s'\n"
      "double: \"a \\\"b\\\" \\u00e9 \\\\\"\n"
      "both: '\"'\n"
      "lines: \"one\n"
      "  two\"\n"
      "block: |\n"
      "  a \"quote\n"
      "  and 'another\n"
      "plain: don't \"stop\n"
      "last: ''");
  EXPECT_EQ(root.find("single")->text(), "it's");
  EXPECT_EQ(root.find("double")->text(), "a \"b\" \xC3\xA9 \\");
  EXPECT_EQ(root.find("both")->text(), "\"");
  EXPECT_EQ(root.find("lines")->text(), "one two");
  EXPECT_EQ(root.find("block")->text(), "a \"quote\nand 'another\n");
  EXPECT_EQ(root.find("plain")->text(), "don't \"stop");
  EXPECT_EQ(root.find("last")->text(), "");
}

TEST(YamlConfig, TakesJson) {
  const ConfigNode root = parsed("{\n\t\"a\": [1, {\"b\": null}],\n\t\"c\": \"x\"\n}\n");
  EXPECT_EQ(to_json_text(root), R"({"a":[1,{"b":null}],"c":"x"})");
}

TEST(YamlConfig, ReadsAFilePlainOrPacked) {
  const TestFolder folder;
  const std::string path = folder.write("c.yaml", "a: 1\n");
  EXPECT_EQ(read_yaml_file(path).value().find("a")->position().to_string(), path + ":1");
  ASSERT_EQ(std::system(("gzip '" + path + "'").c_str()), 0);
  EXPECT_EQ(read_yaml_file(path + ".gz").value().find("a")->text(), "1");
}

TEST(ApplySetting, SetsValuesOfEveryKind) {
  ConfigNode root = parsed("a: {b: 1, c: 2}\n");
  ASSERT_TRUE(apply_setting(root, "a.b=5"));
  ASSERT_TRUE(apply_setting(root, "a.list=[1, x]"));
  ASSERT_TRUE(apply_setting(root, "new.deep={k: v}"));
  ASSERT_TRUE(apply_setting(root, "text=\"7=8\""));
  ASSERT_TRUE(apply_setting(root, "nothing="));
  EXPECT_EQ(to_json_text(root),
            R"({"a":{"b":5,"c":2,"list":[1,"x"]},"new":{"deep":{"k":"v"}},"text":"7=8",)"
            R"("nothing":null})");
  EXPECT_EQ(root.find("a")->find("b")->position().to_string(), "--set");
  EXPECT_TRUE(root.find("text")->quoted());
}

TEST(ApplySetting, SaysWhatItExpected) {
  ConfigNode root = parsed("a: 1\n");
  const auto error = [&](std::string_view assignment) {
    const Result<void> result = apply_setting(root, assignment);
    return result ? std::string("no error") : result.error().to_string();
  };
  const std::string expected = ": expected key.path=value, as in workload.requests=1000";
  EXPECT_EQ(error("a"), "--set: 'a'" + expected);
  EXPECT_EQ(error("=1"), "--set: '=1'" + expected);
  EXPECT_EQ(error(""), "--set: ''" + expected);
  EXPECT_EQ(error("a=[1"), "--set: 'a': the bracket [ is never closed: expected ]");
  EXPECT_EQ(error("a=\"x"), "--set: 'a': the quotation mark \" is never closed");
  EXPECT_EQ(error("a={k: 1, k: 2}"), "--set: 'a': the key 'k' stands twice in one map");
  EXPECT_EQ(error("a=\xFF"), "--set: 'a': the byte 0xFF is not UTF-8: expected UTF-8 text");
  EXPECT_NE(error("a.b=1").find("'a.b'"), std::string::npos);
  EXPECT_NE(error("b..c=1").find("'b..c' is not a key path"), std::string::npos);
  std::string deep = "k";
  for (int i = 0; i < 100000; ++i) deep += ".k";
  EXPECT_EQ(error(deep + "=1"), "--set: a key path of more than 64 steps");
}

}  // namespace
}  // namespace inferscale

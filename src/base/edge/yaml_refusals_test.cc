// What is refused, each with file, line, and what to do.

#include <gtest/gtest.h>

#include "base/config_json.h"
#include "base/edge/test_folder.h"
#include "base/edge/yaml_config.h"

namespace inferscale {
namespace {

std::string error_of(std::string_view text) {
  const Result<ConfigNode> node = parse_yaml(text, "c.yaml");
  if (node) return "taken as " + to_json_text(*node);
  EXPECT_EQ(node.error().code, ErrorCode::kInvalidConfig);
  return node.error().to_string();
}

TEST(YamlRefusals, DuplicateKeysAtAnyDepth) {
  EXPECT_EQ(error_of("a: 1\nb: 2\na: 3\n"),
            "c.yaml:3: the key 'a' stands twice in one map (first on line 1)");
  EXPECT_EQ(error_of("x:\n  - k: 1\n    \"k\": 2\n"),
            "c.yaml:3: the key 'k' stands twice in one map (first on line 2)");
  EXPECT_EQ(error_of("a: {k: 1}\nb: {k: 1}\n"), R"(taken as {"a":{"k":1},"b":{"k":1}})");
}

TEST(YamlRefusals, SeveralDocuments) {
  const std::string expected = ": a second document (---): expected one document";
  EXPECT_EQ(error_of("a: 1\n---\nb: 2\n"), "c.yaml:2" + expected);
  EXPECT_EQ(error_of("---\na: 1\n---\n"), "c.yaml:3" + expected);
  EXPECT_EQ(error_of("- a\nb: c\n"),
            "c.yaml:2: the document's value ended before this line: expected one map or list, "
            "check the indentation");
}

TEST(YamlRefusals, AnchorsAndAliasesSoThatNoBombUnpacks) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    bomb += name + ": &" + name + " [" + before + ", " + before + ", " + before + "]\n";
  }
  const std::string anchor = ": an anchor (&): expected the value itself, anchors are not taken";
  EXPECT_EQ(error_of(bomb), "c.yaml:1" + anchor);
  EXPECT_EQ(error_of("a: 1\n&k b: 2\n"), "c.yaml:2" + anchor);
  EXPECT_EQ(error_of("a: 1\nb: &x {c: 1}\n"), "c.yaml:2" + anchor);
  EXPECT_EQ(error_of("a: &x\n"), "c.yaml:1" + anchor);
  EXPECT_EQ(error_of("b: *nowhere\n"),
            "c.yaml:1: not valid YAML: the referenced anchor is not defined");
}

TEST(YamlRefusals, Tags) {
  const std::string expected = ": a tag (!): expected the value itself, tags are not taken";
  for (const char* value :
       {"!!str 1", "!!int \"1\"", "!mine x", "! 1", "!!map {b: 1}", "!x", "!"}) {
    EXPECT_EQ(error_of(std::string("ok: 1\na: ") + value + "\n"), "c.yaml:2" + expected) << value;
  }
}

TEST(YamlRefusals, KeysThatAreNotNames) {
  EXPECT_EQ(error_of("a: 1\n? [x, y]\n: b\n"), "c.yaml:2: a key that is a list: expected a name");
  EXPECT_EQ(error_of("{{x: y}: b}\n"), "c.yaml:1: a key that is a map: expected a name");
  const std::string empty = ": an empty key: expected a name before the ':'";
  EXPECT_EQ(error_of("a: 1\n: b\n"), "c.yaml:2" + empty);
  EXPECT_EQ(error_of("~: b\n"), "c.yaml:1" + empty);
  EXPECT_EQ(error_of("\"\": b\n"), "c.yaml:1" + empty);
}

TEST(YamlRefusals, DeepNesting) {
  const auto nested = [](int depth) {
    return "a:\n  " + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "\n";
  };
  EXPECT_EQ(error_of(nested(63)).find("taken as"), 0U);
  EXPECT_EQ(error_of(nested(64)), "c.yaml:2: nesting deeper than 64 levels");
  EXPECT_EQ(error_of(nested(1000000)), "c.yaml:2: nesting deeper than 64 levels");
  std::string blocks;
  for (int i = 0; i < 3000; ++i) blocks += "- ";
  EXPECT_EQ(error_of(blocks + "x\n"), "c.yaml:1: nesting deeper than 64 levels");
  std::string keys;
  for (int i = 0; i < 100; ++i) keys += std::string(static_cast<std::size_t>(i), ' ') + "k:\n";
  EXPECT_EQ(error_of(keys), "c.yaml:65: nesting deeper than 64 levels");
}

TEST(YamlRefusals, QuotesAndBracketsThatAreNeverClosed) {
  EXPECT_EQ(error_of("a: 1\nb: \"open\nc: 2\n"), "c.yaml:2: the quotation mark \" is never closed");
  EXPECT_EQ(error_of("a: 1\nb: 'it''s open"), "c.yaml:2: the quotation mark ' is never closed");
  EXPECT_EQ(error_of("b: 'ends in two''"), "c.yaml:1: the quotation mark ' is never closed");
  EXPECT_EQ(error_of("b: \"escaped \\\""), "c.yaml:1: the quotation mark \" is never closed");
  EXPECT_EQ(error_of("z\xC3\xBC: 1\r\nb: \"open\r\nc: 2\r\n"),
            "c.yaml:2: the quotation mark \" is never closed");
  EXPECT_EQ(error_of("a: 1\nb: [1,\n 2\nc: 3\n").find("c.yaml:"), 0U);
  EXPECT_EQ(error_of("a: 1\nb: [1,\n 2\n"), "c.yaml:2: the bracket [ is never closed: expected ]");
  EXPECT_EQ(error_of("a: 1\nb: {c: 1,\n d: 2\n"),
            "c.yaml:2: the bracket { is never closed: expected }");
  EXPECT_EQ(error_of("a: [1}\n"),
            "c.yaml:1: not valid YAML: a closing bracket that does not fit the open one");
}

TEST(YamlRefusals, TabsInTheIndentation) {
  const std::string expected = ": a tab in the indentation: YAML takes spaces only";
  EXPECT_EQ(error_of("a:\n\tb: 1\n"), "c.yaml:2" + expected);
  EXPECT_EQ(error_of("a:\n  b: 1\n\tc: 2\n"), "c.yaml:3" + expected);
  EXPECT_EQ(error_of("a:\n  b: 1\n  \tc: 2\n"), "c.yaml:3" + expected);
}

TEST(YamlRefusals, Colons) {
  const std::string expected =
      ": not valid YAML: a ':' where no key can end: check the indentation, or put text that holds "
      "': ' in quotation marks";
  EXPECT_EQ(error_of("a: 1\nb: c: d\n"), "c.yaml:2" + expected);
  EXPECT_EQ(error_of("a: 1\n  b: 2\n"), "c.yaml:2" + expected);
}

TEST(YamlRefusals, CharactersThatBeginNoValue) {
  for (const char* value : {"@x", "`x`", "%x"}) {
    EXPECT_EQ(error_of(std::string("a: 1\nb: ") + value),
              "c.yaml:2: not valid YAML: a value can't begin with this character: put the text in "
              "quotation marks");
  }
}

TEST(YamlRefusals, BytesThatAreNotText) {
  EXPECT_EQ(error_of(std::string("a: 1\nb: \0\n", 10)),
            "c.yaml:2: the control character 0x00: expected text");
  // The library would end the text here and drop what follows.
  EXPECT_EQ(error_of("a: 1\n\x04\nb: 2\n"), "c.yaml:2: the control character 0x04: expected text");
  EXPECT_EQ(error_of("a: 1\rb: 2\n"), "c.yaml:1: the control character 0x0D: expected text");
  EXPECT_EQ(error_of("a: 1\nb: caf\xE9\n"),
            "c.yaml:2: the byte 0xE9 is not UTF-8: expected UTF-8 text");
  EXPECT_EQ(error_of(std::string("\xFF\xFE"
                                 "a\0:\0 \0"
                                 "1\0",
                                 10)),
            "c.yaml:1: the byte 0xFF is not UTF-8: expected UTF-8 text");
  EXPECT_EQ(error_of("a: \"x\\0y\"\n"), "c.yaml:1: a NUL character in a value: expected text");
  // An overlong slash, half of a surrogate pair, beyond U+10FFFF, and a sequence that is cut off.
  for (const char* bad : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_NE(error_of(std::string("a: ") + bad).find("is not UTF-8"), std::string::npos);
  }
  EXPECT_EQ(error_of("a: \xE2\x82\xAC \xF0\x9F\x98\x80\n").find("taken as"), 0U);
}

TEST(YamlRefusals, TooMuch) {
  EXPECT_EQ(error_of(std::string((16 << 20) + 1, ' ')),
            "c.yaml: larger than 16 MiB: expected a configuration");
  std::string many = "a: [";
  for (int i = 0; i < 1000001; ++i) many += "1,";
  EXPECT_EQ(error_of(many + "]\n"),
            "c.yaml:1: more than a million values: expected a configuration");
}

TEST(YamlRefusals, FilesThatCannotBeRead) {
  const TestFolder folder;
  const Result<ConfigNode> missing = read_yaml_file(folder / "missing.yaml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  const Result<ConfigNode> directory = read_yaml_file(folder / "");
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, ErrorCode::kInvalidConfig);
  const std::string binary = folder.write("binary.yaml", std::string("\x7F"
                                                                     "ELF\0",
                                                                     5));
  EXPECT_EQ(read_yaml_file(binary).error().to_string(),
            binary + ":1: the control character 0x7F: expected text");
}

}  // namespace
}  // namespace inferscale

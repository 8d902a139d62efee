// to_json_text, read back by a JSON library that shares nothing with it.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/config_json.h"
#include "base/edge/yaml_config.h"

namespace inferscale {
namespace {

nlohmann::ordered_json read_back(const ConfigNode& node) {
  return nlohmann::ordered_json::parse(to_json_text(node));
}

ConfigNode plain(const std::string& text) {
  return ConfigNode::scalar(text, false, {});
}

TEST(ConfigJson, KeepsOrderAndKinds) {
  const ConfigNode root =
      parse_yaml("z: 1\na: [true, false, ~, yes]\nm: {}\nl: []\ns: \"1\"\n", "c").value();
  EXPECT_EQ(to_json_text(root), R"({"z":1,"a":[true,false,null,"yes"],"m":{},"l":[],"s":"1"})");
}

TEST(ConfigJson, NumbersStayNumbersOfTheSameValue) {
  EXPECT_EQ(to_json_text(plain("9007199254740993")), "9007199254740993");
  EXPECT_EQ(to_json_text(plain("0.10")), "0.10");
  EXPECT_EQ(to_json_text(plain("-0")), "-0");
  EXPECT_EQ(to_json_text(plain("1e6")), "1e6");
  for (const auto& [text, value] : std::initializer_list<std::pair<const char*, double>>{
           {"+5", 5}, {".5", 0.5}, {"7.", 7}, {"007", 7}, {"-.25", -0.25}, {"1E+3", 1000}}) {
    EXPECT_EQ(read_back(plain(text)).get<double>(), value) << text;
  }
}

TEST(ConfigJson, WhatIsNoFiniteNumberIsText) {
  for (const char* text :
       {"1e999", "nan", ".inf", "0x10", "1_000", "-", "1.2.3", "1e", "2024-01-01"}) {
    EXPECT_EQ(read_back(plain(text)).get<std::string>(), text);
  }
}

TEST(ConfigJson, EveryByteAndAwkwardKeyIsValidJson) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = std::string("x") + static_cast<char>(byte) + "y";
    const std::string back = read_back(ConfigNode::scalar(text, true, {})).get<std::string>();
    if (byte < 0x80) {
      EXPECT_EQ(back, text) << byte;
    } else {
      EXPECT_EQ(back, "x\xEF\xBF\xBDy") << byte;
    }
  }
  ConfigNode root = ConfigNode::map({});
  root.put("a \"key\"\\\n\t", plain("\xF0\x9F\x98\x80"), {});
  EXPECT_EQ(read_back(root).at("a \"key\"\\\n\t").get<std::string>(), "\xF0\x9F\x98\x80");
}

}  // namespace
}  // namespace inferscale

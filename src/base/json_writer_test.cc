#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/random.h"

namespace inferscale {
namespace {

using nlohmann::json;

std::string string_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string scaled_text(std::int64_t value, int decimals) {
  std::string out;
  append_json_scaled(out, value, decimals);
  return out;
}

// A code point as UTF-8, the straightforward way.
std::string encoded(std::uint32_t point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xC0 | point >> 6), byte(0x80 | (point & 63))};
  if (point < 0x10000) {
    return {byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 63)), byte(0x80 | (point & 63))};
  }
  return {byte(0xF0 | point >> 18), byte(0x80 | (point >> 12 & 63)), byte(0x80 | (point >> 6 & 63)),
          byte(0x80 | (point & 63))};
}

TEST(JsonWriter, WritesATreeInTheOrderGiven) {
  JsonValue tree = JsonValue::object();
  JsonValue list = JsonValue::array();
  list.append(1).append(JsonValue()).append("two");
  tree.add("z", std::move(list)).add("a", JsonValue::object().add("yes", true).add("no", false));
  tree.add("empty", JsonValue::object()).add("none", JsonValue::array());
  EXPECT_EQ(tree.text(),
            R"({"z":[1,null,"two"],"a":{"yes":true,"no":false},"empty":{},"none":[]})");
}

TEST(JsonWriter, IndentedTextHoldsTheSameValueAndRawPartsAreIndentedToo) {
  JsonValue tree = JsonValue::object();
  tree.add("config", JsonValue::raw(R"({"name": "a{b,[c:\"d\\","list":[1,{"x":[]}]})"));
  tree.add("t", "tab\tquote\"");
  EXPECT_EQ(json::parse(tree.indented_text()), json::parse(tree.text()));
  EXPECT_EQ(JsonValue::object().add("a", JsonValue::raw(R"({"b":[1,2],"c":{}})")).indented_text(),
            "{\n  \"a\": {\n    \"b\": [\n      1,\n      2\n    ],\n    \"c\": {}\n  }\n}\n");
}

TEST(JsonWriter, NumbersReadBackEqualAndWhatJsonCannotHoldIsNull) {
  RandomStream bits(7, "test");
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(bits.next());
    const json read = json::parse(JsonValue(value).text());
    if (std::isfinite(value)) {
      EXPECT_EQ(read.get<double>(), value);
    } else {
      EXPECT_TRUE(read.is_null());
    }
  }
  EXPECT_EQ(JsonValue(std::nan("")).text(), "null");
  EXPECT_EQ(JsonValue(-std::numeric_limits<double>::infinity()).text(), "null");
  EXPECT_EQ(JsonValue(0.1).text(), "0.1");
  EXPECT_EQ(JsonValue(std::numeric_limits<std::uint64_t>::max()).text(), "18446744073709551615");
  EXPECT_EQ(JsonValue(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(JsonValue(std::optional<double>()).text(), "null");
  EXPECT_EQ(JsonValue(std::optional<double>(2.5)).text(), "2.5");
}

TEST(JsonWriter, ScaledIntegersAreExact) {
  EXPECT_EQ(scaled_text(22986111, 6), "22.986111");
  EXPECT_EQ(scaled_text(1849008204, 6), "1849.008204");
  EXPECT_EQ(scaled_text(0, 6), "0.0");
  EXPECT_EQ(scaled_text(1000000, 6), "1.0");
  EXPECT_EQ(scaled_text(10, 6), "0.00001");
  EXPECT_EQ(scaled_text(-1, 6), "-0.000001");
  EXPECT_EQ(scaled_text(std::numeric_limits<std::int64_t>::min(), 9), "-9223372036.854775808");
  EXPECT_EQ(scaled_text(std::numeric_limits<std::int64_t>::max(), 9), "9223372036.854775807");
  EXPECT_EQ(JsonValue::millis(Duration::nanos(1500)).text(), "0.0015");
}

TEST(JsonWriter, AnyTextReadsBackEqual) {
  RandomStream random(42, "test");
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (std::uint64_t length = random.next() % 20; length > 0; --length) {
      static constexpr std::uint32_t kLimits[] = {0x20, 0x80, 0x800, 0x10000, 0x110000};
      auto point = static_cast<std::uint32_t>(random.next() % kLimits[random.next() % 5]);
      if (point >= 0xD800 && point <= 0xDFFF) point = '"';
      text += encoded(point);
    }
    EXPECT_EQ(json::parse(string_text(text)).get<std::string>(), text);
  }
}

TEST(JsonWriter, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  EXPECT_EQ(string_text("a\xFF"
                        "b"),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(string_text("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");  // overlong '/'
  RandomStream random(1, "test");
  for (int i = 0; i < 20000; ++i) {
    std::string text(random.next() % 12, ' ');
    for (char& c : text) c = static_cast<char>(random.next());
    // The parser refuses text that is not UTF-8, so that it reads is the claim.
    EXPECT_TRUE(json::accept(string_text(text)));
  }
}

TEST(JsonWriter, MisuseStops) {
  JsonValue object = JsonValue::object();
  object.add("a", 1);
  EXPECT_DEATH(object.add("a", 2), "key twice: a");
  EXPECT_DEATH(object.append(1), "needs an array");
}

}  // namespace
}  // namespace inferscale

// Strict reading: each kind of bad input gives one error that names place, key, value and
// expectation.

#include "base/config_reader.h"

#include "base/config_json.h"
#include "base/nearest_word.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

SourcePosition at(int line) {
  return {"run.yaml", line};
}

ConfigNode tree(std::initializer_list<std::pair<const char*, const char*>> entries) {
  ConfigNode root = ConfigNode::map(at(1));
  int line = 1;
  for (const auto& [key, text] : entries) {
    root.put(key, ConfigNode::scalar(text, false, at(line)), at(line));
    ++line;
  }
  return root;
}

double read_rate(const ConfigNode& root, ConfigSession& session) {
  ConfigReader reader(root, session);
  const double rate = reader.number(
      "rate_rps", {.min = 0, .max = 1e6, .above_min = true, .unit = "1/s", .doc = "requests"});
  reader.finish();
  return rate;
}

TEST(ConfigReader, ReadsANumber) {
  ConfigSession session;
  EXPECT_EQ(read_rate(tree({{"rate_rps", "12.5"}}), session), 12.5);
  EXPECT_FALSE(session.failed());
}

TEST(ConfigReader, NegativeRateNamesPlaceKeyValueAndExpectation) {
  ConfigSession session;
  read_rate(tree({{"rate_rps", "-3"}}), session);
  ASSERT_TRUE(session.failed());
  EXPECT_EQ(session.error().to_string(),
            "run.yaml:1: rate_rps: '-3': expected a number greater than 0 and at most 1000000");
}

TEST(ConfigReader, RefusesNotANumberInfinityOverflowAndTrailingText) {
  for (const char* text : {"nan", ".nan", "inf", ".inf", "1e999", "12x", "0x10", "1 2", "true"}) {
    ConfigSession session;
    read_rate(tree({{"rate_rps", text}}), session);
    EXPECT_TRUE(session.failed()) << text;
  }
}

TEST(ConfigReader, MisspelledKeyIsReportedBeforeTheMissingOneItMeant) {
  ConfigSession session;
  read_rate(tree({{"rate_rp", "3"}}), session);
  ASSERT_TRUE(session.failed());
  EXPECT_EQ(session.error().to_string(),
            "run.yaml:1: unknown key 'rate_rp' (value '3'): did you mean 'rate_rps'? "
            "expected one of rate_rps");
}

TEST(ConfigReader, MissingKeySaysWhatWasExpected) {
  ConfigSession session;
  read_rate(ConfigNode::map(at(7)), session);
  ASSERT_TRUE(session.failed());
  EXPECT_EQ(session.error().to_string(),
            "run.yaml:7: rate_rps: missing: expected a number greater than 0 and at most 1000000");
}

TEST(ConfigReader, QuotedNumberIsText) {
  ConfigNode root = ConfigNode::map(at(1));
  root.put("rate_rps", ConfigNode::scalar("3", true, at(1)), at(1));
  ConfigSession session;
  read_rate(root, session);
  EXPECT_TRUE(session.failed());
}

TEST(ConfigReader, RootThatIsNoMapIsAnError) {
  ConfigSession session;
  const ConfigNode root = ConfigNode::scalar("hello", false, at(1));
  ConfigReader reader(root, session);
  EXPECT_TRUE(session.failed());
}

TEST(ConfigReader, WholeNumbersTakeExponentsButNoFractions) {
  for (const auto& [text, good] : {std::pair{"1e6", true}, {"250.0", true}, {"2.5", false}}) {
    ConfigSession session;
    const ConfigNode root = tree({{"requests", text}});
    ConfigReader reader(root, session);
    reader.integer("requests", {.min = 1});
    EXPECT_EQ(session.failed(), !good) << text;
  }
}

TEST(ConfigReader, ChoiceSuggestsTheNearest) {
  ConfigSession session;
  const ConfigNode root = tree({{"process", "poison"}});
  ConfigReader reader(root, session);
  reader.choice("process", {"poisson", "constant"}, std::nullopt, "arrival process");
  ASSERT_TRUE(session.failed());
  EXPECT_EQ(session.error().to_string(),
            "run.yaml:1: process: 'poison': expected one of poisson | constant "
            "(did you mean 'poisson'?)");
}

TEST(ConfigReader, DescriptionVisitsEveryChoice) {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode root = ConfigNode::map({});
  ConfigReader reader(root, session);
  const std::string process = reader.choice("process", {"poisson", "gamma"}, "poisson", "kind");
  reader.when("process", process, "gamma",
              [&] { reader.number("cv", {.fallback = 1.0, .doc = "variation"}); });
  ASSERT_EQ(session.descriptions().size(), 2U);
  EXPECT_EQ(session.descriptions()[0].type, "poisson | gamma");
  EXPECT_EQ(session.descriptions()[1].condition, "process: gamma");
  EXPECT_EQ(session.descriptions()[1].fallback, "1");
}

TEST(ConfigNode, SetPathMakesMapsOnTheWayAndRefusesToCrossAScalar) {
  ConfigNode root = tree({{"seed", "1"}});
  EXPECT_TRUE(root.set_path("a.b.c", ConfigNode::scalar("5", false, {"--set", 0})));
  EXPECT_EQ(root.find("a")->find("b")->find("c")->text(), "5");
  const auto crossed = root.set_path("seed.x", ConfigNode::scalar("5", false, {"--set", 0}));
  ASSERT_FALSE(crossed);
  EXPECT_EQ(crossed.error().to_string(), "--set: 'seed.x': no key 'x' can be set in '1'");
  EXPECT_FALSE(root.set_path("a..b", ConfigNode::scalar("5", false, {"--set", 0})));
}

TEST(NearestWord, FindsMisspellingsAndNothingFarAway) {
  EXPECT_EQ(nearest_word("max_num_seq", {"max_num_seqs", "max_model_len"}), "max_num_seqs");
  EXPECT_EQ(nearest_word("banana", {"max_num_seqs", "seed"}), std::nullopt);
}

TEST(SetPath, AnotherPolicyComesWithoutTheOldOnesParameters) {
  const SourcePosition at{.source = "test"};
  const auto tree = [&] {
    ConfigNode root = ConfigNode::map(at);
    EXPECT_TRUE(root.set_path("admission.policy", text_node("queue_depth", "test")));
    EXPECT_TRUE(root.set_path("admission.parameters.max_waiting", number_node(4, "test")));
    return root;
  };
  ConfigNode same = tree();
  ASSERT_TRUE(same.set_path("admission.policy", text_node("queue_depth", "--set")));
  EXPECT_NE(same.find("admission")->find("parameters"), nullptr);
  ConfigNode other = tree();
  ASSERT_TRUE(other.set_path("admission.policy", text_node("none", "--set")));
  EXPECT_EQ(other.find("admission")->find("parameters"), nullptr);
}

}  // namespace
}  // namespace inferscale

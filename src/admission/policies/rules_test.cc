// Rule lists as people write them.

#include "admission/policies/rules.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"
#include "base/edge/yaml_config.h"

namespace inferscale {
namespace {

Result<PolicyFactory> read(std::string_view yaml) {
  const Result<ConfigNode> tree = parse_yaml(yaml, "rules.yaml");
  CHECK(tree.has_value()) << tree.error().to_string();
  ConfigSession session;
  ConfigReader reader(*tree, session);
  PolicyFactory factory = read_rules(reader);
  reader.finish();
  if (session.failed()) return std::unexpected(session.error());
  return factory;
}

std::unique_ptr<AdmissionPolicy> make(std::string_view yaml) {
  const Result<PolicyFactory> factory = read(yaml);
  CHECK(factory.has_value()) << factory.error().to_string();
  return (*factory)({});
}

std::string error_of(std::string_view yaml) {
  const Result<PolicyFactory> factory = read(yaml);
  return factory.has_value() ? "" : factory.error().to_string();
}

constexpr std::string_view kTwoRules = R"(
rules:
  - when: {signal: kv_used_fraction, above: 0.9}
    then: defer
    reason: kv_pressure
    retry_after_s: 2
  - when: {signal: queue_depth, at_least: 8}
    then: reject
    reason: queue_depth
)";

TEST(Rules, TheFirstThatHoldsDecides) {
  const auto policy = make(kTwoRules);
  FakePool pool(policy->needs().signals);
  pool.set(Signal::kKvUsedFraction, 0.9);
  pool.set(Signal::kQueueDepth, 7);
  EXPECT_TRUE(policy->decide({}, pool).admitted());
  pool.set(Signal::kQueueDepth, 8);
  EXPECT_EQ(policy->decide({}, pool).verdict, Verdict::kReject);
  EXPECT_EQ(policy->decide({}, pool).reason, Reason::kQueueDepth);
  pool.set(Signal::kKvUsedFraction, 0.91);
  const Decision decision = policy->decide({}, pool);
  EXPECT_EQ(decision.verdict, Verdict::kDefer);
  EXPECT_EQ(decision.reason, Reason::kKvPressure);
  EXPECT_EQ(decision.retry_after, Duration::from_seconds(2));
}

TEST(Rules, DeclareExactlyWhatTheyRead) {
  const auto policy = make(kTwoRules);
  for (const SignalSpec& spec : all_signals()) {
    EXPECT_EQ(policy->needs().signals.has(spec.signal),
              spec.name == "kv_used_fraction" || spec.name == "queue_depth")
        << spec.name;
  }
  EXPECT_FALSE(policy->needs().request.tenant);
  EXPECT_FALSE(policy->needs().service_model);
  const auto other = make(
      "rules:\n- when: {request: deadline_left_s, below: predicted_first_token_s}\n"
      "  then: reject\n- when: {signal: tenant_in_flight, above: 3}\n  then: reject\n"
      "- when: {request: tokens, above: 5}\n  then: reject\n");
  EXPECT_TRUE(other->needs().service_model);
  EXPECT_TRUE(other->needs().request.deadline);
  EXPECT_TRUE(other->needs().request.tenant);
  EXPECT_TRUE(other->needs().request.predicted_output);
  EXPECT_FALSE(other->needs().request.session);
  EXPECT_TRUE(other->needs().signals.has(Signal::kQueueAgeS));
}

TEST(Rules, AnUnknownReadingHoldsForNoRule) {
  const auto policy = make(kTwoRules);
  FakePool pool(policy->needs().signals);
  EXPECT_TRUE(policy->decide({}, pool).admitted());
  pool.set(Signal::kQueueDepth, 9);
  EXPECT_EQ(policy->decide({}, pool).reason, Reason::kQueueDepth);
}

TEST(Rules, AnUnknownReadingAppliesWhereTheRuleSaysSo) {
  const auto policy = make(
      "rules:\n- when: {signal: queue_depth, below: 8}\n  then: reject\n  when_unknown: apply\n");
  FakePool pool(policy->needs().signals);
  EXPECT_EQ(policy->decide({}, pool).verdict, Verdict::kReject);
  EXPECT_EQ(policy->decide({}, pool).reason, Reason::kRule);
  pool.set(Signal::kQueueDepth, 8);
  EXPECT_TRUE(policy->decide({}, pool).admitted());
}

// All nine pairs of the strong three-valued logic; "u" reads an unknown signal.
TEST(Rules, JoinConditionsByThreeValuedLogic) {
  const std::string yes = "{request: attempt, at_least: 0}";
  const std::string no = "{request: attempt, below: 0}";
  const std::string unknown = "{signal: running, above: 0}";
  const auto verdict = [&](const std::string& join, const std::string& a, const std::string& b,
                           const std::string& when_unknown) {
    const auto policy = make("rules:\n- when: {" + join + ": [" + a + ", " + b +
                             "]}\n  then: reject\n  when_unknown: " + when_unknown + "\n");
    FakePool pool(policy->needs().signals);
    return !policy->decide({}, pool).admitted();
  };
  const auto truth = [&](const std::string& join, const std::string& a, const std::string& b) {
    if (verdict(join, a, b, "skip")) return 'y';
    return verdict(join, a, b, "apply") ? 'u' : 'n';
  };
  EXPECT_EQ(truth("all", yes, yes), 'y');
  EXPECT_EQ(truth("all", yes, unknown), 'u');
  EXPECT_EQ(truth("all", yes, no), 'n');
  EXPECT_EQ(truth("all", unknown, no), 'n');
  EXPECT_EQ(truth("all", unknown, unknown), 'u');
  EXPECT_EQ(truth("any", no, no), 'n');
  EXPECT_EQ(truth("any", no, unknown), 'u');
  EXPECT_EQ(truth("any", unknown, yes), 'y');
  EXPECT_EQ(truth("any", no, yes), 'y');
}

TEST(Rules, CompareFieldsWithSignals) {
  const auto policy = make(
      "rules:\n- when: {request: prompt_tokens, above: kv_free_tokens, times: 0.5}\n"
      "  then: defer\n  reason: no_headroom\n");
  FakePool pool(policy->needs().signals);
  pool.set(Signal::kKvFreeTokens, 1000);
  EXPECT_TRUE(policy->decide({.prompt_tokens = 500}, pool).admitted());
  EXPECT_EQ(policy->decide({.prompt_tokens = 501}, pool).reason, Reason::kNoHeadroom);
}

TEST(Rules, ASignalOfACallerIsUnknownWithoutOne) {
  const auto policy =
      make("rules:\n- when: {signal: session_in_flight, at_least: 0}\n  then: reject\n");
  FakePool pool(policy->needs().signals);
  pool.set(Signal::kSessionInFlight, 3);
  EXPECT_TRUE(policy->decide({}, pool).admitted());
  EXPECT_FALSE(policy->decide({.session = 7}, pool).admitted());
}

TEST(Rules, HeldOnesCanBeOrderedByWhatIsCached) {
  const auto policy = make(
      "rules:\n- when: {signal: running, above: 1}\n  then: defer\n"
      "release_first: reusable_fraction\n");
  const RequestView cached{.prompt_tokens = 100, .reusable_tokens = 90};
  const RequestView fresh{.prompt_tokens = 10};
  EXPECT_LT(*policy->rank(cached), *policy->rank(fresh));
  EXPECT_FALSE(make(kTwoRules)->rank(cached).has_value());
}

TEST(Rules, ErrorsNameFileLineKeyAndWhatWasExpected) {
  EXPECT_EQ(error_of("otherwise: admit\n"),
            "rules.yaml:1: rules: expected a list of at least one rule");
  EXPECT_NE(error_of("rules:\n- when: {signal: kv_usd_fraction, above: 0.9}\n  then: defer\n")
                .find("rules.yaml:2: rules[0].when.signal: 'kv_usd_fraction': expected a signal: "),
            std::string::npos);
  EXPECT_NE(error_of("rules:\n- when: {signal: kv_usd_fraction, above: 0.9}\n  then: defer\n")
                .find("(did you mean 'kv_used_fraction'?)"),
            std::string::npos);
  EXPECT_EQ(error_of("rules:\n- when: {signal: kv_used_fraction, above: 90}\n  then: defer\n"),
            "rules.yaml:2: rules[0].when.above: '90': expected a number of at least 0 and at most "
            "1, the range of kv_used_fraction (fraction)");
  EXPECT_EQ(error_of("rules:\n- when: {request: prompt_tokens, above: kv_used_fraction}\n"
                     "  then: defer\n"),
            "rules.yaml:2: rules[0].when.above: 'kv_used_fraction': expected something in tokens, "
            "as prompt_tokens is; this is in fraction");
  EXPECT_EQ(error_of("rules:\n- when: {signal: running, above: 1, below: 3}\n  then: defer\n"),
            "rules.yaml:2: rules[0].when.below: '3': expected one comparison: there is above");
  EXPECT_EQ(error_of("rules:\n- when: {signal: running}\n  then: defer\n"),
            "rules.yaml:2: rules[0].when: expected a comparison: above, at_least, below, at_most "
            "or equals");
  EXPECT_NE(error_of("rules:\n- when: {signal: running, above: 1}\n  then: refer\n")
                .find("rules[0].then: 'refer': expected one of admit | defer | reject"),
            std::string::npos);
  EXPECT_NE(error_of("rules:\n- when: {signal: running, above: 1}\n  then: defer\n"
                     "  reason: queue_full\n")
                .find("rules.yaml:4: rules[0].reason: 'queue_full': expected a reason of policies"),
            std::string::npos);
  EXPECT_NE(error_of("rules:\n- when: {signal: running, above: 1}\n  then: admit\n"
                     "  retry_after_s: 2\n")
                .find("rules.yaml:4: rules[0].retry_after_s: '2': expected it with then: defer"),
            std::string::npos);
  EXPECT_NE(error_of("rules:\n- then: admit\n").find("rules[0].when: missing"), std::string::npos);
  EXPECT_NE(error_of("rules:\n- when: {signal: running, above: 1, otherwise: 2}\n  then: defer\n")
                .find("unknown key 'rules[0].when.otherwise'"),
            std::string::npos);
  EXPECT_NE(error_of("rules:\n- when: {all: []}\n  then: defer\n")
                .find("rules[0].when.all: a list: expected a list of at least one condition"),
            std::string::npos);
}

TEST(Rules, AreBounded) {
  std::string deep = "{signal: running, above: 1}";
  for (int i = 0; i < 9; ++i) deep = "{all: [" + deep + "]}";
  EXPECT_NE(error_of("rules:\n- when: " + deep + "\n  then: defer\n").find("at most 8 levels"),
            std::string::npos);
  std::string many = "rules:\n";
  for (int i = 0; i < 65; ++i) many += "- when: {signal: running, above: 1}\n  then: defer\n";
  EXPECT_NE(error_of(many).find("expected at most 64 rules"), std::string::npos);
}

}  // namespace
}  // namespace inferscale

// Reading the workload part: defaults, every choice, and one clear error for each kind of nonsense.

#include "workload/workload_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace inferscale {
namespace {

SourcePosition here() {
  return {"run.yaml", 1};
}

ConfigNode scalar(const std::string& text) {
  return ConfigNode::scalar(text, false, here());
}

ConfigNode list(const std::vector<std::string>& items) {
  ConfigNode node = ConfigNode::list(here());
  for (const std::string& item : items) node.append(scalar(item));
  return node;
}

using Keys = std::vector<std::pair<std::string, std::string>>;

ConfigNode map_of(const Keys& keys) {
  ConfigNode node = ConfigNode::map(here());
  for (const auto& [path, text] : keys) {
    EXPECT_TRUE(node.set_path(path, scalar(text)).has_value()) << path;
  }
  return node;
}

ConfigNode schedule(const std::vector<Keys>& pieces) {
  ConfigNode node = ConfigNode::list(here());
  for (const Keys& piece : pieces) node.append(map_of(piece));
  return node;
}

const Keys kLengths = {{"prompt_tokens.mean", "512"},
                       {"prompt_tokens.cv", "0.7"},
                       {"output_tokens.distribution", "constant"},
                       {"output_tokens.value", "256"}};

// The keys of a generated workload with everything that must be there, and `more`.
ConfigNode chat(const Keys& more) {
  Keys keys = kLengths;
  keys.insert(keys.end(), more.begin(), more.end());
  return map_of(keys);
}

WorkloadOptions read(const ConfigNode& node) {
  ConfigSession session;
  ConfigReader reader(node, session);
  WorkloadOptions options = read_workload_options(reader);
  EXPECT_FALSE(session.failed()) << session.error().to_string();
  return options;
}

std::string error_of(const ConfigNode& node) {
  ConfigSession session;
  ConfigReader reader(node, session);
  read_workload_options(reader);
  return session.failed() ? session.error().message : "no error";
}

template <typename T>
T arrivals_of(const WorkloadOptions& options) {
  const T* arrivals = std::get_if<T>(&options.generated.arrivals);
  EXPECT_NE(arrivals, nullptr);
  return arrivals == nullptr ? T{} : *arrivals;
}

TEST(WorkloadOptions, NeedARateAndLengthsAndFillInTheRest) {
  const WorkloadOptions options = read(chat({{"arrivals.rate_rps", "12.5"}}));
  EXPECT_EQ(options.generated.requests, 10'000U);
  EXPECT_EQ(arrivals_of<PoissonArrivals>(options).rate_rps, 12.5);
  const auto& prompt = std::get<LognormalLength>(options.generated.prompt_tokens.shape);
  EXPECT_EQ(prompt.mean, 512);
  EXPECT_EQ(prompt.cv, 0.7);
  EXPECT_EQ(options.generated.prompt_tokens.min, 1U);
  EXPECT_EQ(options.generated.prompt_tokens.max, kMostTokens);
  EXPECT_EQ(std::get<ConstantLength>(options.generated.output_tokens.shape).tokens, 256U);
  EXPECT_FALSE(options.trace);
}

TEST(WorkloadOptions, ReadEveryProcess) {
  EXPECT_EQ(arrivals_of<ConstantArrivals>(
                read(chat({{"arrivals.process", "constant"}, {"arrivals.rate_rps", "3"}})))
                .rate_rps,
            3);
  const auto gamma = arrivals_of<GammaArrivals>(read(
      chat({{"arrivals.process", "gamma"}, {"arrivals.rate_rps", "3"}, {"arrivals.cv", "2.5"}})));
  EXPECT_EQ(gamma.cv, 2.5);
  const auto bursty = arrivals_of<BurstyArrivals>(read(chat({{"arrivals.process", "bursty"},
                                                             {"arrivals.rate_rps", "3"},
                                                             {"arrivals.burst_factor", "8"},
                                                             {"arrivals.period_s", "0.5"},
                                                             {"arrivals.burst_fraction", "0.1"}})));
  EXPECT_EQ(bursty.burst_factor, 8);
  EXPECT_EQ(bursty.period, Duration::from_millis(500));
  EXPECT_EQ(bursty.burst_fraction, 0.1);
}

TEST(WorkloadOptions, ReadSchedulesByStartOrByDuration) {
  for (const std::string key : {"from_s", "duration_s"}) {
    const bool by_start = key == "from_s";
    ConfigNode node = chat({{"arrivals.process", "piecewise"}});
    ASSERT_TRUE(node.set_path("arrivals.schedule",
                              schedule({{{key, by_start ? "0" : "60"}, {"rate_rps", "5"}},
                                        {{key, by_start ? "60" : "30"}, {"rate_rps", "0"}},
                                        {{key, by_start ? "90" : "10"}, {"rate_rps", "20"}}})));
    const auto piecewise = arrivals_of<PiecewiseArrivals>(read(node));
    ASSERT_EQ(piecewise.schedule.size(), 3U);
    EXPECT_EQ(piecewise.schedule[0].duration, Duration::from_seconds(60));
    EXPECT_EQ(piecewise.schedule[1].duration, Duration::from_seconds(30));
    EXPECT_EQ(piecewise.schedule[1].rate_rps, 0);
    EXPECT_EQ(piecewise.schedule[2].rate_rps, 20);
    EXPECT_FALSE(piecewise.repeat);
  }
}

TEST(WorkloadOptions, RateScaleMultipliesEveryRateOfASchedule) {
  const auto scaled = [](const std::string& scale) {
    ConfigNode node = chat({{"arrivals.process", "piecewise"}, {"arrivals.rate_scale", scale}});
    EXPECT_TRUE(
        node.set_path("arrivals.schedule", schedule({{{"from_s", "0"}, {"rate_rps", "5"}},
                                                     {{"from_s", "60"}, {"rate_rps", "0"}},
                                                     {{"from_s", "90"}, {"rate_rps", "20"}}})));
    return node;
  };
  const auto piecewise = arrivals_of<PiecewiseArrivals>(read(scaled("2.5")));
  ASSERT_EQ(piecewise.schedule.size(), 3U);
  EXPECT_EQ(piecewise.schedule[0].rate_rps, 12.5);
  EXPECT_EQ(piecewise.schedule[0].duration, Duration::from_seconds(60));
  EXPECT_EQ(piecewise.schedule[1].rate_rps, 0);
  EXPECT_EQ(piecewise.schedule[2].rate_rps, 50);
  EXPECT_TRUE(error_of(scaled("1e6")).find("when it is multiplied by rate_scale") !=
              std::string::npos);
  EXPECT_TRUE(error_of(scaled("1e-5")).find("when it is multiplied by rate_scale") !=
              std::string::npos);
}

TEST(WorkloadOptions, RefuseSchedulesThatMakeNoSense) {
  const auto error = [](const std::vector<Keys>& pieces, const Keys& more) {
    Keys keys = more;
    keys.push_back({"arrivals.process", "piecewise"});
    ConfigNode node = chat(keys);
    EXPECT_TRUE(node.set_path("arrivals.schedule", schedule(pieces)).has_value());
    return error_of(node);
  };
  const Keys repeat = {{"arrivals.repeat", "true"}};
  EXPECT_EQ(error({}, {}), "arrivals.schedule: a list: expected a list of 1 to 100000 pieces");
  EXPECT_EQ(error({{{"rate_rps", "5"}}}, {}),
            "arrivals.schedule[0].from_s: expected either from_s or duration_s");
  EXPECT_EQ(error({{{"from_s", "0"}, {"duration_s", "5"}, {"rate_rps", "5"}}}, {}),
            "arrivals.schedule[0].from_s: '0': expected either from_s or duration_s");
  EXPECT_EQ(
      error({{{"from_s", "0"}, {"rate_rps", "5"}}, {{"duration_s", "4"}, {"rate_rps", "5"}}}, {}),
      "arrivals.schedule[1]: expected from_s in all pieces, or duration_s in all");
  EXPECT_EQ(error({{{"from_s", "2"}, {"rate_rps", "5"}}}, {}),
            "arrivals.schedule[0].from_s: '2': expected 0 in the first piece");
  EXPECT_EQ(error({{{"from_s", "0"}, {"rate_rps", "5"}}, {{"from_s", "0"}, {"rate_rps", "6"}}}, {}),
            "arrivals.schedule[1].from_s: '0': expected at least 0.001 s after the piece before");
  EXPECT_EQ(error({{{"duration_s", "5"}, {"rate_rps", "1e-9"}}}, {}),
            "arrivals.schedule[0].rate_rps: '1e-9': expected 0 or a number from 0.001 to 1000000");
  EXPECT_TRUE(error({{{"duration_s", "5"}, {"rate_rps", "0"}}}, {})
                  .starts_with("arrivals.schedule[0].rate_rps: '0': expected a rate above 0"));
  EXPECT_EQ(error({{{"duration_s", "5"}, {"rate_rps", "0"}}}, repeat),
            "arrivals.schedule: a list: expected a rate above 0 in some piece");
  EXPECT_TRUE(error({{{"from_s", "0"}, {"rate_rps", "5"}}}, repeat)
                  .starts_with("arrivals.schedule[0].from_s: '0': expected duration_s in all"));
  EXPECT_EQ(
      error({{{"duration_s", "5"}, {"rate_rps", "0"}}, {{"duration_s", "5"}, {"rate_rps", "2"}}},
            repeat),
      "no error");
}

TEST(WorkloadOptions, ReadEmpiricalLengths) {
  ConfigNode node = map_of({{"arrivals.rate_rps", "1"},
                            {"output_tokens.mean", "100"},
                            {"output_tokens.cv", "0"},
                            {"prompt_tokens.distribution", "empirical"},
                            {"prompt_tokens.max", "4096"}});
  ASSERT_TRUE(node.set_path("prompt_tokens.values", list({"100", "2000", "8000"})));
  ASSERT_TRUE(node.set_path("prompt_tokens.weights", list({"1", "0.5", "0.1"})));
  const WorkloadOptions options = read(node);
  const auto& empirical = std::get<EmpiricalLength>(options.generated.prompt_tokens.shape);
  EXPECT_EQ(empirical.values, (std::vector<std::uint32_t>{100, 2000, 8000}));
  EXPECT_EQ(empirical.weights, (std::vector<double>{1, 0.5, 0.1}));
  EXPECT_EQ(options.generated.prompt_tokens.max, 4096U);

  ASSERT_TRUE(node.set_path("prompt_tokens.weights", list({"1", "1"})));
  EXPECT_EQ(error_of(node),
            "prompt_tokens.weights: a list: expected as many weights as values, 3, not 2");
  ASSERT_TRUE(node.set_path("prompt_tokens.weights", list({"0", "0", "0"})));
  EXPECT_EQ(error_of(node), "prompt_tokens.weights: a list: expected a weight above 0");
  ASSERT_TRUE(node.set_path("prompt_tokens.values", list({"100", "2.5", "8000"})));
  EXPECT_EQ(error_of(node), "prompt_tokens.values: a list: expected whole numbers");
  ASSERT_TRUE(node.set_path("prompt_tokens.values", list({})));
  EXPECT_EQ(error_of(node),
            "prompt_tokens.values: a list: expected a list of 1 to 1000000 whole numbers");
}

TEST(WorkloadOptions, RefuseNumbersThatNobodyMeans) {
  const std::vector<std::pair<Keys, std::string>> cases = {
      {{{"arrivals.rate_rps", "-3"}}, "arrivals.rate_rps"},
      {{{"arrivals.rate_rps", "0"}}, "arrivals.rate_rps"},
      {{{"arrivals.rate_rps", "nan"}}, "arrivals.rate_rps"},
      {{{"arrivals.rate_rps", "1e308"}}, "arrivals.rate_rps"},
      {{{"requests", "0"}, {"arrivals.rate_rps", "1"}}, "requests"},
      {{{"requests", "1e308"}, {"arrivals.rate_rps", "1"}}, "requests"},
      {{{"requests", "2000000000"}, {"arrivals.rate_rps", "1"}}, "requests"},
      {{{"requests", "1e9"}, {"arrivals.rate_rps", "0.5"}}, "requests"},
      {{{"arrivals.rate_rps", "1"}, {"prompt_tokens.mean", "1e308"}}, "prompt_tokens.mean"},
      {{{"arrivals.rate_rps", "1"}, {"prompt_tokens.mean", "0"}}, "prompt_tokens.mean"},
      {{{"arrivals.rate_rps", "1"}, {"prompt_tokens.cv", "-1"}}, "prompt_tokens.cv"},
      {{{"arrivals.rate_rps", "1"}, {"prompt_tokens.cv", "1e308"}}, "prompt_tokens.cv"},
      {{{"arrivals.rate_rps", "1"}, {"prompt_tokens.min", "9"}, {"prompt_tokens.max", "8"}},
       "prompt_tokens.max"},
      {{{"arrivals.rate_rps", "1"}, {"output_tokens.value", "0"}}, "output_tokens.value"},
      {{{"arrivals.rate_rps", "1"}, {"output_tokens.value", "1.5"}}, "output_tokens.value"},
      {{{"arrivals.rate_rps", "1"}, {"arrivals.process", "gamma"}, {"arrivals.cv", "0"}},
       "arrivals.cv"},
      {{{"arrivals.rate_rps", "1"}, {"arrivals.process", "bursty"}, {"arrivals.burst_factor", "1"}},
       "arrivals.burst_factor"},
      {{{"arrivals.rate_rps", "1"},
        {"arrivals.process", "bursty"},
        {"arrivals.burst_fraction", "1"}},
       "arrivals.burst_fraction"},
      {{{"arrivals.rate_rps", "1"}, {"arrivals.process", "bursty"}, {"arrivals.period_s", "1e308"}},
       "arrivals.period_s"},
      // A key of another choice, and a process that does not exist.
      {{{"arrivals.rate_rps", "1"}, {"arrivals.cv", "2"}}, "unknown key 'arrivals.cv'"},
      {{{"arrivals.rate_rps", "1"}, {"arrivals.process", "poison"}}, "arrivals.process"},
      {{}, "arrivals.rate_rps: missing"},
  };
  for (const auto& [keys, begin] : cases) {
    const std::string error = error_of(chat(keys));
    EXPECT_TRUE(error.starts_with(begin)) << error << " does not begin with " << begin;
  }
}

TEST(WorkloadOptions, ReadATraceInsteadOfTheFour) {
  const WorkloadOptions options = read(map_of({{"trace.file", "azure.csv"},
                                               {"trace.format", "azure2023"},
                                               {"trace.sort", "true"},
                                               {"trace.skip_failed", "true"},
                                               {"trace.limit", "100"},
                                               {"trace.jitter_ms", "2.5"}}));
  ASSERT_TRUE(options.trace);
  EXPECT_EQ(options.trace->file, "azure.csv");
  EXPECT_EQ(options.trace->format, TraceFormat::kAzure2023);
  EXPECT_TRUE(options.trace->sort);
  EXPECT_TRUE(options.trace->skip_failed);
  EXPECT_EQ(options.trace->limit, 100U);
  EXPECT_EQ(options.trace->jitter, Duration::nanos(2'500'000));

  const WorkloadOptions plain = read(map_of({{"trace.file", "azure.csv"}}));
  EXPECT_EQ(plain.trace->format, std::nullopt);
  EXPECT_FALSE(plain.trace->sort);
  EXPECT_EQ(plain.trace->limit, std::nullopt);
  EXPECT_EQ(plain.trace->jitter, Duration());
}

TEST(WorkloadOptions, RefuseATraceBesideAnyOfTheFour) {
  const Keys trace = {{"trace.file", "a.csv"}};
  for (const Keys& other : {Keys{{"requests", "5"}}, Keys{{"arrivals.rate_rps", "5"}},
                            Keys{{"prompt_tokens.mean", "5"}}, Keys{{"output_tokens.mean", "5"}}}) {
    Keys keys = trace;
    keys.insert(keys.end(), other.begin(), other.end());
    const std::string error = error_of(map_of(keys));
    EXPECT_NE(error.find("expected no such key beside trace"), std::string::npos) << error;
  }
  EXPECT_TRUE(error_of(map_of({{"trace.fil", "a.csv"}})).starts_with("unknown key 'trace.fil'"));
  EXPECT_TRUE(error_of(map_of({{"trace.sort", "true"}})).starts_with("trace.file: missing"));
}

TEST(WorkloadOptions, ReadWhatPromptsShare) {
  const WorkloadOptions none = read(chat({{"arrivals.rate_rps", "1"}}));
  EXPECT_FALSE(none.shared_prefix);
  EXPECT_FALSE(none.generated.prefixes);
  EXPECT_FALSE(none.generated.conversations);

  const Keys shared = {{"shared_prefix.tokens", "300"}, {"shared_prefix.hit_probability", "0.25"}};
  Keys keys = shared;
  keys.push_back({"arrivals.rate_rps", "1"});
  EXPECT_EQ(read(chat(keys)).shared_prefix->tokens, 300U);
  keys = shared;
  keys.push_back({"trace.file", "a.csv"});
  EXPECT_EQ(read(map_of(keys)).shared_prefix->hit_probability, 0.25) << "beside a trace too";

  const WorkloadOptions options = read(chat({{"arrivals.rate_rps", "1"},
                                             {"prefixes.tenants", "50"},
                                             {"prefixes.zipf_exponent", "1.1"},
                                             {"prefixes.system_prompt_tokens.mean", "800"},
                                             {"prefixes.system_prompt_tokens.cv", "0.5"},
                                             {"conversations.turns.distribution", "constant"},
                                             {"conversations.turns.value", "4"},
                                             {"conversations.think_time.mean_s", "12"},
                                             {"conversations.answer_ms_per_token", "15"},
                                             {"conversations.max_context_tokens", "4096"}}));
  const PrefixOptions& prefixes = *options.generated.prefixes;
  EXPECT_EQ(prefixes.tenants, 50U);
  EXPECT_EQ(prefixes.zipf_exponent, 1.1);
  EXPECT_EQ(std::get<LognormalLength>(prefixes.system_prompt_tokens.shape).mean, 800);
  const ConversationOptions& conversations = *options.generated.conversations;
  EXPECT_EQ(std::get<ConstantLength>(conversations.turns.shape).tokens, 4U);
  EXPECT_EQ(conversations.turns.max, kMostTurns);
  EXPECT_EQ(conversations.think_time.shape, DelayShape::kExponential);
  EXPECT_EQ(conversations.think_time.mean_s, 12);
  EXPECT_EQ(conversations.answer_base, Duration::from_seconds(1));
  EXPECT_EQ(conversations.answer_per_token, Duration::from_millis(15));
  EXPECT_EQ(conversations.max_context_tokens, 4096U);
}

TEST(WorkloadOptions, RefuseWhatPromptsCannotShare) {
  const std::vector<std::pair<Keys, std::string>> cases = {
      {{{"shared_prefix.tokens", "0"}}, "shared_prefix.tokens: '0'"},
      {{{"shared_prefix.tokens", "5"}}, "shared_prefix.hit_probability: missing"},
      {{{"shared_prefix.tokens", "5"}, {"shared_prefix.hit_probability", "1.1"}},
       "shared_prefix.hit_probability: '1.1'"},
      {{{"prefixes.tenants", "0"}}, "prefixes.tenants: '0'"},
      {{{"prefixes.tenants", "2"}}, "prefixes.system_prompt_tokens.mean: missing"},
      {{{"prefixes.tenants", "2"},
        {"prefixes.system_prompt_tokens.mean", "5"},
        {"prefixes.system_prompt_tokens.cv", "0"},
        {"prefixes.zipf_exponent", "-1"}},
       "prefixes.zipf_exponent: '-1'"},
      {{{"prefixes.tenants", "2"},
        {"prefixes.system_prompt_tokens.mean", "5"},
        {"prefixes.system_prompt_tokens.cv", "0"},
        {"shared_prefix.tokens", "5"},
        {"shared_prefix.hit_probability", "1"}},
       "shared_prefix: a map: expected no such key beside prefixes or conversations"},
      {{{"conversations.turns.mean", "20000"}}, "conversations.turns.mean: '20000'"},
      {{{"conversations.turns.mean", "2"}, {"conversations.turns.cv", "1"}},
       "conversations.think_time.mean_s: missing"},
      {{{"conversations.turns.mean", "2"},
        {"conversations.turns.cv", "1"},
        {"conversations.think_time.distribution", "lognormal"},
        {"conversations.think_time.mean_s", "0"}},
       "conversations.think_time.mean_s: '0'"},
      {{{"conversations.turns.mean", "2"},
        {"conversations.turns.cv", "1"},
        {"conversations.think_time.mean_s", "5"},
        {"conversations.think_time.min_s", "3"},
        {"conversations.think_time.max_s", "2"}},
       "conversations.think_time.max_s: '2': expected at least min_s"},
      {{{"conversations.max_context_tokens", "15"}}, "conversations.turns.mean: missing"},
  };
  for (const auto& [keys, begin] : cases) {
    Keys all = keys;
    all.push_back({"arrivals.rate_rps", "1"});
    const std::string error = error_of(chat(all));
    EXPECT_TRUE(error.starts_with(begin)) << error << " does not begin with " << begin;
  }
  EXPECT_TRUE(error_of(map_of({{"trace.file", "a.csv"}, {"prefixes.tenants", "2"}}))
                  .starts_with("prefixes: a map: expected no such key beside trace"));
  ConfigNode without = map_of({{"trace.file", "a.csv"}});
  ASSERT_TRUE(without.set_path("prefixes", ConfigNode::null(here())));
  EXPECT_EQ(error_of(without), "no error");
}

TEST(WorkloadOptions, ReadWhenSessionsOfATraceBegin) {
  const WorkloadOptions options = read(map_of({{"trace.file", "calls.csv"},
                                               {"trace.format", "claude_code_csv"},
                                               {"trace.session_arrivals.rate_rps", "0.02"}}));
  EXPECT_EQ(options.trace->format, TraceFormat::kClaudeCodeCsv);
  EXPECT_EQ(std::get<PoissonArrivals>(*options.trace->session_arrivals).rate_rps, 0.02);
  EXPECT_FALSE(read(map_of({{"trace.file", "calls.csv"}})).trace->session_arrivals);
}

TEST(WorkloadOptions, DescribeEveryKeyOnceWithItsCondition) {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode empty;
  ConfigReader reader(empty, session);
  read_workload_options(reader);
  EXPECT_FALSE(session.failed());
  std::vector<std::string> seen;
  for (const KeyDescription& key : session.descriptions()) {
    EXPECT_FALSE(key.doc.empty()) << key.path;
    const bool is_number = key.type == "number" || key.type == "integer";
    EXPECT_TRUE(!is_number || !key.unit.empty()) << key.path;
    seen.push_back(key.path + (key.condition.empty() ? "" : " if " + key.condition));
  }
  for (const char* wanted :
       {"requests", "arrivals.process", "arrivals.rate_rps", "arrivals.cv if process: gamma",
        "arrivals.period_s if process: bursty",
        "arrivals.schedule[].duration_s if process: piecewise",
        "prompt_tokens.mean if distribution: lognormal",
        "output_tokens.values if distribution: empirical", "output_tokens.max", "trace.file",
        "trace.jitter_ms", "trace.session_arrivals.rate_rps", "shared_prefix.tokens",
        "prefixes.system_prompt_tokens.mean if distribution: lognormal", "conversations.turns.max",
        "conversations.think_time.cv if distribution: lognormal"}) {
    EXPECT_EQ(std::count(seen.begin(), seen.end(), wanted), 1) << wanted;
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << "a key is there twice";
}

}  // namespace
}  // namespace inferscale

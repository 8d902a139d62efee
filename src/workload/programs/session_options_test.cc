// Reading workload.sessions: what must be written, presets, and one clear error for each nonsense.

#include "workload/programs/session_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/exact_math.h"
#include "workload/programs/generate_programs.h"
#include "workload/workload_options.h"

namespace inferscale {
namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

const Keys kRate = {{"arrivals.rate_rps", "0.5"}};

// Keys below `sessions`, and the arrivals that a workload needs.
ConfigNode workload(const Keys& keys, const Keys& beside = kRate) {
  const SourcePosition here{"run.yaml", 1};
  ConfigNode node = ConfigNode::map(here);
  EXPECT_TRUE(node.set_path("sessions", ConfigNode::map(here)));
  const auto scalar = [&](const std::string& text) {
    return text == "null" ? ConfigNode::null(here) : ConfigNode::scalar(text, false, here);
  };
  for (const auto& [path, text] : keys) {
    EXPECT_TRUE(node.set_path("sessions." + path, scalar(text))) << path;
  }
  for (const auto& [path, text] : beside) EXPECT_TRUE(node.set_path(path, scalar(text))) << path;
  return node;
}

// A configuration without a preset that has all it needs, and `more`.
Keys plain(const Keys& more = {}) {
  Keys keys = {{"turns.distribution", "constant"},
               {"turns.value", "4"},
               {"first_prompt_tokens.mean", "100"},
               {"first_prompt_tokens.cv", "1"},
               {"appended_tokens.distribution", "constant"},
               {"appended_tokens.value", "10"},
               {"output_tokens.distribution", "constant"},
               {"output_tokens.value", "5"},
               {"tool_gap.mean_s", "2"}};
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

Keys without(Keys keys, const std::string& beginning) {
  std::erase_if(keys, [&](const auto& key) { return key.first.rfind(beginning, 0) == 0; });
  return keys;
}

WorkloadOptions read(const ConfigNode& node) {
  ConfigSession session;
  ConfigReader reader(node, session);
  WorkloadOptions options = read_workload_options(reader);
  EXPECT_FALSE(session.failed()) << session.error().to_string();
  EXPECT_TRUE(options.sessions.has_value());
  return options;
}

std::string error_of(const ConfigNode& node) {
  ConfigSession session;
  ConfigReader reader(node, session);
  read_workload_options(reader);
  return session.failed() ? session.error().message : "no error";
}

const LognormalLength& lognormal(const LengthOptions& options) {
  return std::get<LognormalLength>(options.shape);
}

TEST(SessionOptions, WithoutAPresetFillInTheRest) {
  const WorkloadOptions options = read(workload(plain()));
  const SessionOptions& sessions = *options.sessions;
  EXPECT_EQ(std::get<PoissonArrivals>(options.generated.arrivals).rate_rps, 0.5);
  EXPECT_EQ(sessions.generated.count, 100U);
  EXPECT_EQ(std::get<ConstantLength>(sessions.generated.turns.shape).tokens, 4U);
  EXPECT_EQ(lognormal(sessions.generated.first_prompt_tokens).mean, 100);
  EXPECT_EQ(sessions.generated.tool_gap.mean_s, 2);
  EXPECT_EQ(sessions.generated.tool_gap.shape, DelayShape::kExponential);
  EXPECT_EQ(sessions.generated.system_prompt_tokens, 0U);
  EXPECT_EQ(sessions.generated.max_context_tokens, 200'000U);
  EXPECT_EQ(sessions.generated.person_share, 0);
  EXPECT_FALSE(sessions.generated.spawns);
  EXPECT_FALSE(sessions.trace);
  EXPECT_FALSE(sessions.makespan);
  EXPECT_TRUE(sessions.preset.empty());
  EXPECT_EQ(sessions.retries.most, 0);
  EXPECT_EQ(sessions.retries.delay, Duration::from_seconds(1));
}

TEST(SessionOptions, ReadEverything) {
  const SessionOptions sessions = *read(workload(plain({{"count", "7"},
                                                        {"system_prompt_tokens", "900"},
                                                        {"max_context_tokens", "32000"},
                                                        {"person_share", "0.25"},
                                                        {"person_gap.mean_s", "60"},
                                                        {"spawns.probability", "0.5"},
                                                        {"spawns.calls.distribution", "constant"},
                                                        {"spawns.calls.value", "3"},
                                                        {"spawns.turns.distribution", "constant"},
                                                        {"spawns.turns.value", "1"},
                                                        {"spawns.first_prompt_tokens.mean", "50"},
                                                        {"spawns.first_prompt_tokens.cv", "0"},
                                                        {"spawns.fork", "true"},
                                                        {"retries.most", "3"},
                                                        {"retries.delay_s", "0.5"},
                                                        {"makespan_s", "600"}})))
                                       .sessions;
  EXPECT_EQ(sessions.generated.count, 7U);
  EXPECT_EQ(sessions.generated.system_prompt_tokens, 900U);
  EXPECT_EQ(sessions.generated.max_context_tokens, 32'000U);
  EXPECT_EQ(sessions.generated.person_share, 0.25);
  EXPECT_EQ(sessions.generated.person_gap.mean_s, 60);
  ASSERT_TRUE(sessions.generated.spawns);
  EXPECT_EQ(sessions.generated.spawns->probability, 0.5);
  EXPECT_EQ(std::get<ConstantLength>(sessions.generated.spawns->calls.shape).tokens, 3U);
  EXPECT_TRUE(sessions.generated.spawns->fork);
  EXPECT_EQ(sessions.retries.most, 3);
  EXPECT_EQ(sessions.retries.delay, Duration::from_millis(500));
  EXPECT_EQ(sessions.makespan, Duration::from_seconds(600));
}

TEST(SessionOptions, ReadTraces) {
  const SessionOptions sessions = *read(workload({{"trace.file", "sessions.jsonl.gz"},
                                                  {"trace.format", "tracelab_jsonl"},
                                                  {"trace.drop_duplicates", "false"},
                                                  {"trace.limit", "12"},
                                                  {"trace.longest_gap_s", "3600"}}))
                                       .sessions;
  ASSERT_TRUE(sessions.trace);
  EXPECT_EQ(sessions.trace->file, "sessions.jsonl.gz");
  EXPECT_EQ(sessions.trace->format, SessionTraceFormat::kTraceLabJsonl);
  EXPECT_FALSE(sessions.trace->drop_duplicates);
  EXPECT_EQ(sessions.trace->limit, 12U);
  EXPECT_EQ(sessions.trace->longest_gap, Duration::from_seconds(3600));
  const SessionOptions shortest = *read(workload({{"trace.file", "x"}})).sessions;
  EXPECT_FALSE(shortest.trace->format);
  EXPECT_TRUE(shortest.trace->drop_duplicates);
  EXPECT_FALSE(shortest.trace->limit);
  EXPECT_FALSE(shortest.trace->longest_gap);
}

TEST(SessionOptions, FormatsHaveNames) {
  for (const SessionTraceFormat format :
       {SessionTraceFormat::kClaudeCodeCsv, SessionTraceFormat::kClaudeCodeJsonl,
        SessionTraceFormat::kSessionCallsJsonl, SessionTraceFormat::kTraceLabJsonl,
        SessionTraceFormat::kMooncakeJsonl}) {
    const std::string name(session_trace_format_name(format));
    EXPECT_EQ(session_trace_format_named(name), format) << name;
    EXPECT_EQ(read(workload({{"trace.file", "x"}, {"trace.format", name}})).sessions->trace->format,
              format);
  }
  EXPECT_FALSE(session_trace_format_named("auto"));
}

TEST(SessionPresets, EachIsAWholeConfiguration) {
  for (const std::string preset : {"coding_agent", "coding_agent_tracelab", "short_tasks"}) {
    const SessionOptions sessions = *read(workload({{"preset", preset}})).sessions;
    EXPECT_EQ(sessions.preset, preset);
    EXPECT_EQ(sessions.generated.person_share > 0, preset != "short_tasks") << preset;
    EXPECT_EQ(sessions.generated.count, 100U);
    EXPECT_GT(sessions.generated.system_prompt_tokens, 1000U);
    const Programs programs =
        generate_programs(sessions.generated, PoissonArrivals{.rate_rps = 1}, 3);
    EXPECT_EQ(broken_structure(programs), nullptr);
    EXPECT_GT(programs.turns.size(), 1000U);
  }
}

TEST(SessionPresets, GiveWayToWhatIsWrittenKeyByKey) {
  const SessionOptions preset = *read(workload({{"preset", "coding_agent"}})).sessions;
  const SessionOptions sessions = *read(workload({{"preset", "coding_agent"},
                                                  {"turns.distribution", "constant"},
                                                  {"turns.value", "9"},
                                                  {"output_tokens.mean", "77"},
                                                  {"tool_gap.distribution", "exponential"},
                                                  {"tool_gap.mean_s", "3"},
                                                  {"person_share", "0"},
                                                  {"person_gap", "null"}}))
                                       .sessions;
  EXPECT_EQ(std::get<ConstantLength>(sessions.generated.turns.shape).tokens, 9U);
  EXPECT_EQ(lognormal(sessions.generated.output_tokens).mean, 77);
  EXPECT_EQ(lognormal(sessions.generated.output_tokens).cv,
            lognormal(preset.generated.output_tokens).cv);
  EXPECT_EQ(sessions.generated.tool_gap.mean_s, 3);
  EXPECT_EQ(sessions.generated.tool_gap.min, Duration()) << "the preset's least is another's";
  EXPECT_EQ(sessions.generated.person_share, 0);
  EXPECT_EQ(lognormal(sessions.generated.appended_tokens).mean,
            lognormal(preset.generated.appended_tokens).mean);
}

// The tree that a run writes down as its configuration is one that reads the same.
TEST(SessionPresets, AreWrittenOutInTheEffectiveConfiguration) {
  ConfigSession session;
  const ConfigNode written = workload({{"preset", "coding_agent"}, {"turns.mean", "50"}});
  ConfigReader reader(written, session);
  const SessionOptions first = *read_workload_options(reader).sessions;
  const ConfigNode& effective = session.effective();
  const ConfigNode* sessions = effective.find("sessions");
  ASSERT_NE(sessions, nullptr);
  const auto text = [&](const char* map, const char* key) {
    const ConfigNode* value = sessions->find(map);
    value = value == nullptr ? nullptr : value->find(key);
    return value == nullptr ? "nothing" : value->text();
  };
  EXPECT_EQ(text("turns", "mean"), "50");
  EXPECT_EQ(text("turns", "cv"), "1.214");
  EXPECT_EQ(text("person_gap", "mean_s"), "1507");
  EXPECT_EQ(text("tool_gap", "max_s"), "1000000");
  ASSERT_NE(sessions->find("system_prompt_tokens"), nullptr);

  const SessionOptions second = *read(effective).sessions;
  EXPECT_EQ(second.preset, first.preset);
  const Programs a = generate_programs(first.generated, PoissonArrivals{.rate_rps = 1}, 3);
  const Programs b = generate_programs(second.generated, PoissonArrivals{.rate_rps = 1}, 3);
  ASSERT_EQ(a.turns.size(), b.turns.size());
  for (std::size_t i = 0; i < a.turns.size(); ++i) {
    ASSERT_EQ(a.turns[i].prompt_tokens, b.turns[i].prompt_tokens);
    ASSERT_EQ(a.turns[i].gap, b.turns[i].gap);
  }
}

TEST(SessionOptions, MissingKeysAreNamed) {
  for (const std::string key :
       {"turns", "first_prompt_tokens", "appended_tokens", "output_tokens", "tool_gap"}) {
    EXPECT_EQ(error_of(workload(without(plain(), key))).find("sessions." + key + "."), 0U)
        << error_of(workload(without(plain(), key)));
  }
  EXPECT_NE(error_of(workload({{"trace.limit", "3"}})).find("sessions.trace.file: missing"),
            std::string::npos);
  EXPECT_NE(error_of(workload(plain(), {})).find("arrivals.rate_rps: missing"), std::string::npos);
}

TEST(SessionOptions, NonsenseIsAnError) {
  const std::vector<std::pair<Keys, std::string>> cases = {
      {{{"person_share", "0.1"}}, "sessions.person_gap: expected how long people take"},
      {{{"person_share", "1.5"}}, "sessions.person_share: '1.5': expected a number"},
      {{{"count", "0"}}, "sessions.count: '0': expected a whole number"},
      {{{"preset", "coding"}}, "sessions.preset: 'coding': expected"},
      {{{"max_context_tokens", "1000"}, {"system_prompt_tokens", "999"}},
       "sessions.system_prompt_tokens: '999': expected at least 2 tokens less than "
       "max_context_tokens (1000)"},
      {{{"turn", "3"}}, "unknown key 'sessions.turn' (value '3'): did you mean 'turns'?"},
      {{{"spawns.probability", "0.5"}}, "sessions.spawns.calls.mean: missing"},
      {{{"retries.often", "3"}}, "unknown key 'sessions.retries.often'"},
      {{{"makespan_s", "0"}}, "sessions.makespan_s: '0': expected a number greater than 0"},
      {{{"count", "1000000"}, {"turns.value", "101"}},
       "sessions.count: '1000000': expected at most 100 million calls in all"},
  };
  for (const auto& [keys, expected] : cases) {
    const std::string error = error_of(workload(plain(keys)));
    EXPECT_NE(error.find(expected), std::string::npos) << error << "\n  not: " << expected;
  }
}

TEST(SessionOptions, OneWayToSayWhatThereIs) {
  const std::vector<std::string> generated = {"count",
                                              "preset",
                                              "turns.mean",
                                              "first_prompt_tokens.mean",
                                              "output_tokens.cv",
                                              "appended_tokens.mean",
                                              "system_prompt_tokens",
                                              "max_context_tokens",
                                              "tool_gap.mean_s",
                                              "person_share",
                                              "person_gap.mean_s",
                                              "spawns.probability"};
  for (const std::string& key : generated) {
    const std::string value = key == "preset" ? "short_tasks" : "1";
    const std::string error = error_of(workload({{"trace.file", "x"}, {key, value}}));
    EXPECT_NE(error.find("sessions." + key.substr(0, key.find('.')) + ": "), std::string::npos)
        << error;
    EXPECT_NE(error.find("expected no such key beside trace"), std::string::npos) << error;
  }
  for (const std::string key :
       {"requests", "prompt_tokens.mean", "output_tokens.mean", "trace.file",
        "conversations.turns.mean", "prefixes.tenants", "shared_prefix.tokens"}) {
    Keys beside = kRate;
    beside.emplace_back(key, "3");
    const std::string error = error_of(workload(plain(), beside));
    EXPECT_EQ(error.find(key.substr(0, key.find('.')) + ": "), 0U) << error;
    EXPECT_NE(error.find("expected no such key beside sessions"), std::string::npos) << error;
  }
}

TEST(SessionOptions, SessionsBeginWithinTheTimeThereIs) {
  const SourcePosition here{"run.yaml", 1};
  ConfigNode schedule = ConfigNode::list(here);
  for (const auto& [seconds, rate] : {std::pair{"1", "0.001"}, std::pair{"99", "0"}}) {
    ConfigNode piece = ConfigNode::map(here);
    EXPECT_TRUE(piece.set_path("duration_s", ConfigNode::scalar(seconds, false, here)));
    EXPECT_TRUE(piece.set_path("rate_rps", ConfigNode::scalar(rate, false, here)));
    schedule.append(piece);
  }
  for (const auto& [count, expected] :
       {std::pair{"9000", "no error"}, std::pair{"11000",
                                                 "sessions: a map: expected so many "
                                                 "that they begin within 1e9 s"}}) {
    ConfigNode node = workload(plain({{"count", count}}),
                               {{"arrivals.process", "piecewise"}, {"arrivals.repeat", "true"}});
    EXPECT_TRUE(node.set_path("arrivals.schedule", schedule));
    EXPECT_EQ(error_of(node).find(expected), 0U) << error_of(node);
  }
}

TEST(SessionOptions, EveryKeyIsDescribedOnce) {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode nothing;
  ConfigReader reader(nothing, session);
  read_workload_options(reader);
  std::vector<std::string> paths;
  for (const KeyDescription& key : session.descriptions()) {
    if (key.path.rfind("sessions", 0) != 0) continue;
    EXPECT_FALSE(key.doc.empty()) << key.path;
    paths.push_back(key.path + " " + key.condition);
  }
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(std::adjacent_find(paths.begin(), paths.end()), paths.end());
  for (const std::string key : {"sessions.count ",
                                "sessions.preset ",
                                "sessions.turns ",
                                "sessions.first_prompt_tokens ",
                                "sessions.appended_tokens ",
                                "sessions.output_tokens ",
                                "sessions.system_prompt_tokens ",
                                "sessions.tool_gap ",
                                "sessions.person_gap ",
                                "sessions.person_share ",
                                "sessions.spawns ",
                                "sessions.spawns.fork ",
                                "sessions.max_context_tokens ",
                                "sessions.retries.most ",
                                "sessions.retries.delay_s ",
                                "sessions.makespan_s ",
                                "sessions.trace.file ",
                                "sessions.trace.format ",
                                "sessions.trace.drop_duplicates ",
                                "sessions.trace.limit ",
                                "sessions.trace.longest_gap_s "}) {
    EXPECT_TRUE(std::binary_search(paths.begin(), paths.end(), key)) << key;
  }
}

}  // namespace
}  // namespace inferscale

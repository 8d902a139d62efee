// What people read of a search for a policy's parameters, from a result.json by hand.

#include "report/studies/tune/tune_text.h"

#include <gtest/gtest.h>

#include "report/json_fields.h"

namespace inferscale {
namespace {

Json spread(double mean) {
  return {{"mean", mean}, {"sd", 0.01}, {"min", mean}, {"max", mean}};
}

Json level(double goodput, double rejected) {
  return {{"goodput", spread(goodput)},
          {"rejected_share", spread(rejected)},
          {"deferred_share", spread(0)},
          {"ttft_ms_p95", spread(431.2)}};
}

Json side(const std::string& policy, const Json& parameters, double worst) {
  Json json = {{"policy", policy},
               {"parameters", parameters},
               {"worst_case", worst},
               {"worst_at_load_factor", 2},
               {"failure", nullptr}};
  json["at_loads"] = {level(1, 0), level(worst, 0.31)};
  return json;
}

Json control(const std::string& policy, const Json& parameters, double worst,
             const std::string& verdict, const Json& interval) {
  return {{"verdict", verdict},           {"difference", 0.52 - worst},
          {"interval", interval},         {"better_seeds", 9},
          {"search_worst_case", nullptr}, {"side", side(policy, parameters, worst)}};
}

Json found() {
  Json json = Json::parse(R"({"kind":"tune","simulated":true,"scenario":"chat.yaml",
      "policy":"queue_depth","metric":"goodput","slo":{"ttft_ms":500,"itl_ms":null,"e2e_ms":null},
      "repeats":3,"fresh_repeats":10,"seed":42,"fresh_seed":1000042,"confidence":0.95,
      "capacity":19.5,"capacity_measured":true,"unit":"requests/s",
      "loads":[{"factor":0.5,"load":9.75,"settings":{}},{"factor":2,"load":39,"settings":{}}],
      "searched":[{"parameter":"max_waiting","min":1,"max":256,"scale":"log","whole":true}],
      "candidates":16,"as_good_within":0.01,
      "best":{"parameters":{"max_waiting":23},"worst_case":0.531},
      "as_good":[{"parameters":{"max_waiting":19},"worst_case":0.525},
                 {"parameters":{"max_waiting":23},"worst_case":0.531}],
      "tuned_interval":{"low":0.51,"high":0.53},"failures":[],"notes":["A note."],
      "trials":[{"parameters":{"max_waiting":1},"worst_case":0.3},
                {"parameters":{"max_waiting":19},"worst_case":0.525},
                {"parameters":{"max_waiting":23},"worst_case":0.531},
                {"parameters":{"max_waiting":256},"worst_case":null}]})");
  const Json set = Json::parse(R"([{"max_waiting":23}])");
  const Json empty = Json::parse("[{}]");
  json["tuned"] = side("queue_depth", set, 0.52);
  json["controls"] = {control("none", empty, 0.02, "better", {{"low", 0.49}, {"high", 0.51}}),
                      control("fixed_concurrency", Json::parse(R"([{"limit":80}])"), 0.515,
                              "does_not_matter", {{"low", -0.01}, {"high", 0.02}}),
                      control("equal_volume_shed", Json::parse(R"([{"rate":0},{"rate":0.31}])"),
                              0.4, "better", {{"low", 0.1}, {"high", 0.14}})};
  return json;
}

std::string text_of(const Json& result) {
  const Result<std::string> text = tune_text(result.dump(), PlotGlyphs::kAscii);
  return text ? *text : text.error().to_string();
}

// Wherever lines end.
std::string flat(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || (!out.empty() && out.back() != ' ')) out += space ? ' ' : c;
  }
  return out;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in\n" << text;
}

TEST(TuneText, SaysWhatToSetWhatItGivesAndAgainstWhat) {
  const std::string text = flat(text_of(found()));
  expect_part(text,
              "Tuning queue_depth for chat.yaml (simulated) Set queue_depth: "
              "max_waiting 23 Gives");
  expect_part(text,
              "worst-case goodput 0.52 (95 % interval 0.51 to 0.53), at load factor 2, on 10");
  expect_part(text, "in the search, 0.531");
  expect_part(text,
              "none: better, +0.5 (95 % interval +0.49 to +0.51), and higher in 9 of 10 seeds.");
  expect_part(text,
              "fixed_concurrency (limit 80): does not matter, +0.005 (95 % interval -0.01 to");
  expect_part(text, "equal_volume_shed, its volume at each load: better, +0.12");
  expect_part(text, "2 candidates from max_waiting 19 to 23");
  expect_part(text, "the capacity, 19.5 requests/s, was measured without a policy.");
  expect_part(text, "31.0 %");
  expect_part(text, "Note: A note.");
}

TEST(TuneText, HasWordsForEveryVerdict) {
  Json result = found();
  const auto with = [&](const std::string& verdict) {
    result["controls"][0]["verdict"] = verdict;
    result["controls"][0]["interval"] = nullptr;
    return text_of(result);
  };
  expect_part(with("worse"), "none: worse, +0.5");
  expect_part(with("identical"), "none: the same on every seed.");
  expect_part(with("differs"), "none: +0.5 on this one workload");
  expect_part(with("too_few"), "10 seeds are too few to say more");
  result["controls"][0]["side"]["failure"] = "no room";
  expect_part(with("not_comparable"), "none: not comparable: no room.");
}

TEST(TuneText, RefusesWhatIsNoResultOfTheKind) {
  Json result = found();
  result["kind"] = "ab";
  expect_part(text_of(result), "kind 'ab': expected 'tune'");
  result = found();
  result.erase("capacity");
  expect_part(text_of(result), "capacity");
  result = found();
  result["tuned"]["at_loads"].erase(0);
  expect_part(text_of(result), "expected one for each load");
  result = found();
  result["best"]["parameters"] = Json::object();
  expect_part(text_of(result), "max_waiting");
}

}  // namespace
}  // namespace inferscale

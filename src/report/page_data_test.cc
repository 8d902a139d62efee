#include "report/page_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/edge/test_folder.h"
#include "report/report.h"
#include "report/run_folder_writer.h"
#include "report/sample_run.h"

namespace inferscale {
namespace {

using nlohmann::json;

json page_data(const SampleRunOptions& options) {
  const TestFolder folder;
  EXPECT_TRUE(write_run_folder(folder / "run", SampleRun(options).record()));
  const Result<RunFolder> run = read_run_folder(folder / "run");
  if (run) return json::parse(page_data_json(*run));
  ADD_FAILURE() << run.error().to_string();
  return {};
}

std::string page(const SampleRunOptions& options) {
  const TestFolder folder;
  EXPECT_TRUE(write_run_folder(folder / "run", SampleRun(options).record()));
  return render_report(folder / "run").value_or("");
}

TEST(PageData, HoldsTheFilesAndTheSeriesOfEveryPlot) {
  const json data = page_data({.requests = 1000});
  EXPECT_EQ(data["manifest"]["config"]["deployment"]["model"], "llama-3.1-8b");
  EXPECT_EQ(data["summary"]["requests"]["arrived"], 1000);
  const json& series = data["series"];
  EXPECT_EQ(series["cdf"]["ttft"]["count"], 1000);
  EXPECT_EQ(series["cdf"]["e2e"]["percent"].back(), 100.0);
  EXPECT_NEAR(series["cdf"]["ttft"]["ms"].back().get<double>(),
              data["summary"]["ttft_ms"]["max"].get<double>(), 1);
  EXPECT_EQ(series["scatter"]["ms"].size(), 1000U);
  EXPECT_EQ(series["scatter"]["t_s"].size(), 1000U);
  const std::string verdicts = series["scatter"]["verdict"];
  EXPECT_EQ(std::count(verdicts.begin(), verdicts.end(), '+'), data["summary"]["slo"]["met"]);
  EXPECT_EQ(series["lengths"]["prompt"]["max"].get<int>() > 512, true);
  EXPECT_EQ(series["timeline"]["t_s"].size(), series["timeline"]["kv"]["mean"].size());
  EXPECT_TRUE(series["timeline"]["kv"]["max"].is_null());  // one replica, nothing thinned
}

TEST(PageData, AFleetHasATable) {
  EXPECT_TRUE(page_data({.requests = 50})["fleet"].is_null());
  const json few = page_data({.requests = 200, .replicas = 5})["fleet"];
  EXPECT_EQ(few["replicas"], 5);
  EXPECT_EQ(few["quantiles"], false);
  EXPECT_EQ(few["rows"].size(), 5U);
  EXPECT_TRUE(few["rows"][0]["prefix_hit_rate"].is_null());
  const json many = page_data({.requests = 400, .replicas = 40, .prefix_cache = true})["fleet"];
  EXPECT_EQ(many["quantiles"], true);
  EXPECT_EQ(many["rows"].size(), 8U);  // four quantiles of two pools
  EXPECT_NEAR(many["rows"][1]["prefix_hit_rate"].get<double>(), 1.0 / 3, 0.01);
}

TEST(PageData, DistributionsLeaveTheWarmupOutLikeTheFigures) {
  const json data =
      page_data({.requests = 400, .measurement = {.warmup = Duration::from_seconds(9)}});
  EXPECT_GT(data["summary"]["warmup"]["excluded"], 0);
  EXPECT_EQ(data["series"]["cdf"]["ttft"]["count"], data["summary"]["ttft_ms"]["count"]);
  EXPECT_LT(data["series"]["cdf"]["ttft"]["count"], 400);
  EXPECT_EQ(data["series"]["scatter"]["candidates"], 400);
}

TEST(PageData, WithoutOutcomesOnlyTheTimelineIsThere) {
  const json data = page_data({.requests = 100, .with_outcomes = false});
  EXPECT_EQ(data["series"].size(), 1U);
  EXPECT_TRUE(data["series"].contains("timeline"));
}

// 1000 requests in about 100 s, the last three of them an hour later.
TEST(PageData, PlotsOfSessionsOverTimeShowThePartInWhichTurnsFinish) {
  const SampleRunOptions options{.requests = 1000, .sessions = true, .pause_s = 3600};
  const json data = page_data(options);
  EXPECT_GT(data["summary"]["duration_s"], 3600);
  const double until_s = data["sessions"]["until_s"];
  EXPECT_EQ(until_s, data["summary"]["sessions"]["times"]["most_turns_s"]);
  EXPECT_LT(until_s, 200);
  const json& over = data["sessions"]["over_time"];
  EXPECT_NEAR(over["width_s"].get<double>() * static_cast<double>(over["sessions"].size()), until_s,
              1e-6);
  const json& series = data["series"];
  EXPECT_NEAR(series["rates"]["width_s"].get<double>() *
                  static_cast<double>(series["rates"]["arrived"].size()),
              until_s, 1e-6);
  double arrived = 0;
  for (const double rate : series["rates"]["arrived"]) {
    arrived += rate * series["rates"]["width_s"].get<double>();
  }
  EXPECT_NEAR(arrived, 997, 1);
  EXPECT_LE(series["timeline"]["t_s"].back(), until_s);
  EXPECT_GT(series["timeline"]["instants"], 80);
  EXPECT_EQ(series["scatter"]["candidates"], 997);
  EXPECT_LT(series["ttft_over_time"]["t_s"].back(), until_s);
  EXPECT_EQ(data["sessions"]["cdf"]["ttft"]["count"], 1000);
  SampleRunOptions steady = options;
  steady.pause_s = 0;
  const json whole = page_data(steady);
  EXPECT_TRUE(whole["sessions"]["until_s"].is_null());
  EXPECT_EQ(whole["series"]["scatter"]["candidates"], 1000);
}

TEST(PageData, ARunWithoutRequestsIsAPageToo) {
  const json data = page_data({.requests = 0});
  EXPECT_EQ(data["series"]["cdf"]["ttft"]["ms"].size(), 0U);
  EXPECT_EQ(data["series"]["lengths"]["output"]["counts"].size(), 0U);
  EXPECT_EQ(data["series"]["rates"]["arrived"].size(), 0U);
}

TEST(Report, TextOfTheRunCannotBreakOutOfItsElement) {
  const std::string name = "</script><b>&\"'\\ <!-- {{script}} \xE2\x80\xA8";
  const std::string text = page({.name = name, .requests = 10, .warnings = {name}});
  const std::string plain = page({.name = "x", .requests = 10, .warnings = {"x"}});
  const auto count = [](const std::string& in, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count(text, "<"), count(plain, "<"));
  // The data reads back as what was put in.
  const std::string_view begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = text.find(begin) + begin.size();
  const json data = json::parse(text.substr(at, text.find("</script>", at) - at));
  EXPECT_EQ(data["manifest"]["name"], name);
  EXPECT_EQ(data["manifest"]["warnings"][0], name);
}

TEST(Report, IsSmallAndFetchesNothing) {
  const std::string text = page({.requests = 20000});
  EXPECT_LT(text.size(), 2'000'000U);
  for (const char* fetching : {"src=", "@import", "url(", "http-equiv=\"refresh\"", "fetch(",
                               "XMLHttpRequest", "<link rel=\"stylesheet\""}) {
    EXPECT_EQ(text.find(fetching), std::string::npos) << fetching;
  }
  EXPECT_NE(text.find("Content-Security-Policy"), std::string::npos);
  EXPECT_NE(text.find("Leon Sorokin"), std::string::npos);  // the charting library's licence
}

TEST(Report, TheSameFolderGivesTheSameBytes) {
  EXPECT_EQ(page({.requests = 500}), page({.requests = 500}));
}

TEST(Report, AnUnwritablePageIsAnErrorThatNamesIt) {
  const TestFolder folder;
  ASSERT_TRUE(write_run_folder(folder / "run", SampleRun({.requests = 10}).record()));
  const Result<void> written = write_report(folder / "run", folder / "no/folder/page.html");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().to_string().find("no/folder/page.html"), std::string::npos);
}

}  // namespace
}  // namespace inferscale

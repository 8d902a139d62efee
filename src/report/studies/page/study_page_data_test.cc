#include "report/studies/page/study_page_data.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

StudyFolderContent small_study() {
  StudyFolderContent study;
  study.kind = "capacity";
  study.name = "chat";
  study.program_version = "0.3.0";
  study.plan = Json::parse(R"({"seed":42})");
  study.result = Json::parse(R"({"kind":"capacity","carried":3.25,"probes":[{"load":1}]})");
  study.runs_in_all = 2;
  study.runs_failed = 1;
  study.runs = {{.scenario = "chat.yaml", .seed = 42, .figures = {1.5, std::nullopt}},
                {.scenario = "chat.yaml", .seed = 43, .figures = {}, .failure = "does not fit"}};
  return study;
}

Json page_of(const StudyFolderContent& study, const std::string& text = "It carries 3.\n") {
  return Json::parse(study_page_json(study, text));
}

TEST(StudyPageData, HasTheResultAsItIs) {
  const StudyFolderContent study = small_study();
  const Json page = page_of(study);
  EXPECT_EQ(page["result"], study.result);
  EXPECT_EQ(page["left_out"], Json::object());
  EXPECT_EQ(page["study"]["name"], "chat");
  EXPECT_EQ(page["study"]["plan"], study.plan);
  EXPECT_EQ(page["study"]["text"], "It carries 3.\n");
  ASSERT_EQ(page["study"]["opening"].size(), 1U);
  EXPECT_EQ(page["study"]["opening"][0]["text"], "It carries 3.");
}

TEST(StudyPageData, HasRunsWithTheCommandsThatRepeatThem) {
  const Json runs = page_of(small_study())["runs"];
  EXPECT_EQ(runs["count"], 2);
  EXPECT_EQ(runs["failed"], 1);
  EXPECT_EQ(runs["figures"].size(), study_page_runs().figures.size());
  EXPECT_EQ(runs["rows"][0]["repeat"], "inferscale simulate chat.yaml --set seed=42");
  EXPECT_EQ(runs["rows"][0]["figures"], Json::parse("[1.5,null]"));
  EXPECT_EQ(runs["rows"][0]["failure"], nullptr);
  EXPECT_EQ(runs["rows"][1]["failure"], "does not fit");
}

TEST(StudyPageData, CanNotEndTheElementThatHoldsIt) {
  StudyFolderContent study = small_study();
  study.name = "</script><script>alert(1)</script>";
  study.result["<!--"] = "<script>";
  study.runs[0].scenario = "</script>.yaml";
  const std::string json = study_page_json(study, "</script> is said.\n");
  EXPECT_EQ(json.find('<'), std::string::npos);
  EXPECT_EQ(Json::parse(json)["study"]["name"], study.name);
}

TEST(StudyPageData, StaysBoundedHoweverLargeTheStudy) {
  StudyFolderContent study = small_study();
  Json candidates = Json::array();
  for (int i = 0; i < 100'000; ++i) candidates.push_back({{"index", i}, {"failure", nullptr}});
  study.result["candidates"] = candidates;
  study.plan["padding"] = std::string(1'000'000, 'x');
  std::string text = "Much.\n\n";
  for (int i = 0; i < 100'000; ++i) text += "a line of a table\n";
  const std::string json = study_page_json(study, text);
  EXPECT_LT(json.size(), 600'000U);
  const Json page = Json::parse(json);
  EXPECT_EQ(page["study"]["plan"], nullptr);
  EXPECT_EQ(page["left_out"]["candidates"]["count"], 100'000);
  EXPECT_EQ(page["left_out"]["candidates"]["shown"], page["result"]["candidates"].size());
  EXPECT_TRUE(page["study"]["text"].get<std::string>().ends_with(
      "a line of a table\n(the rest is left out here)\n"));
}

TEST(StudyPageData, ThinsListsEvenlyAndKeepsFrontiers) {
  Json result = Json::parse(R"({"a":{"items":[]},"short":[1,2,3]})");
  for (int i = 0; i < 1000; ++i) {
    result["a"]["items"].push_back({{"index", i}, {"on_cost_frontier", i == 501 || i == 777}});
  }
  const Json left_out = thin_lists(result, 102);
  EXPECT_EQ(left_out, Json::parse(R"({"a.items":{"shown":102,"count":1000}})"));
  EXPECT_EQ(result["short"], Json::parse("[1,2,3]"));
  std::vector<int> kept;
  for (const Json& item : result["a"]["items"]) kept.push_back(item["index"].get<int>());
  ASSERT_EQ(kept.size(), 102U);
  EXPECT_EQ(kept[0], 0);
  EXPECT_EQ(kept[1], 10);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  EXPECT_TRUE(std::ranges::find(kept, 501) != kept.end());
  EXPECT_TRUE(std::ranges::find(kept, 777) != kept.end());
}

TEST(StudyPageData, ThinsToTheBoundForEveryLength) {
  for (const std::size_t length : {3U, 7U, 8U, 9U, 15U, 16U, 17U, 1001U}) {
    Json result = {{"items", Json::array()}};
    for (std::size_t i = 0; i < length; ++i) result["items"].push_back(i);
    thin_lists(result, 8);
    EXPECT_LE(result["items"].size(), 8U) << length;
    EXPECT_GE(result["items"].size(), std::min<std::size_t>(length, 4)) << length;
  }
}

TEST(StudyPageData, ThinsListsOfLargeItemsFurther) {
  Json result = {{"items", Json::array()}};
  const std::string large(10'000, 'x');
  for (int i = 0; i < 1000; ++i) result["items"].push_back({{"text", large}});
  thin_lists(result, 2000);
  EXPECT_LE(result.dump().size(), 2'600'000U);
  EXPECT_GE(result["items"].size(), 200U);
}

TEST(StudyPageData, ThinsNoListOfFrontiersAlone) {
  Json result = {{"items", Json::array()}};
  for (int i = 0; i < 50; ++i) result["items"].push_back({{"frontier", true}});
  thin_lists(result, 10);
  EXPECT_EQ(result["items"].size(), 50U);
}

}  // namespace
}  // namespace inferscale

// The command `report` on study folders; on run folders it is tested in cli_test.cc.

#include <gtest/gtest.h>

#include "cli/program.h"

namespace inferscale {
namespace {

constexpr const char* kSmallStudy =
    "capacity --example --set workload.requests=200 --set repeats=2 --set "
    "study.capacity.max_probes=4 --out s";

TEST_F(Cli, ReportMakesThePageOfAStudyFromItsFolderAlone) {
  ASSERT_EQ(run(kSmallStudy).code, 0);
  fs::remove(folder_ / "s/report.html");
  const Ended ended = run("report s");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "s/report.html\n");
  const std::string page = text_of(folder_ / "s/report.html");
  EXPECT_NE(page.find("\"kind\":\"capacity\""), std::string::npos);
  EXPECT_NE(page.find("Content-Security-Policy"), std::string::npos);
  ASSERT_EQ(run("report s --out other.html").code, 0);
  EXPECT_EQ(text_of(folder_ / "other.html"), page);
}

TEST_F(Cli, ReportSaysWhatIsWrongWithAFolder) {
  expect_error("report nowhere",
               "nowhere: expected the folder of a run (manifest.json) or of a study (study.json)");
  ASSERT_EQ(run(kSmallStudy).code, 0);
  const std::string page = text_of(folder_ / "s/report.html");
  const std::string runs = text_of(folder_ / "s/runs.jsonl");
  write("s/runs.jsonl", runs.substr(0, runs.size() - 20));
  expect_error("report s", "cut off");
  write("s/runs.jsonl", runs);
  fs::remove(folder_ / "s/result.json");
  expect_error("report s", "the study is not finished");
  EXPECT_EQ(text_of(folder_ / "s/report.html"), page);  // untouched by what failed
}

TEST_F(Cli, ARunIsNotWrittenIntoAStudysFolder) {
  ASSERT_EQ(run("ab --example --out study").code, 0);
  const std::string page = text_of(folder_ / "study/report.html");
  expect_error("simulate --example --set workload.requests=10 --out study",
               "study: holds study.json, so it is a study's folder");
  EXPECT_EQ(text_of(folder_ / "study/report.html"), page);
}

}  // namespace
}  // namespace inferscale

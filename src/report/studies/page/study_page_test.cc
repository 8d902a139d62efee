#include "report/studies/page/study_page.h"

#include <gtest/gtest.h>

#include "base/edge/test_folder.h"
#include "report/studies/page/study_page_assets.h"

namespace inferscale {
namespace {

// Pages of whole studies are looked at in a browser: tests/web/study_page_test.mjs.
class StudyPage : public testing::Test {
 protected:
  void write_study(const std::string& kind, const std::string& result) const {
    folder_.write("study.json",
                  R"({"schema":"inferscale.study","version":1,"simulated":true,)"
                  R"("inferscale":"0.3.0","name":"chat","plan":{},"warnings":[],"kind":")" +
                      kind + "\"}");
    folder_.write("runs.jsonl", "");
    folder_.write("result.json", result);
  }
  std::string error() const {
    const Result<void> written = write_study_report(folder_ / ".", folder_ / "page.html");
    return written ? "written without an error" : written.error().to_string();
  }

  TestFolder folder_;
};

TEST_F(StudyPage, IsNotMadeOfAnUnknownKind) {
  write_study("horoscope", R"({"kind":"horoscope"})");
  EXPECT_EQ(
      error(),
      (folder_ / "./result.json") +
          ": key 'kind': expected one of ab, affinity_sweep, capacity, explore, "
          "host_sweep, memory_stress, sensitivity, ttl_sweep, tune, validate, got 'horoscope'");
  EXPECT_FALSE(folder_.has("page.html"));
}

TEST_F(StudyPage, IsNotMadeOfAResultThatLacksWhatItsKindHas) {
  for (const std::string kind : {"ab", "capacity", "explore", "sensitivity", "tune", "validate"}) {
    write_study(kind, R"({"kind":")" + kind + R"(","simulated":true})");
    EXPECT_TRUE(error().starts_with((folder_ / "./result.json") + ": key '")) << kind << error();
    EXPECT_TRUE(error().ends_with("missing")) << kind << error();
    EXPECT_FALSE(folder_.has("page.html"));
  }
}

TEST_F(StudyPage, HasAScriptForEveryKind) {
  for (const std::string kind : {"ab", "capacity", "explore", "sensitivity", "tune", "validate"}) {
    EXPECT_NE(kStudyScript.find("function " + kind + "Section("), std::string_view::npos) << kind;
  }
}

}  // namespace
}  // namespace inferscale

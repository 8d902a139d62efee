// The published measurements in the data folder: that they load, and what becomes of each.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "catalog/models.h"
#include "study/readers/case_file.h"
#include "study/validation/case_reader.h"

namespace inferscale {
namespace {

std::string published_cases() {
  const char* folder = std::getenv("INFERSCALE_DATA");
  return (folder == nullptr ? INFERSCALE_SOURCE_DIR "/../shared/data" : std::string(folder)) +
         "/measured/cases.jsonl.gz";
}

TEST(PublishedCases, LoadAndAreAllAccountedFor) {
  const std::string path = published_cases();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto tree = read_case_file(path);
  ASSERT_TRUE(tree) << tree.error().to_string();
  const auto file =
      read_cases(*tree, ConfigNode(),
                 {.resolve_model = [](const std::string& name) { return find_model(name); },
                  .load_config = [](const std::string& name) -> Result<ConfigNode> {
                    return fail(ErrorCode::kNotFound, "not used", name);
                  }});
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->cases.size(), 1860U);
  std::map<std::string, int> reasons;
  int compared = 0;
  for (const ValidationCase& each : file->cases) {
    if (each.not_simulated) {
      ++reasons[each.not_simulated->reason];
      continue;
    }
    ++compared;
    EXPECT_FALSE(each.measured.empty()) << each.id;
    // Counted from the file by another program: these clients time tokens wrongly.
    if (each.id.starts_with("gpustack/qwen3.5")) ADD_FAILURE() << each.id;
  }
  // 1057 closed loops, counted from the file by another program.
  EXPECT_EQ(reasons["closed loop: a request waits for an answer"], 1057);
  int listed = 0;
  for (const auto& [reason, count] : reasons) listed += count;
  EXPECT_EQ(compared + listed, 1860);
  EXPECT_GT(compared, 400);
}

}  // namespace
}  // namespace inferscale

#include "study/study_options.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

TEST(CheckSeeds, LeavesRoomForEveryRepetition) {
  const std::uint64_t largest = 9223372036854775807U;
  StudyOptions options;
  options.repeats = 5;
  EXPECT_TRUE(check_seeds(largest - 4, options, "a.yaml"));
  const Result<void> beyond = check_seeds(largest - 3, options, "a.yaml");
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().to_string().find("a.yaml: seed: '9223372036854775804': expected at most "
                                            "9223372036854775803 with repeats 5"),
            std::string::npos)
      << beyond.error().to_string();
  options.repeats = 1;
  EXPECT_TRUE(check_seeds(largest, options, "a.yaml"));
  options.ab.max_repeats = 80;
  EXPECT_FALSE(check_seeds(largest - 78, options, "a.yaml"));
  EXPECT_TRUE(check_seeds(largest - 79, options, "a.yaml"));
  options.ab.common_random_numbers = false;
  EXPECT_FALSE(check_seeds(largest - 79, options, "a.yaml"));
  EXPECT_TRUE(check_seeds(largest - 1'000'079, options, "a.yaml"));
}

}  // namespace
}  // namespace inferscale

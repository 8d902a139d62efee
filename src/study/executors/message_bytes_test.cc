// Records as bytes: whatever figures a run has, they come back.

#include "study/executors/message_bytes.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "study/metric.h"

namespace inferscale {
namespace {

RunResult come_back(const RunResult& record) {
  std::string bytes;
  put_record(bytes, record);
  MessageReader reader(bytes);
  const std::optional<RunResult> back = reader.take_record();
  EXPECT_TRUE(back.has_value());
  EXPECT_TRUE(reader.at_end());
  return back.value_or(RunResult{});
}

TEST(MessageBytes, EachFigureComesBackAlone) {
  for (const MetricInfo& info : all_metrics()) {
    RunResult record;
    record.figures.set(info.metric, 0.1 + static_cast<double>(info.metric));
    EXPECT_EQ(come_back(record), record) << info.name;
  }
}

TEST(MessageBytes, AnyFiguresComeBackTogether) {
  RandomStream random(1, "figures");
  for (int i = 0; i < 500; ++i) {
    RunResult record;
    for (const MetricInfo& info : all_metrics()) {
      if (random.below(3) > 0) record.figures.set(info.metric, random.uniform());
    }
    ASSERT_EQ(come_back(record), record);
  }
}

TEST(MessageBytes, AFailureAndNothingComeBack) {
  const RunResult failure{.figures = {}, .failure = "too large"};
  EXPECT_EQ(come_back(failure), failure);
  std::string bytes;
  put_record(bytes, std::nullopt);
  MessageReader reader(bytes);
  EXPECT_EQ(reader.take_record(), std::nullopt);
  EXPECT_TRUE(reader.at_end());
}

}  // namespace
}  // namespace inferscale

// Runs that take the recorded decisions, others, fewer, and more.

#include "report/decision_log_comparison.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/edge/test_folder.h"
#include "report/decision_log.h"

namespace inferscale {
namespace {

std::vector<DecisionRecord> records(int count) {
  std::vector<DecisionRecord> all;
  for (int i = 0; i < count; ++i) {
    DecisionRecord record{.sequence = static_cast<std::uint64_t>(i),
                          .at = Instant() + Duration::nanos(1000 * i)};
    record.request.request = record.sequence;
    all.push_back(record);
  }
  return all;
}

class Comparison : public testing::Test {
 protected:
  Comparison() {
    Result<DecisionLog> log = DecisionLog::create(path_, {.policy = "none"});
    CHECK(log.has_value());
    for (const DecisionRecord& record : records(5)) log->on_decision(record);
    CHECK(log->finish().has_value());
  }
  DecisionLogComparison::Finding compare(const std::vector<DecisionRecord>& taken,
                                         std::int64_t recorded = 5) {
    Result<DecisionLogComparison> comparison = DecisionLogComparison::open(path_, recorded);
    CHECK(comparison.has_value());
    for (const DecisionRecord& record : taken) comparison->on_decision(record);
    const Result<DecisionLogComparison::Finding> finding = comparison->finish();
    CHECK(finding.has_value());
    return *finding;
  }

  TestFolder folder_;
  std::string path_ = folder_ / "decisions.jsonl";
};

TEST_F(Comparison, TheSameDecisionsAreIdentical) {
  const auto finding = compare(records(5));
  EXPECT_TRUE(finding.is_identical());
  EXPECT_EQ(finding.taken, 5);
}

TEST_F(Comparison, OneBitIsAnotherLine) {
  std::vector<DecisionRecord> taken = records(5);
  taken[3].request.streamed = !taken[3].request.streamed;
  taken[4].at = taken[4].at + Duration::nanos(1);
  const auto finding = compare(taken);
  EXPECT_FALSE(finding.is_begun_alike());
  EXPECT_EQ(finding.first_other_line, 5);  // behind the head and three decisions
}

TEST_F(Comparison, FewerAndMoreAreNotIdentical) {
  EXPECT_EQ(compare(records(2)).first_other_line, 4);
  const auto longer = compare(records(7));
  EXPECT_TRUE(longer.is_begun_alike());
  EXPECT_FALSE(longer.is_identical());
  EXPECT_EQ(longer.taken, 7);
}

TEST_F(Comparison, WhatIsCutOffIsNotLookedAt) {
  const std::string log = folder_.read("decisions.jsonl");
  folder_.write("decisions.jsonl", log.substr(0, log.size() - 30));
  EXPECT_TRUE(compare(records(4), 4).is_identical());
  EXPECT_TRUE(compare(records(6), 4).is_begun_alike());
}

TEST_F(Comparison, ALogThatIsNotThereIsAnError) {
  EXPECT_FALSE(DecisionLogComparison::open(folder_ / "nothing", 1).has_value());
}

}  // namespace
}  // namespace inferscale

#include "report/chrome_trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace inferscale {
namespace {

using Json = nlohmann::json;

class ChromeTraceTest : public testing::Test {
 protected:
  ChromeTraceTest()
      : path_(testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~ChromeTraceTest() override { std::filesystem::remove(path_); }

  Json events() const {
    std::ifstream in(path_);
    return Json::parse(in).at("traceEvents");
  }

  std::string path_;
};

Outcome finished(std::int64_t arrival, std::int64_t start, std::int64_t first, std::int64_t end) {
  Outcome outcome;
  outcome.status = OutcomeStatus::kFinished;
  outcome.arrival = Instant::nanos(arrival);
  outcome.start = Instant::nanos(start);
  outcome.first_token = Instant::nanos(first);
  outcome.finish = Instant::nanos(end);
  outcome.replica = 2;
  return outcome;
}

TEST_F(ChromeTraceTest, AStepIsASliceInMicrosecondsWithItsCounters) {
  ChromeTrace trace(OutputFile::create(path_).value());
  const std::vector<RequestId> preempted = {5};
  trace.on_step({.replica = 2,
                 .start = Instant::nanos(1'500),
                 .end = Instant::nanos(4'000),
                 .steps = 3,
                 .decodes = 8,
                 .preempted = preempted,
                 .running = 8,
                 .queue_depth = 1});
  ASSERT_TRUE(trace.finish({}));
  std::map<std::string, Json> by_phase;
  for (const Json& event : events())
    by_phase[event["ph"].get<std::string>() + event["name"].get<std::string>()] = event;
  ASSERT_TRUE(by_phase.contains("Xdecode"));
  EXPECT_EQ(by_phase["Xdecode"]["ts"], 1.5);
  EXPECT_EQ(by_phase["Xdecode"]["dur"], 2.5);
  EXPECT_EQ(by_phase["Xdecode"]["pid"], 2);
  EXPECT_EQ(by_phase["Xdecode"]["args"]["steps"], 3);
  EXPECT_EQ(by_phase["Crunning"]["args"]["running"], 8);
  EXPECT_TRUE(by_phase.contains("Mprocess_name"));
  EXPECT_TRUE(by_phase.contains("ipreempt 5"));
}

TEST_F(ChromeTraceTest, ARequestsSlicesBeginAndEndInPairs) {
  ChromeTrace trace(OutputFile::create(path_).value());
  Outcome refused;
  refused.status = OutcomeStatus::kRefused;
  ASSERT_TRUE(trace.finish(std::vector<Outcome>{finished(0, 1'000, 3'000, 9'000), refused}));
  std::map<std::string, std::pair<double, double>> slices;
  for (const Json& event : events()) {
    if (event["ph"] == "b") slices[event["name"]].first = event["ts"];
    if (event["ph"] == "e") slices[event["name"]].second = event["ts"];
    if (event.contains("id")) {
      EXPECT_EQ(event["id"], 0);
    }
  }
  const std::map<std::string, std::pair<double, double>> expected = {
      {"waiting", {0, 1}}, {"prefill", {1, 3}}, {"decode", {3, 9}}};
  EXPECT_EQ(slices, expected);
}

TEST_F(ChromeTraceTest, ARunWithoutEventsIsStillAFile) {
  ChromeTrace trace(OutputFile::create(path_).value());
  ASSERT_TRUE(trace.finish({}));
  EXPECT_EQ(events(), Json::array());
}

}  // namespace
}  // namespace inferscale

// Runs whose times are known by hand.

#include "metrics/session_times.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace inferscale {
namespace {

Instant at(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

struct SampleTurns {
  ProgramRecords records;
  std::vector<Outcome> outcomes;

  void turn(CallStatus status, double finish_s, std::uint32_t output_tokens) {
    records.calls.push_back(
        {.request = static_cast<RequestId>(outcomes.size()), .ready = at(0), .status = status});
    outcomes.push_back({.finish = at(finish_s), .output_tokens = output_tokens});
  }
};

// Two sessions are over by 20 s, one is until 40 s, and one waits until 100 s.
SampleTurns long_tail() {
  SampleTurns run;
  for (const auto& [begin, end] :
       std::vector<std::pair<double, double>>{{0, 8}, {4, 40}, {10, 20}, {6, 100}}) {
    run.records.sessions.push_back({.begin = at(begin), .end = at(end), .calls = 1});
  }
  return run;
}

TEST(SessionTimes, SayWhatLiesAfterTheLastBeginning) {
  const SessionTimes times = session_times(long_tail().records, {}, at(100));
  EXPECT_DOUBLE_EQ(times.last_begin_s, 10);
  EXPECT_DOUBLE_EQ(times.after_share, 0.9);
  EXPECT_DOUBLE_EQ(times.after_sessions_mean, (30 + 10 + 90) / 90.0);
  EXPECT_TRUE(times.long_tail());
  EXPECT_EQ(times.most_turns, std::nullopt);
}

TEST(SessionTimes, SessionsBehindTheEndDoNotCount) {
  SampleTurns run = long_tail();
  run.records.sessions.push_back({.begin = at(30), .calls = 1});  // and does not end
  const SessionTimes times = session_times(run.records, {}, at(16));
  EXPECT_DOUBLE_EQ(times.last_begin_s, 10);
  EXPECT_DOUBLE_EQ(times.after_share, 6.0 / 16);
  EXPECT_DOUBLE_EQ(times.after_sessions_mean, 3);  // those that end later, as far as the end
  EXPECT_FALSE(times.long_tail());
  EXPECT_DOUBLE_EQ(session_times({}, {}, Instant()).after_share, 0);
}

TEST(SessionTimes, MostTurnsAreTheFirst99OfAHundred) {
  SampleTurns run;
  // Backwards: 200 turns that finish at 1, 2, ... 200 s, the last two apart.
  run.turn(CallStatus::kFinished, 900, 1000);
  run.turn(CallStatus::kFinished, 800, 1000);
  for (int i = 198; i >= 1; --i) run.turn(CallStatus::kFinished, i, 3);
  run.turn(CallStatus::kFailed, 5000, 7);
  EXPECT_EQ(most_turns_finished(run.records.calls, run.outcomes), at(198));
  const SessionTimes times = session_times(run.records, run.outcomes, at(900));
  EXPECT_DOUBLE_EQ(*times.most_turns_output_tokens_per_s, 3);
  EXPECT_EQ(busy_end(run.records.calls, run.outcomes, at(900)), at(198));
  EXPECT_EQ(busy_end(run.records.calls, run.outcomes, at(396)), at(396));
  EXPECT_EQ(busy_end({}, {}, at(7)), at(7));
}

}  // namespace
}  // namespace inferscale

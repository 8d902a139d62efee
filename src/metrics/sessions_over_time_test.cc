// Counts over time against a look at every nanosecond.

#include "metrics/sessions_over_time.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace inferscale {
namespace {

Instant at(std::uint64_t ns) {
  return Instant::nanos(static_cast<std::int64_t>(ns));
}

TEST(SessionsOverTime, AgreesWithALookAtEveryNanosecond) {
  constexpr std::uint64_t kEnd = 997;  // does not divide by the number of parts
  constexpr std::size_t kParts = 64;
  RandomStream random(1, "spans");
  ProgramRecords records;
  std::vector<Outcome> outcomes;
  std::vector<double> sessions(kEnd, 0);
  std::vector<double> turns(kEnd, 0);
  const auto count = [&](std::vector<double>& all, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t ns = from; ns < std::min(to, kEnd); ++ns) all[ns] += 1;
  };
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t from = random.below(1200);
    const std::uint64_t to = from + random.below(300);
    const bool ends = random.below(5) > 0;
    records.sessions.push_back({.begin = at(from), .end = ends ? at(to) : Instant::never()});
    count(sessions, from, ends ? to : kEnd);
    CallRecord call{.request = static_cast<RequestId>(outcomes.size())};
    if (random.below(6) > 0) {
      call.ready = at(from);
      call.status = ends ? CallStatus::kFinished : CallStatus::kUnfinished;
      count(turns, from, ends ? to : kEnd);
    }
    records.calls.push_back(call);
    outcomes.push_back({.arrival = at(from), .finish = at(to)});
  }
  const SessionsOverTime over = sessions_over_time(records, outcomes, at(kEnd), kParts);
  ASSERT_EQ(over.sessions.size(), kParts);
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t first = kEnd * part / kParts;
    const std::size_t last = kEnd * (part + 1) / kParts;
    double sum = 0;
    double turn_sum = 0;
    for (std::size_t ns = first; ns < last; ++ns) {
      sum += sessions[ns];
      turn_sum += turns[ns];
    }
    ASSERT_DOUBLE_EQ(over.sessions[part], sum / static_cast<double>(last - first)) << part;
    ASSERT_DOUBLE_EQ(over.turns[part], turn_sum / static_cast<double>(last - first)) << part;
  }
}

TEST(SessionsOverTime, AFailedTurnIsThereUntilItsLastAttempt) {
  ProgramRecords records;
  records.calls.push_back({.request = 0, .ready = at(10), .status = CallStatus::kFailed});
  const std::vector<Outcome> outcomes = {{.arrival = at(60)}};
  const SessionsOverTime over = sessions_over_time(records, outcomes, at(100), 4);
  EXPECT_EQ(over.turns, (std::vector<double>{15.0 / 25, 1, 10.0 / 25, 0}));
  EXPECT_EQ(over.sessions, std::vector<double>(4, 0));
}

TEST(SessionsOverTime, ARunOfNoLengthHasNone) {
  EXPECT_TRUE(sessions_over_time({}, {}, at(3), 4).sessions.empty());
}

}  // namespace
}  // namespace inferscale

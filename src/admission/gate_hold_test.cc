// Those held at the door.

#include <gtest/gtest.h>

#include "admission/gate.h"
#include "admission/gate_test_support.h"

namespace inferscale {
namespace {

using Kind = Presented::Kind;

class HoldingGate : public ::testing::Test {
 protected:
  HoldingGate() {
    calls_.decide = [this](const RequestView&, const PoolView& pool) {
      return pool.read(Signal::kInFlight).value < limit_ ? Decision::admit()
                                                         : Decision::defer(Reason::kConcurrency);
    };
    calls_.needs.signals = {Signal::kInFlight};
    options_ = gate_options(calls_);
    options_.hold = HoldOptions{.most = 3, .longest = Duration::from_seconds(5)};
    options_.sink = &decisions_;
  }
  AdmissionGate& gate() {
    if (!gate_) gate_ = make_gate(options_);
    return *gate_;
  }
  std::vector<std::uint64_t> released() {
    std::vector<std::uint64_t> requests;
    for (Release& release : gate().take_releases()) {
      requests.push_back(release.request);
      releases_.push_back(std::move(release));
    }
    return requests;
  }

  double limit_ = 1;
  ScriptedCalls calls_;
  GateOptions options_;
  RecordedDecisions decisions_;
  std::unique_ptr<AdmissionGate> gate_;
  std::vector<Release> releases_;  // after the gate: their permits end first
};

TEST_F(HoldingGate, WhoIsDeferredWaitsAndGoesInWhenSomebodyLeaves) {
  Presented first = gate().present(call_of(1), at_s(0));
  EXPECT_EQ(gate().present(call_of(2), at_s(1)).kind, Kind::kHeld);
  EXPECT_EQ(gate().held(), 1);
  first.permit.finish(10, at_s(2));
  EXPECT_EQ(released(), std::vector<std::uint64_t>{2});
  EXPECT_EQ(releases_[0].presented.kind, Kind::kAdmitted);
  EXPECT_EQ(gate().held(), 0);
  EXPECT_EQ(gate().counts().held_time, Duration::from_seconds(1));
  EXPECT_EQ(calls_.held, 1);
  EXPECT_EQ(calls_.left_hold, 0);
  // The re-decision is recorded, with what it had waited.
  EXPECT_EQ(decisions_.records.back().cause, DecisionCause::kHeld);
  EXPECT_EQ(decisions_.records.back().request.held, Duration::from_seconds(1));
}

TEST_F(HoldingGate, CachedPrefixesGoFirstThenDeadlinesThenFairness) {
  options_.hold->most = 10;
  Presented first = gate().present(call_of(1), at_s(0));
  gate().present(call_of(10, 1), at_s(1));  // tenant 1, its first place
  gate().present(call_of(11, 1), at_s(1));  // its second
  gate().present(call_of(12, 2), at_s(1));  // tenant 2, its first
  RequestView urgent = call_of(13, 1);
  urgent.ttft_deadline = at_s(9);
  gate().present(urgent, at_s(1));
  RequestView cached = call_of(14, 1);
  cached.reusable_tokens = 64;
  gate().present(cached, at_s(1));
  limit_ = 100;
  first.permit.finish(1, at_s(2));
  EXPECT_EQ(released(), (std::vector<std::uint64_t>{14, 13, 10, 12, 11}));
}

TEST_F(HoldingGate, OneMoreThanItHasRoomForIsAnswered) {
  const Presented first = gate().present(call_of(1), at_s(0));
  for (std::uint64_t i = 2; i <= 4; ++i) {
    EXPECT_EQ(gate().present(call_of(i), at_s(0)).kind, Kind::kHeld);
  }
  const Presented fifth = gate().present(call_of(5), at_s(0));
  EXPECT_EQ(fifth.kind, Kind::kAnswered);
  EXPECT_EQ(fifth.decision.verdict, Verdict::kDefer);
  EXPECT_EQ(fifth.decision.reason, Reason::kHoldFull);
}

TEST_F(HoldingGate, BodiesAreBoundedInBytes) {
  options_.hold->most_bytes = 1000;
  const Presented first = gate().present(call_of(1), at_s(0));
  RequestView large = call_of(2);
  large.body_bytes = 800;
  EXPECT_EQ(gate().present(large, at_s(0)).kind, Kind::kHeld);
  large.request = 3;
  EXPECT_EQ(gate().present(large, at_s(0)).decision.reason, Reason::kHoldFull);
}

TEST_F(HoldingGate, NobodyIsHeldWithoutABound) {
  const Presented first = gate().present(call_of(1), at_s(0));
  gate().present(call_of(2), at_s(1));
  EXPECT_EQ(gate().next_wake(), at_s(6));
  gate().advance(at_s(5.9));
  EXPECT_TRUE(released().empty());
  gate().advance(at_s(6));
  EXPECT_EQ(released(), std::vector<std::uint64_t>{2});
  EXPECT_EQ(releases_[0].presented.decision.reason, Reason::kHoldExpired);
  EXPECT_EQ(releases_[0].presented.answer.status, 503);
  EXPECT_EQ(calls_.left_hold, 1);
}

TEST_F(HoldingGate, WhoLeavesIsForgotten) {
  Presented first = gate().present(call_of(1), at_s(0));
  gate().present(call_of(2), at_s(1));
  EXPECT_TRUE(gate().withdraw(2, 0, at_s(2)));
  EXPECT_FALSE(gate().withdraw(2, 0, at_s(2)));
  first.permit.finish(1, at_s(3));
  EXPECT_TRUE(released().empty());
  EXPECT_EQ(calls_.left_hold, 1);
}

TEST_F(HoldingGate, HeldOnesCountInNoSignalOfTheEngine) {
  calls_.needs.signals.add(Signal::kQueueDepth);
  double queue = -1;
  double held = -1;
  calls_.needs.signals.add(Signal::kHeld);
  calls_.decide = [&](const RequestView&, const PoolView& pool) {
    queue = pool.read(Signal::kQueueDepth).value;
    held = pool.read(Signal::kHeld).value;
    return Decision::defer(Reason::kQueueDepth);
  };
  gate().observe(0, {.observed_at = at_s(0), .queue_depth = 5}, at_s(0));
  gate().present(call_of(1), at_s(0));
  gate().present(call_of(2), at_s(0.1));
  EXPECT_DOUBLE_EQ(queue, 5);
  EXPECT_DOUBLE_EQ(held, 1);
}

TEST_F(HoldingGate, APolicyThatKnowsWhenIsAskedAgainThen) {
  bool open = false;
  calls_.decide = [&open](const RequestView&, const PoolView&) {
    return open ? Decision::admit()
                : Decision::defer(Reason::kRateLimit, Duration::from_seconds(2));
  };
  gate().present(call_of(1), at_s(0));
  EXPECT_EQ(gate().next_wake(), at_s(2));
  open = true;
  gate().advance(at_s(2));
  EXPECT_EQ(released(), std::vector<std::uint64_t>{1});
}

TEST_F(HoldingGate, LettingOneInCanWakeTheOthers) {
  int waiting = 0;
  calls_.decide = [&waiting](const RequestView& request, const PoolView&) {
    if (request.held.ns() > 0 || waiting == 2) {
      Decision admit = Decision::admit();
      admit.wakes_held = true;
      return admit;
    }
    ++waiting;
    return Decision::defer(Reason::kBatchForming);
  };
  gate().present(call_of(1), at_s(0));
  gate().present(call_of(2), at_s(1));
  EXPECT_EQ(gate().present(call_of(3), at_s(2)).kind, Kind::kAdmitted);
  EXPECT_EQ(released(), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(HoldingGate, TheHoldDoesNotEmptyAgainstOneUnchangedReading) {
  options_.hold->most = 100;
  calls_.needs.signals = {Signal::kQueueDepth};
  calls_.decide = [](const RequestView&, const PoolView& pool) {
    return pool.read(Signal::kQueueDepth).value > 8 ? Decision::defer(Reason::kQueueDepth)
                                                    : Decision::admit();
  };
  gate().observe(0, {.observed_at = at_s(0), .queue_depth = 20}, at_s(0));
  for (std::uint64_t i = 0; i < 60; ++i) gate().present(call_of(i), at_s(0.5));
  gate().observe(0, {.observed_at = at_s(1), .queue_depth = 1}, at_s(1));
  EXPECT_EQ(released().size(), 8U);  // up to a queue of nine, though nobody is dispatched yet
}

TEST_F(HoldingGate, AFirstTokenLetsTheHeldInBeforeANewcomer) {
  calls_.needs.signals = {Signal::kQueueAgeS};
  calls_.decide = [](const RequestView&, const PoolView& pool) {
    const Reading age = pool.read(Signal::kQueueAgeS);
    return age.is_known() && age.value > 1 ? Decision::defer(Reason::kQueueAge) : Decision::admit();
  };
  Presented first = gate().present(call_of(1), at_s(0));
  first.permit.dispatched(0, at_s(0));
  EXPECT_EQ(gate().present(call_of(2), at_s(2)).kind, Kind::kHeld);
  first.permit.first_token(at_s(3));
  EXPECT_EQ(released(), std::vector<std::uint64_t>{2});
}

TEST_F(HoldingGate, AGateThatGoesTakesItsHeldAlong) {
  Presented first = gate().present(call_of(1), at_s(0));
  gate().present(call_of(2), at_s(1));
  first.permit.finish(1, at_s(2));  // releases 2, which nobody takes
  gate_.reset();
  EXPECT_EQ(calls_.ends.size(), 2U);
}

}  // namespace
}  // namespace inferscale

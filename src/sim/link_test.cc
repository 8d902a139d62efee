// Transfers whose times are worked out by hand, and processor sharing against a small-step fluid
// model that is written without virtual time.

#include "sim/link.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/random.h"

namespace inferscale {
namespace {

constexpr Instant at(std::int64_t ns) {
  return Instant::nanos(ns);
}

// 1 byte takes 1 ns.
LinkOptions options(LinkSharing sharing, std::int64_t latency_ns = 100, double scale = 1) {
  return {.base_latency = Duration::nanos(latency_ns),
          .bandwidth = 1e9,
          .scale = scale,
          .sharing = sharing};
}

struct Start {
  std::int64_t at_ns;
  double bytes;
};

// Instants of the ends, by id. Starts come before ends at the same instant.
std::map<RequestId, std::int64_t> ends_of(Link& link, const std::vector<Start>& starts) {
  std::map<RequestId, std::int64_t> ends;
  std::size_t started = 0;
  while (started < starts.size() || link.under_way() > 0) {
    const Instant start = started < starts.size() ? at(starts[started].at_ns) : Instant::never();
    if (start <= link.next()) {
      link.start(static_cast<RequestId>(started), starts[started].bytes, start);
      ++started;
      continue;
    }
    const Instant now = link.next();
    std::vector<RequestId> done;
    link.advance(now, done);
    for (const RequestId id : done) ends[id] = now.ns();
  }
  return ends;
}

using Ends = std::map<RequestId, std::int64_t>;

TEST(Link, ATransferTakesLatencyAndBytesTimesScale) {
  // (20 us + 1 GB / 50 GB/s) x 2 = 40 us + 40 ms
  const LinkOptions real{.base_latency = Duration::nanos(20'000), .bandwidth = 50e9, .scale = 2};
  EXPECT_DOUBLE_EQ(transfer_ns(real, 1e9), 40'040'000.0);
  for (const LinkSharing sharing : {LinkSharing::kSerial, LinkSharing::kFair}) {
    Link link(options(sharing, 100, 3));
    EXPECT_EQ(ends_of(link, {{50, 1000}}), (Ends{{0, 50 + 3 * 1100}}));
    EXPECT_EQ(link.busy().ns(), 3300);
  }
}

TEST(Link, SerialTransfersFollowEachOther) {
  Link link(options(LinkSharing::kSerial));
  // 0: 0 to 1100. 1 waits, 1100 to 1300. 2 comes to a free link: 2000 to 2400.
  EXPECT_EQ(ends_of(link, {{0, 1000}, {200, 100}, {2000, 300}}),
            (Ends{{0, 1100}, {1, 1300}, {2, 2400}}));
  EXPECT_EQ(link.busy().ns(), 1700);
}

TEST(Link, FairTransfersShareFromTheInstantALateOneJoins) {
  Link link(options(LinkSharing::kFair));
  // 0 moves alone from 100; 1 joins at 600, when 500 of 0's 1000 bytes are left. Both move at half
  // speed until 1 has its 200 bytes, at 1000; 0 then has 300 left and ends at 1300.
  EXPECT_EQ(ends_of(link, {{0, 1000}, {500, 200}}), (Ends{{0, 1300}, {1, 1000}}));
  EXPECT_EQ(link.busy().ns(), 1300);
}

TEST(Link, ThreeEqualTransfersEndTogether) {
  Link link(options(LinkSharing::kFair));
  EXPECT_EQ(ends_of(link, {{0, 100}, {0, 100}, {0, 100}}), (Ends{{0, 400}, {1, 400}, {2, 400}}));
}

TEST(Link, NothingToMoveTakesTheLatency) {
  for (const LinkSharing sharing : {LinkSharing::kSerial, LinkSharing::kFair}) {
    Link link(options(sharing));
    EXPECT_EQ(ends_of(link, {{7, 0}}), (Ends{{0, 107}}));
  }
}

TEST(Link, ACutTransferLeavesItsPartToTheOthers) {
  Link serial(options(LinkSharing::kSerial));
  serial.start(0, 1000, at(0));
  serial.start(1, 100, at(0));
  serial.start(2, 100, at(0));
  serial.cut(1, at(300));  // not begun: nothing changes for the first
  EXPECT_EQ(serial.next(), at(1100));
  serial.cut(0, at(400));  // the next one begins at once
  EXPECT_EQ(serial.next(), at(600));

  Link fair(options(LinkSharing::kFair));
  fair.start(0, 1000, at(0));
  fair.start(1, 1000, at(0));
  fair.start(2, 1000, at(50));
  std::vector<RequestId> done;
  fair.advance(at(100), done);  // 0 and 1 begin to move
  fair.cut(2, at(120));         // still in its latency
  EXPECT_EQ(fair.next(), at(2100));
  fair.cut(1, at(300));  // 0 has moved 100 bytes in 200 ns
  EXPECT_EQ(fair.next(), at(1200));
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(fair.under_way(), 1);
}

// Each moving transfer gets its share for one nanosecond after the other.
Ends fluid_ends(const std::vector<Start>& starts, std::int64_t latency_ns) {
  Ends ends;
  std::vector<double> left;
  for (const Start& start : starts) left.push_back(start.bytes);
  for (std::int64_t t = 0; ends.size() < starts.size(); ++t) {
    std::vector<std::size_t> moving;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const bool joined = starts[i].at_ns + latency_ns <= t;
      if (joined && !ends.contains(static_cast<RequestId>(i))) moving.push_back(i);
    }
    for (const std::size_t i : moving) left[i] -= 1.0 / static_cast<double>(moving.size());
    for (const std::size_t i : moving) {
      if (left[i] <= 1e-6) ends[static_cast<RequestId>(i)] = t + 1;
    }
  }
  return ends;
}

TEST(Link, FairSharingIsTheFluidModel) {
  RandomStream stream(3, "link");
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Start> starts;
    std::int64_t time = 0;
    for (int i = 0; i < 30; ++i) {
      time += static_cast<std::int64_t>(stream.below(400));
      starts.push_back({time, 1.0 + static_cast<double>(stream.below(800))});
    }
    Link link(options(LinkSharing::kFair, 60));
    const Ends ends = ends_of(link, starts);
    const Ends fluid = fluid_ends(starts, 60);
    ASSERT_EQ(ends.size(), starts.size());
    // The fluid model ends on whole nanoseconds: each end may slow the others by one.
    for (const auto& [id, end] : ends)
      ASSERT_LE(std::abs(end - fluid.at(id)), 30) << "transfer " << id;
  }
}

}  // namespace
}  // namespace inferscale

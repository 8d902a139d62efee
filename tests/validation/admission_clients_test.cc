// A burst of 40 calls that is refused, and what callers make of it: presentations at the door in
// each 100 ms, from the log of decisions.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "validation/admission_runs.h"

namespace inferscale {
namespace {

constexpr std::int64_t kBinNs = 100'000'000;
constexpr std::int64_t kBurstNs = 1'000'000'000;
constexpr std::int64_t kBurstEndNs = kBurstNs + 1'000;  // its calls are a nanosecond apart
constexpr int kBurst = 40;

struct Presentations {
  int in_burst = 0;    // all but at one instant
  int later_peak = 0;  // in the fullest 100 ms after it
  int all = 0;         // of the burst's calls
  std::int64_t finished = 0;
};

class RetryBurst : public testing::Test {
 protected:
  static Presentations with(const std::string& profile, const Settings& more = {}) {
    const ProgramRun run("simulate", admission_scenario("retry_burst.yaml"),
                         Settings{"clients.profile=" + profile} + more);
    EXPECT_TRUE(run.succeeded()) << run.error();
    if (!run.succeeded()) return {};
    Presentations seen;
    std::map<std::int64_t, int> bins;
    for (const nlohmann::json& line : run.decisions()) {
      const std::int64_t at_ns = line.at("at_ns");
      if (line.at("cause") != "arrival" || at_ns < kBurstNs) continue;
      ++seen.all;
      if (at_ns < kBurstEndNs) {
        ++seen.in_burst;
      } else {
        ++bins[at_ns / kBinNs];
      }
    }
    for (const auto& [bin, count] : bins) seen.later_peak = std::max(seen.later_peak, count);
    seen.finished = run.finished() - 8;  // those that filled the pool
    return seen;
  }
};

TEST_F(RetryBurst, WithoutRetriesItIsLost) {
  const Presentations seen = with("gives_up");
  EXPECT_EQ(seen.all, kBurst);
  EXPECT_EQ(seen.finished, 0);
}

TEST_F(RetryBurst, ImmediateRetryMakesEightyOfForty) {
  const Presentations seen = with("immediate_retry");
  EXPECT_EQ(seen.in_burst + seen.later_peak, 2 * kBurst);
  EXPECT_EQ(seen.all, 2 * kBurst);
  EXPECT_EQ(seen.finished, 0);
}

// Told to wait for so long, they wait for so long: the burst is only put off.
TEST_F(RetryBurst, RetryAfterWithoutJitterBringsAllBackAtOnce) {
  const Presentations seen = with("retry_after");
  EXPECT_EQ(seen.in_burst, kBurst);
  EXPECT_EQ(seen.later_peak, kBurst);
  EXPECT_GT(seen.finished, 0);
}

TEST_F(RetryBurst, RetryAfterWithJitterSpreadsThem) {
  const Presentations seen = with("retry_after_jitter");
  EXPECT_EQ(seen.in_burst, kBurst);
  EXPECT_LE(seen.later_peak, kBurst / 4);
  EXPECT_EQ(seen.finished, kBurst);
  EXPECT_LT(seen.all, with("retry_after").all);
}

// The door's own spread of the waits that it asks for, half up and down, does a part of it for
// callers who obey to the letter.
TEST_F(RetryBurst, TheDoorsOwnJitterHelpsCallersWhoHaveNone) {
  const Presentations plain = with("retry_after");
  const Presentations spread = with("retry_after", {"admission.retry_after.jitter=0.5"});
  EXPECT_LT(spread.later_peak, plain.later_peak);
  EXPECT_GT(spread.finished, plain.finished);
}

}  // namespace
}  // namespace inferscale

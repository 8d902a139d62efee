// Shapes of published comparisons of policies, in the simulator: which one is above which. Values
// are not compared: the lengths of the runs were not published, and the project that measured the
// first one has disowned its figures. docs/validation_admission.md has them side by side.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validation/admission_runs.h"

namespace inferscale {
namespace {

constexpr int kSeeds = 20;

struct Medians {
  double admitted = 0;
  double ttft_ms_p95 = 0;
  double goodput = 0;
  double queue_peak = 0;
};

Medians medians_of(const Settings& settings) {
  std::vector<double> admitted;
  std::vector<double> p95;
  std::vector<double> goodput;
  std::vector<double> queue;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const ProgramRun run("simulate", admission_scenario("queue_bound.yaml"),
                         settings + Settings{fmt::format("seed={}", seed)});
    EXPECT_TRUE(run.succeeded()) << run.error();
    if (!run.succeeded()) return {};
    admitted.push_back(static_cast<double>(run.finished()) / 80);
    p95.push_back(run.ttft_ms("p95"));
    goodput.push_back(run.goodput());
    queue.push_back(run.summary().at("queue").at("depth_peak"));
  }
  return {median_of(admitted), median_of(p95), median_of(goodput), median_of(queue)};
}

void record(const char* name, const Medians& medians) {
  testing::Test::RecordProperty(
      name,
      fmt::format("admitted {:.3f}, p95 {:.0f} ms, goodput {:.3f}, queue {}", medians.admitted,
                  medians.ttft_ms_p95, medians.goodput, medians.queue_peak));
}

// Measured on an A10G: admitted 63.1, 88.1 and 100 %, p95 951, 1668 and 2285 ms.
TEST(Shapes, V1_AShorterQueueBoundAdmitsFewerSooner) {
  const Medians two = medians_of({});
  const Medians eight = medians_of({"admission.parameters.max_waiting=8"});
  const Medians none = medians_of({"admission.policy=none", "admission.parameters={}"});
  record("max_waiting_2", two);
  record("max_waiting_8", eight);
  record("none", none);
  EXPECT_LT(two.ttft_ms_p95, eight.ttft_ms_p95);
  EXPECT_LT(eight.ttft_ms_p95, none.ttft_ms_p95);
  EXPECT_LT(two.admitted, eight.admitted);
  EXPECT_LT(eight.admitted, none.admitted);
  EXPECT_EQ(none.admitted, 1);
  // The setting is the measured one in this: the queue without a bound was 24 at most.
  EXPECT_NEAR(none.queue_peak, 24, 4);
}

// At ten times the load, in simulation: 99.44 % late with everybody in; 53.9 % admitted by the
// worst-case bound and none of them late; a limit of the same volume in between.
TEST(Shapes, V10_TenTimesTheLoadIsHeldByTheBoundAndNotByItsVolume) {
  const std::string config = admission_scenario("tenfold.yaml");
  const auto late = [](const ProgramRun& run) {
    return 1 -
           run.summary().at("slo").at("met").get<double>() / static_cast<double>(run.finished());
  };
  const ProgramRun none("simulate", config, {"admission.policy=none"});
  const ProgramRun bound("simulate", config, {});
  ASSERT_TRUE(none.succeeded() && bound.succeeded()) << none.error() << bound.error();
  const double rate = static_cast<double>(bound.refused()) / 12'000;
  const ProgramRun volume(
      "simulate", config,
      {"admission.policy=equal_volume_shed", fmt::format("admission.parameters.rate={}", rate)});
  ASSERT_TRUE(volume.succeeded()) << volume.error();
  RecordProperty("late",
                 fmt::format("none {:.4f}, wcrt {:.4f}, equal volume {:.4f}; admitted {:.3f}",
                             late(none), late(bound), late(volume), 1 - rate));
  EXPECT_GT(late(none), 0.98);
  EXPECT_LT(late(bound), 0.005);
  EXPECT_NEAR(1 - rate, 0.539, 0.06);
  EXPECT_NEAR(static_cast<double>(volume.refused()), static_cast<double>(bound.refused()),
              4 * 55);  // four deviations of 12,000 draws
  EXPECT_GT(late(volume), 2 * late(bound));
  EXPECT_LT(late(volume), late(none));
}

// The same load without its waves and at the single rate: nobody has to be refused.
TEST(Shapes, V10_AtTheSingleLoadTheBoundRefusesHardlyAnybody) {
  const ProgramRun bound("simulate", admission_scenario("tenfold.yaml"),
                         {"workload.arrivals.rate_rps=1", "workload.requests=3000"});
  ASSERT_TRUE(bound.succeeded()) << bound.error();
  EXPECT_LT(static_cast<double>(bound.refused()) / 3000, 0.02);
  EXPECT_GT(bound.goodput(), 0.98);
}

}  // namespace
}  // namespace inferscale

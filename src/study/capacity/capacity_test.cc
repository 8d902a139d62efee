// The search for a rate against brute force: records are made up, so the truth is known.

#include "study/capacity/capacity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/number_text.h"
#include "study/capacity/capacity_test_support.h"

namespace inferscale {
namespace {

TEST(Capacity, LiesWithinTheToleranceOfTheThresholdWhereverThatIs) {
  for (const double tolerance : {0.3, 0.02, 0.001}) {
    for (double threshold = 0.013; threshold < 400'000; threshold *= 3.7) {
      FakeExecutor executor = oracle([=](double rate) { return rate <= threshold; });
      const CapacityResult result =
          found(with_study("scan: 0, tolerance: " + number_text(tolerance)), executor);
      ASSERT_EQ(result.verdict, CapacityVerdict::kFound) << threshold;
      EXPECT_TRUE(result.within_tolerance);
      EXPECT_LE(*result.carried, threshold);
      EXPECT_GT(*result.not_carried, threshold);
      EXPECT_LE(*result.not_carried, *result.carried * (1 + tolerance));
      EXPECT_TRUE(result.easier_failed.empty());
      // From 10 by doubling, then by halving the ratio.
      const double doublings = std::fabs(std::log2(threshold / 10)) + 2;
      const double halvings = std::ceil(std::log2(std::log(2) / std::log1p(tolerance))) + 1;
      EXPECT_LE(static_cast<double>(result.probes.size()), doublings + halvings + 1);
    }
  }
}

// What a grid of all rates says of which are carried, against what the search says.

TEST(Capacity, OfAnAnswerThatIsNotMonotoneIsABoundaryAndTheScanSeesTheGap) {
  const auto truth = [](double rate) { return rate <= 12 || (rate >= 19 && rate <= 30); };
  std::set<double> grid;
  for (int i = 1; i <= 10'000; ++i) {
    if (truth(i * 0.01)) grid.insert(i * 0.01);
  }
  const auto carries_by_grid = [&](double rate) {
    return grid.contains(std::round(rate * 100) * 0.01);
  };
  ASSERT_TRUE(carries_by_grid(20) && !carries_by_grid(15));
  // From 10: 20 is carried, 40 is not; the gap lies between.
  FakeExecutor executor = oracle(truth);
  const CapacityResult result = found(with_study("scan: 9"), executor);
  ASSERT_EQ(result.verdict, CapacityVerdict::kFound);
  EXPECT_NEAR(*result.carried, 30, 0.6);
  EXPECT_LE(*result.carried, 30);
  // Tenths of the capacity: 15 and 18 lie in the gap.
  ASSERT_EQ(result.easier_failed.size(), 2U);
  for (const double load : result.easier_failed) EXPECT_TRUE(load > 12 && load < 19) << load;
  // From 15 downwards the lower boundary is found.
  FakeExecutor lower = oracle(truth);
  const CapacityResult other = found(with_study("high: 15"), lower);
  EXPECT_NEAR(*other.carried, 12, 0.24);
}

TEST(Capacity, NeverFailedAndNeverPassedAreAnswersOfTheirOwn) {
  FakeExecutor everything = oracle([](double) { return true; });
  const CapacityResult all = found(with_study("high: 300"), everything);
  EXPECT_EQ(all.verdict, CapacityVerdict::kNeverFailed);
  EXPECT_EQ(all.carried, 300);
  EXPECT_FALSE(all.not_carried);
  EXPECT_FALSE(all.recommended);

  FakeExecutor nothing = oracle([](double) { return false; });
  const CapacityResult none = found(kConfig, nothing);
  EXPECT_EQ(none.verdict, CapacityVerdict::kNeverPassed);
  EXPECT_FALSE(none.carried);
  EXPECT_NEAR(*none.not_carried, 10.0 / 1024, 1e-4);

  FakeExecutor from_low = oracle([](double) { return false; });
  const CapacityResult bounded = found(with_study("low: 4"), from_low);
  EXPECT_EQ(bounded.probes.size(), 1U);
  EXPECT_EQ(bounded.not_carried, 4);
}

// Rates above 30 end before the warm-up does.

TEST(Capacity, EndsAtALoadOfWhichNothingIsLeftToJudge) {
  const auto judged_up_to = [](double most, double carried_up_to) {
    return FakeExecutor([=](const RunRequest& request) {
      const double rate = number_of(request, "workload.arrivals.rate_rps");
      RunResult record = record_of(rate <= carried_up_to ? 1 : 0.5);
      if (rate > most) record.figures.set(Metric::kGoodput, std::nullopt);
      return record;
    });
  };
  FakeExecutor executor = judged_up_to(30, 100);
  const CapacityResult result = found(kConfig, executor);
  EXPECT_EQ(result.verdict, CapacityVerdict::kNotJudged);
  EXPECT_EQ(result.not_judged, 40);
  EXPECT_EQ(result.carried, 20);
  EXPECT_FALSE(result.not_carried);
  EXPECT_FALSE(result.recommended);
  EXPECT_EQ(result.probes.size(), 3U);

  FakeExecutor nothing = judged_up_to(0, 100);
  const CapacityResult none = found(kConfig, nothing);
  EXPECT_EQ(none.verdict, CapacityVerdict::kNotJudged);
  EXPECT_EQ(none.not_judged, 10);
  EXPECT_FALSE(none.carried);
  EXPECT_FALSE(none.not_carried);
  EXPECT_EQ(none.probes.size(), 1U);

  FakeExecutor below = judged_up_to(30, 25);
  EXPECT_EQ(found(with_study("high: 39"), below).verdict, CapacityVerdict::kNotJudged);
  FakeExecutor enough = judged_up_to(50, 25);
  EXPECT_EQ(found(kConfig, enough).verdict, CapacityVerdict::kFound);
  FakeExecutor fleet([](const RunRequest&) {
    RunResult record = record_of(1);
    record.figures.set(Metric::kGoodput, std::nullopt);
    return record;
  });
  EXPECT_EQ(found(with_study("search: replicas"), fleet).verdict, CapacityVerdict::kNotJudged);
}

TEST(Capacity, StopsAtMaxProbesAndSaysSo) {
  FakeExecutor executor = oracle([](double rate) { return rate <= 25; });
  const CapacityResult result = found(with_study("max_probes: 4, scan: 0"), executor);
  EXPECT_EQ(result.verdict, CapacityVerdict::kFound);
  EXPECT_FALSE(result.within_tolerance);
  EXPECT_EQ(result.probes.size(), 5U) << "four, and the recommended load";
  EXPECT_EQ(result.carried, 20);
}

TEST(Capacity, TriesTheRecommendedLoadAndEvenlySpacedOnesBelowTheCapacity) {
  FakeExecutor executor = oracle([](double rate) { return rate <= 25; });
  const CapacityResult result = found(kConfig, executor);
  ASSERT_TRUE(result.recommended);
  EXPECT_NEAR(*result.recommended, 0.8 * *result.carried, 0.002 * *result.carried);
  ASSERT_NE(result.probe_of(result.recommended), nullptr);
  int scanned = 0;
  for (const CapacityProbe& probe : result.probes) {
    if (probe.stage != ProbeStage::kScan) continue;
    ++scanned;
    const double fifths = probe.load / *result.carried * 5;
    EXPECT_NEAR(fifths, std::round(fifths), 0.02);
  }
  EXPECT_EQ(scanned, 4) << "the recommended load is the highest of them";
}

TEST(Capacity, GivesEveryLoadTheSameSeedsInOneBatch) {
  FakeExecutor executor = oracle([](double rate) { return rate <= 25; });
  const CapacityResult result = found(kConfig + "seed: 7\nrepeats: 3\n", executor);
  ASSERT_EQ(executor.asked.size(), 3 * result.probes.size());
  for (std::size_t i = 0; i < executor.asked.size(); ++i) {
    EXPECT_EQ(executor.asked[i].seed, 7 + i % 3);
    EXPECT_EQ(request_text(executor.asked[i]).substr(7),
              request_text(executor.asked[i - i % 3]).substr(7));
  }
}

TEST(Capacity, ScalesAScheduleAsAWholeAndKeepsItsTime) {
  std::string config = kConfig;
  const std::string poisson = "{process: poisson, rate_rps: 10}";
  config.replace(config.find(poisson), poisson.size(),
                 "{process: piecewise, rate_scale: 2, repeat: true, schedule: [{duration_s: 50, "
                 "rate_rps: 2}, {duration_s: 50, rate_rps: 8}]}");
  // Rates 4 and 16: 10 in the mean, and 1000 requests in 100 s.
  FakeExecutor executor =
      oracle([](double scale) { return scale <= 5; }, "workload.arrivals.rate_scale");
  const CapacityResult result = found(config, executor);
  EXPECT_NEAR(*result.carried, 25, 0.5);
  EXPECT_TRUE(result.keeps_window);
  for (const RunRequest& request : executor.asked) {
    const double scale = number_of(request, "workload.arrivals.rate_scale");
    EXPECT_EQ(number_of(request, "workload.requests"), std::round(1000 * scale / 2));
  }
}

TEST(Capacity, KeepsTheNumberOfRequestsUnlessSomethingHasItsOwnTime) {
  const auto requests_of = [](const std::string& config) {
    FakeExecutor executor = oracle([](double rate) { return rate <= 25; });
    found(config, executor);
    for (const RunRequest& request : executor.asked) {
      if (number_of(request, "workload.arrivals.rate_rps") == 20) {
        return number_of(request, "workload.requests");
      }
    }
    return 0.0;
  };
  EXPECT_EQ(requests_of(kConfig), -1) << "as it is configured";
  EXPECT_EQ(requests_of(with_study("keep: window")), 2000);
  EXPECT_EQ(requests_of(kConfig + "measurement: {warmup_s: 5}\n"), 2000);
  EXPECT_EQ(requests_of(kConfig + "measurement: {warmup_s: 5}\nstudy: {capacity: {keep: "
                                  "requests}}\n"),
            -1);
}

// Traces of two rows, of a format with times of the trace's own or of each session's.
std::string trace_error(TraceFormat format, const std::string& trace, const std::string& study) {
  RunInputs inputs = test_inputs();
  inputs.load_trace = [format](const TraceOptions&, const std::string&,
                               std::uint64_t) -> Result<std::shared_ptr<const Trace>> {
    Trace rows;
    rows.format = format;
    rows.arrival_ns = {0, 1'000'000'000};
    rows.prompt_tokens = {1, 1};
    rows.output_tokens = {1, 1};
    return std::make_shared<const Trace>(std::move(rows));
  };
  Result<ConfigNode> tree = parse_yaml(
      "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\nworkload: {trace: {file: t.csv" +
          trace + "}}\nslo: {ttft_ms: 500}\nstudy: {capacity: {" + study + "}}\n",
      "test.yaml");
  const Result<Scenario> scenario = Scenario::make(std::move(*tree), inputs, "test.yaml");
  CHECK(scenario.has_value()) << scenario.error().to_string();
  const Result<CapacityAxis> axis = CapacityAxis::make(*scenario);
  return axis ? axis->unit() : axis.error().to_string();
}

TEST(CapacityAxis, OfATraceIsItsScaleOrTheFleetAndNeverARate) {
  const auto own = TraceFormat::kInferscale;
  const std::string refused = trace_error(own, "", "search: rate");
  for (const char* way : {"another rate would not change them", "search: trace_rate_scale",
                          "search: replicas", "generated arrivals"}) {
    EXPECT_NE(refused.find(way), std::string::npos) << refused;
  }
  EXPECT_EQ(trace_error(own, "", "search: trace_rate_scale"), "times the trace's rate");
  EXPECT_EQ(trace_error(own, "", "search: replicas"), "replicas");
  EXPECT_NE(trace_error(own, "", "search: replicas, for_load: 5").find("a trace has its own load"),
            std::string::npos);
  const auto sessions = TraceFormat::kClaudeCodeCsv;
  EXPECT_NE(trace_error(sessions, "", "search: trace_rate_scale").find("session_arrivals"),
            std::string::npos);
  EXPECT_EQ(trace_error(sessions, ", session_arrivals: {rate_rps: 1}", "search: trace_rate_scale"),
            "times the trace's rate");
}

TEST(Capacity, RefusesWhatItCanNotAnswer) {
  std::string no_slo = kConfig;
  no_slo.replace(no_slo.find("slo: {ttft_ms: 500}"), 19, "slo: {}");
  EXPECT_NE(error_of(no_slo).find("slo: expected at least one target"), std::string::npos);
  EXPECT_NE(error_of(with_study("search: trace_rate_scale")).find("expected a workload.trace"),
            std::string::npos);
  const std::string replicas = "study: {capacity: {search: replicas}}\n";
  std::string split = kConfig + replicas;
  split.replace(split.find("h100-sxm}"), 9, "h100-sxm, disaggregation: {prefill: {}, decode: {}}}");
  EXPECT_NE(error_of(split).find("deployment.disaggregation has two pools"), std::string::npos);
  std::string groups = kConfig + replicas;
  groups.replace(groups.find("h100-sxm}"), 9, "h100-sxm, groups: [{name: replicas}]}");
  EXPECT_NE(error_of(groups).find("deployment.groups has replicas"), std::string::npos);
  EXPECT_NE(error_of(with_study("search: replicas, for_load: 2e6")).find("for_load: '2000000'"),
            std::string::npos);
  EXPECT_NE(error_of(with_study("low: 2e6")).find("expected low and high within"),
            std::string::npos);
}

}  // namespace
}  // namespace inferscale

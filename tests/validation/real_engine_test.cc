// The `vllm` scheduler against a real engine's own record (see real_engine_record.h).
//
// The engine's arrivals, lengths, limits and KV blocks are replayed. With the step times of the
// profile, the scheduler is what is tested; with the roofline, the whole model. docs/validation.md
// has the figures that came out and what explains them; the bounds here are those figures with some
// room, and the controls show that worse rules leave it.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "catalog/accelerators.h"
#include "catalog/models.h"
#include "replica/latency/roofline.h"
#include "validation/data_folder.h"
#include "validation/real_engine_profile.h"
#include "validation/real_engine_replay.h"

namespace inferscale {
namespace {

constexpr const char* kProfile = "profiles/lss_RTX4090_meta-llama_Llama-3.1-8B_bf16_tp1";
constexpr std::int64_t kLayers = 32;

class RealEngine : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_data()) GTEST_SKIP() << "no data folder: set INFERSCALE_DATA";
    Result<EngineRun> run = read_engine_run();
    ASSERT_TRUE(run) << run.error().to_string();
    run_ = std::move(*run);
    auto latency = read_profile_latency(data_file(kProfile), kLayers);
    ASSERT_TRUE(latency) << latency.error().to_string();
    latency_ = std::move(*latency);
  }

  EngineRun run_;
  std::unique_ptr<LatencyModel> latency_;
};

double last(const std::vector<double>& times_s) {
  return *std::ranges::max_element(times_s);
}

double peak(const std::vector<double>& series) {
  return *std::ranges::max_element(series);
}

// The record is of the run that it is said to be of: counted with Python's csv and json.
TEST_F(RealEngine, RecordIsWhole) {
  EXPECT_EQ(run_.requests.size(), 300U);
  EXPECT_EQ(run_.ticks.size(), 184U);
  EXPECT_EQ(run_.settings.kv_blocks, 2588);
  EXPECT_EQ(run_.settings.max_num_batched_tokens, 2048);
  TokenCount prompts = 0;
  TokenCount answers = 0;
  for (const EngineRequest& request : run_.requests) {
    prompts += request.prompt_tokens;
    answers += request.output_tokens;
    EXPECT_LE(request.sent, request.queued);
    EXPECT_LE(request.queued, request.scheduled);
    EXPECT_LT(request.scheduled, request.first_token);
    EXPECT_LE(request.first_token, request.last_token);
  }
  EXPECT_EQ(prompts, 257239);
  EXPECT_EQ(answers, 195753);
}

// A second in which no prompt was prefilled had running / (tokens a second) as its step time. (The
// record does not count tokens that are computed again, so in some of these seconds there was
// prefilling all the same: a few of the measured times are long, and the median is the comparison.)
TEST_F(RealEngine, ProfileGivesTheStepsThatItTook) {
  std::vector<double> ratios;
  const auto block = static_cast<double>(run_.settings.block_tokens);
  const double tokens = static_cast<double>(run_.settings.kv_blocks) * block;
  for (std::size_t i = 1; i < run_.ticks.size(); ++i) {
    const EngineTick& before = run_.ticks[i - 1];
    const EngineTick& tick = run_.ticks[i];
    const std::int64_t running = (before.running + tick.running) / 2;
    if (before.prompt_tokens_per_s > 0 || tick.prompt_tokens_per_s > 0 || running < 16) continue;
    const double held = tokens * (before.kv_used_fraction + tick.kv_used_fraction) / 2;
    const StepCost step = latency_->cost(
        {.decode_sequences = running, .decode_context = static_cast<TokenCount>(held)});
    ratios.push_back(step.first_ns * 1e-9 * tick.output_tokens_per_s /
                     static_cast<double>(running));
  }
  ASSERT_GT(ratios.size(), 50U);
  std::ranges::sort(ratios);
  EXPECT_NEAR(ratios[ratios.size() / 2], 1, 0.06);
}

// Straight lines as long as they are said to be: what a jump over many steps rests on.
TEST_F(RealEngine, ProfileIsALineUpToTheNextGridPoint) {
  for (const TokenCount context : {900, 1000, 1023, 1024, 5000, 20000}) {
    const std::int64_t sequences = 24;
    const auto cost_at = [&](TokenCount more) {
      return latency_->cost(
          {.decode_sequences = sequences, .decode_context = sequences * (context + more)});
    };
    const StepCost first = cost_at(0);
    ASSERT_GE(first.valid_steps, 1);
    const std::int64_t last = std::min<std::int64_t>(first.valid_steps, 3000) - 1;
    EXPECT_NEAR(cost_at(last).first_ns,
                first.first_ns + static_cast<double>(last) * first.growth_ns, 1)
        << "context " << context;
  }
}

TEST_F(RealEngine, SchedulesInTheEnginesOrder) {
  const Replay ours = replay(run_, *latency_, {});
  EXPECT_TRUE(ours.violations.empty());
  EXPECT_EQ(inversions(ours.engine_start_s), 0);
  EXPECT_EQ(inversions(ours.start_s), 0);
  EXPECT_GT(kendall_tau(ours.first_token_s, ours.engine_first_token_s), 0.999);
  EXPECT_GT(kendall_tau(ours.finish_s, ours.engine_finish_s), 0.98);
}

TEST_F(RealEngine, TimesAndSeriesFollowTheEngines) {
  const Replay ours = replay(run_, *latency_, {});
  EXPECT_NEAR(last(ours.finish_s), last(ours.engine_finish_s), 0.01 * last(ours.engine_finish_s));
  EXPECT_NEAR(mean_of(ours.wait_s), mean_of(ours.engine_wait_s),
              0.03 * mean_of(ours.engine_wait_s));
  EXPECT_LT(ours.start_errors().mean_absolute, 1.6);
  EXPECT_LT(ours.first_token_errors().mean_absolute, 1.6);
  EXPECT_LT(ours.finish_errors().mean_absolute, 1.6);
  EXPECT_LT(ours.running_errors().root_mean_square, 2.5);
  EXPECT_LT(ours.waiting_errors().root_mean_square, 4);
  EXPECT_NEAR(peak(ours.running), peak(ours.engine_running), 3);
  EXPECT_NEAR(peak(ours.waiting), peak(ours.engine_waiting), 5);
}

// Controls: rules that the engine does not follow are told apart from those that it does.
TEST_F(RealEngine, WithoutOwnBlocksPreemptionCostsTooMuch) {
  const Replay ours = replay(run_, *latency_, {});
  const Replay without = replay(run_, *latency_, {.own_blocks = false});
  EXPECT_GT(without.start_errors().mean_absolute, 2 * ours.start_errors().mean_absolute);
  EXPECT_GT(without.waiting_errors().root_mean_square, 2 * ours.waiting_errors().root_mean_square);
}

TEST_F(RealEngine, OtherSchedulersAreFurtherAway) {
  const Replay ours = replay(run_, *latency_, {});
  for (const SchedulerKind kind : {SchedulerKind::kContinuousFcfs, SchedulerKind::kSglang}) {
    const Replay other = replay(run_, *latency_, {.scheduler = kind});
    EXPECT_GT(other.start_errors().mean_absolute, 1.3 * ours.start_errors().mean_absolute)
        << scheduler_name(kind);
    EXPECT_GT(other.running_errors().root_mean_square, 1.3 * ours.running_errors().root_mean_square)
        << scheduler_name(kind);
  }
  const Replay reserving =
      replay(run_, *latency_, {.scheduler = SchedulerKind::kStaticFcfs, .own_blocks = false});
  EXPECT_GT(reserving.start_errors().mean_absolute, 10 * ours.start_errors().mean_absolute);
}

// The whole model, nothing forced: the roofline's step times instead of the profile's.
TEST_F(RealEngine, RooflineStepTimesKeepTheShape) {
  const Result<ModelSpec> model = find_model("llama-3.1-8b");
  const Result<HardwareSpec> hardware = find_accelerator("rtx-4090");
  ASSERT_TRUE(model && hardware);
  const auto roofline = make_roofline(*model, *hardware, {}, {});
  const Replay ours = replay(run_, *roofline, {});
  EXPECT_EQ(inversions(ours.start_s), 0);
  EXPECT_NEAR(last(ours.finish_s), last(ours.engine_finish_s), 0.1 * last(ours.engine_finish_s));
  EXPECT_NEAR(mean_of(ours.wait_s), mean_of(ours.engine_wait_s), 0.1 * mean_of(ours.engine_wait_s));
  EXPECT_NEAR(peak(ours.running), peak(ours.engine_running), 5);
  EXPECT_NEAR(peak(ours.waiting), peak(ours.engine_waiting), 15);
}

}  // namespace
}  // namespace inferscale

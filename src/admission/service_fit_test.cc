// A small engine with known coefficients, whose steps mix prompts and answers: what is fitted from
// its outcomes against what it was made with.

#include "admission/service_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <vector>

#include "base/distributions.h"

namespace inferscale {
namespace {

constexpr double kGammaMs = 7;
constexpr double kBetaMs = 0.25;
constexpr double kAlphaMs = 0.08;
constexpr TokenCount kChunk = 512;

// One replica: each step computes up to a chunk of the oldest prompts, and a token of each answer.
class Engine {
 public:
  explicit Engine(const ServiceFitOptions& options) : fit(options) {}

  void run(double rate_per_s, int requests, TokenCount least_prompt, TokenCount prompt_range) {
    double next_s = now_s_ + draw_exponential(random_) / rate_per_s;
    while (requests > 0 || !prompts_.empty() || !answers_.empty()) {
      while (requests > 0 && next_s <= now_s_) {
        arrive(next_s, least_prompt, prompt_range);
        --requests;
        next_s += draw_exponential(random_) / rate_per_s;
      }
      if (prompts_.empty() && answers_.empty()) {
        now_s_ = next_s;
        continue;
      }
      step();
    }
  }

  ServiceFit fit;
  double gamma_ms = kGammaMs;

 private:
  struct Job {
    RequestView view;
    AttemptEnd end;
    TokenCount left_prompt = 0;
    TokenCount left_output = 0;
  };

  static Instant at(double s) { return Instant() + Duration::from_seconds(s); }

  void arrive(double s, TokenCount least_prompt, TokenCount prompt_range) {
    Job job;
    const auto drawn =
        static_cast<TokenCount>(random_.below(static_cast<std::uint64_t>(prompt_range)));
    job.view.prompt_tokens = job.left_prompt = least_prompt + drawn;
    job.left_output = job.end.output_tokens = 20 + static_cast<TokenCount>(random_.below(100));
    // The engine takes it up at the step that begins now; the door hands it over at once.
    static_cast<void>(s);
    job.end.admitted_at = job.end.dispatched_at = at(now_s_);
    job.end.in_flight_at_admission =
        static_cast<std::int64_t>(prompts_.size() + answers_.size()) + 1;
    fit.on_dispatched(job.end.dispatched_at);
    prompts_.push_back(job);
  }

  void step() {
    TokenCount room = kChunk;
    std::vector<Job> begun;
    while (!prompts_.empty() && room > 0) {
      const TokenCount taken = std::min(room, prompts_.front().left_prompt);
      room -= taken;
      prompts_.front().left_prompt -= taken;
      if (prompts_.front().left_prompt > 0) break;
      begun.push_back(prompts_.front());
      prompts_.pop_front();
    }
    now_s_ += 1e-3 * (gamma_ms + kBetaMs * static_cast<double>(answers_.size()) +
                      kAlphaMs * static_cast<double>(kChunk - room));
    std::deque<Job> going;
    for (Job& job : answers_) {
      if (--job.left_output > 0) {
        going.push_back(job);
      } else {
        end(job);
      }
    }
    for (Job& job : begun) {
      job.end.first_token = at(now_s_);
      fit.on_first_token(job.view, at(now_s_));
      --job.left_output;
      going.push_back(job);
    }
    answers_ = std::move(going);
  }

  void end(Job& job) {
    job.end.end = PermitEnd::kFinished;
    job.end.now = at(now_s_);
    fit.on_outcome(job.view, job.end);
  }

  RandomStream random_{42, "engine"};
  double now_s_ = 0;
  std::deque<Job> prompts_;
  std::deque<Job> answers_;
};

ServiceFitOptions options() {
  return {.start = {.chunk_tokens = kChunk}};
}

TEST(ServiceFit, FindsTheCoefficientsOfAnEngineThatMixesPromptsAndAnswers) {
  Engine engine(options());
  engine.run(0.2, 40, 100, 1500);  // mostly alone
  for (const double rate : {1.0, 4.0, 8.0, 2.0}) engine.run(rate, 500, 100, 400);
  ASSERT_TRUE(engine.fit.is_fitted());
  const ServiceModel model = engine.fit.model();
  EXPECT_EQ(model.provenance, ServiceProvenance::kFitted);
  EXPECT_NEAR(model.step_ns, kGammaMs * 1e6, 0.01 * kGammaMs * 1e6);
  EXPECT_NEAR(model.decode_ns_per_sequence, kBetaMs * 1e6, 0.1 * kBetaMs * 1e6);
  EXPECT_NEAR(model.prefill_ns_per_token, kAlphaMs * 1e6, 0.05 * kAlphaMs * 1e6);
  EXPECT_GT(model.confidence, 0.8);
}

TEST(ServiceFit, BetaIsASlopeAndNotTheWholeGapF7) {
  // With a limit of 50 ms for token gaps (50 - 7) / 0.25 = 172 sequences may decode. A beta of the
  // whole gap, 11.6 ms, would have allowed three.
  Engine engine(options());
  engine.run(0.2, 40, 100, 1500);
  for (const double rate : {1.0, 8.0}) engine.run(rate, 1000, 100, 400);
  const ServiceModel model = engine.fit.model();
  const double most = (50e6 - model.step_ns) / model.decode_ns_per_sequence;
  EXPECT_NEAR(most, 172, 18);
}

TEST(ServiceFit, PromptsThatAreAllAlikeGiveTheProportion) {
  Engine engine(options());
  engine.run(0.2, 40, 500, 1);
  for (const double rate : {1.0, 5.0}) engine.run(rate, 500, 500, 1);
  const ServiceModel model = engine.fit.model();
  EXPECT_NEAR(model.prefill_ns_per_token, kAlphaMs * 1e6, 0.05 * kAlphaMs * 1e6);
}

TEST(ServiceFit, FollowsAnEngineThatBecomesSlower) {
  ServiceFitOptions short_memory = options();
  short_memory.answers_remembered = 300;
  Engine engine(short_memory);
  engine.run(0.2, 40, 100, 1500);
  engine.run(5, 1000, 100, 400);
  engine.gamma_ms = 2 * kGammaMs;
  engine.run(0.1, 300, 100, 1500);
  for (const double rate : {1.0, 4.0, 2.0}) engine.run(rate, 500, 100, 400);
  EXPECT_NEAR(engine.fit.model().step_ns, 2 * kGammaMs * 1e6, 0.1 * 2 * kGammaMs * 1e6);
}

TEST(ServiceFit, SaysNothingWithoutDifferentLoadsOrUnloadedPrefills) {
  Engine idle(options());
  idle.run(0.05, 300, 100, 400);  // never two at once
  EXPECT_FALSE(idle.fit.is_fitted());
  EXPECT_FALSE(idle.fit.model().is_known());

  ServiceFitOptions calibrated = options();
  calibrated.start.step_ns = 123;
  calibrated.start.provenance = ServiceProvenance::kCalibrated;
  Engine busy(calibrated);
  busy.run(8, 1000, 100, 400);  // never one alone
  EXPECT_FALSE(busy.fit.is_fitted());
  EXPECT_EQ(busy.fit.model().step_ns, 123);
  EXPECT_EQ(busy.fit.model().provenance, ServiceProvenance::kCalibrated);
}

TEST(ServiceFit, FailuresAndWhatHasNoGapAreNoPoints) {
  ServiceFitOptions every = options();
  every.least_answers = every.least_prefills = 1;
  every.least_deviation = 0;
  const Instant start;
  const RequestView request{.prompt_tokens = 10};
  const AttemptEnd served{.end = PermitEnd::kFinished,
                          .dispatched_at = start,
                          .first_token = start + Duration::from_millis(10),
                          .now = start + Duration::from_millis(50),
                          .output_tokens = 5,
                          .in_flight_at_admission = 1};
  AttemptEnd failed = served;
  failed.end = PermitEnd::kDropped;
  AttemptEnd single = served;
  single.output_tokens = 1;
  AttemptEnd whole = served;  // not streamed
  whole.first_token = Instant::never();
  const std::vector<AttemptEnd> ends = {served, failed, single, whole};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const AttemptEnd& end = ends[i];
    ServiceFit fit(every);
    fit.on_dispatched(start);
    if (end.first_token != Instant::never()) fit.on_first_token(request, end.first_token);
    fit.on_outcome(request, end);
    EXPECT_EQ(fit.is_fitted(), i == 0) << i;
  }
}

}  // namespace
}  // namespace inferscale

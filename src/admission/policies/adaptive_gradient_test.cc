// The limit against a small model of a server: its resting point, its recovery, its bounds.

#include "admission/policies/adaptive_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <queue>

#include "admission/policy_test_support.h"
#include "base/distributions.h"

namespace inferscale {
namespace {

// c places that each serve one request at a time for an exponential time; a first token comes
// `prefill_s` after the start. Arrivals are Poisson; who is not admitted is gone.
class Server {
 public:
  Server(AdmissionPolicy& policy, std::size_t places) : policy_(policy), places_(places) {
    pool_.set_declared(policy.needs().signals);
    pool_.service_model() = {.step_ns = 0,
                             .prefill_ns_per_token = prefill_s * 1e9 / 100,
                             .provenance = ServiceProvenance::kCalibrated};
  }

  void run(double until_s, double rate_per_s) {
    while (next_arrival_ < until_s) {
      if (!running_.empty() && running_.top().ends_s < next_arrival_) {
        finish();
        continue;
      }
      arrive();
      next_arrival_ += draw_exponential(random_) / rate_per_s;
    }
  }

  // What requests met that were admitted since the last call.
  double mean_slowdown() const { return slowdown_ / served_; }
  double served() const { return served_; }
  void forget() { slowdown_ = served_ = 0; }

  double prefill_s = 0.2;
  double decode_s = 1;

 private:
  struct Job {
    double admitted_s = 0;
    double first_token_s = 0;
    double ends_s = 0;
    std::int64_t met = 0;
    bool operator<(const Job& other) const { return ends_s > other.ends_s; }
  };

  static Instant at(double s) { return Instant() + Duration::from_seconds(s); }

  void arrive() {
    pool_.set_now(next_arrival_);
    const std::size_t in_flight = running_.size() + waiting_.size();
    pool_.set(Signal::kInFlight, static_cast<double>(in_flight));
    if (!policy_.decide(request_, pool_).admitted()) return;
    policy_.on_admit(request_, pool_.now());
    waiting_.push_back(
        {.admitted_s = next_arrival_, .met = static_cast<std::int64_t>(in_flight) + 1});
    start(next_arrival_);
  }

  void start(double now_s) {
    while (!waiting_.empty() && running_.size() < places_) {
      Job job = waiting_.front();
      waiting_.pop_front();
      job.first_token_s = now_s + prefill_s;
      job.ends_s = job.first_token_s + decode_s * draw_exponential(random_);
      running_.push(job);
    }
  }

  void finish() {
    const Job job = running_.top();
    running_.pop();
    slowdown_ += (job.first_token_s - job.admitted_s) / prefill_s;
    served_ += 1;
    policy_.on_outcome(request_, {.end = PermitEnd::kFinished,
                                  .admitted_at = at(job.admitted_s),
                                  .first_token = at(job.first_token_s),
                                  .now = at(job.ends_s),
                                  .in_flight_at_admission = job.met});
    start(job.ends_s);
  }

  AdmissionPolicy& policy_;
  std::size_t places_;
  FakePool pool_;
  RequestView request_{.prompt_tokens = 100};
  RandomStream random_{42, "server"};
  double next_arrival_ = 0;
  std::priority_queue<Job> running_;
  std::deque<Job> waiting_;
  double slowdown_ = 0;
  double served_ = 0;
};

TEST(AdaptiveGradient, RestsWhereTheSlowdownIsTheToleratedOneAndTheHeadroom) {
  for (const char* initial : {"5", "400"}) {
    const auto policy = make_policy_for_test("adaptive_gradient", {{"initial", initial}});
    Server server(*policy, 50);
    server.run(300, 100);  // twice what 50 places can do
    server.forget();
    server.run(1500, 100);
    const double limit = *policy->limit();
    // g L + sqrt(L) = L  =>  g = 1 - 1 / sqrt(L), and g is tolerance / slowdown.
    const double rest = 1.5 / (1 - 1 / std::sqrt(limit));
    EXPECT_NEAR(server.mean_slowdown(), rest, 0.1 * rest) << initial;
    // All places are used, and few wait: 1200 s of 50 places for 1.2 s each.
    EXPECT_GT(server.served(), 0.97 * 1200 * 50 / 1.2) << initial;
    EXPECT_LT(limit, 70) << initial;
  }
}

TEST(AdaptiveGradient, DoesNotGrowWhileLessThanHalfIsUsed) {
  const auto policy = make_policy_for_test("adaptive_gradient", {{"initial", "100"}});
  Server server(*policy, 50);
  server.run(500, 10);
  EXPECT_EQ(*policy->limit(), 100);
}

TEST(AdaptiveGradient, MeasuresTheBestLatencyAnewWhereNobodyKnowsIt) {
  const auto policy = make_policy_for_test(
      "adaptive_gradient", {{"measure", "ttft"}, {"remeasure_s", "200"}, {"initial", "20"}});
  EXPECT_FALSE(policy->needs().service_model);
  Server server(*policy, 50);
  server.run(1000, 100);
  const double before = *policy->limit();
  // Prompts take three times as long from now on: the old best would halve the limit for good.
  server.prefill_s = 0.6;
  server.run(3000, 100);
  server.forget();
  server.run(4000, 100);
  EXPECT_GT(server.served(), 0.7 * 1000 * 50 / 1.6);
  EXPECT_LT(std::max(*policy->limit(), before), 100);
}

TEST(AdaptiveGradient, WhileItMeasuresTheLimitIsTheLeast) {
  const auto policy = make_policy_for_test(
      "adaptive_gradient",
      {{"measure", "ttft"}, {"remeasure_s", "2"}, {"batch", "2"}, {"initial", "20"}});
  const auto outcome = [&](double admitted_s, double ttft_s, std::int64_t met) {
    const Instant admitted = Instant() + Duration::from_seconds(admitted_s);
    policy->on_outcome({}, {.end = PermitEnd::kFinished,
                            .admitted_at = admitted,
                            .first_token = admitted + Duration::from_seconds(ttft_s),
                            .now = admitted + Duration::from_seconds(ttft_s + 1),
                            .in_flight_at_admission = met});
  };
  outcome(1, 0.5, 20);
  outcome(1, 0.5, 20);
  EXPECT_EQ(*policy->limit(), 3);
  // These were admitted before, or met too many: they say nothing about the best.
  outcome(2, 9, 3);
  outcome(10, 9, 4);
  outcome(10, 0.1, 3);
  EXPECT_EQ(*policy->limit(), 3);
  outcome(10, 0.3, 2);
  EXPECT_GT(*policy->limit(), 3);
  // T0 is 0.2 now: a mean of 0.6 gives g = 1/2, and the limit moves a fifth of the way.
  const double limit = *policy->limit();
  outcome(11, 0.6, 20);
  outcome(11, 0.6, 20);
  EXPECT_NEAR(*policy->limit(), 0.8 * limit + 0.2 * (0.5 * limit + std::sqrt(limit)), 1e-9);
}

TEST(AdaptiveGradient, FailuresAndWhatWasNotStreamedSayNothing) {
  const auto policy =
      make_policy_for_test("adaptive_gradient", {{"measure", "ttft"}, {"batch", "1"}});
  policy->on_outcome({}, {.end = PermitEnd::kDropped});
  policy->on_outcome({}, {.end = PermitEnd::kIgnored});
  policy->on_outcome({}, {.end = PermitEnd::kFinished});
  EXPECT_EQ(*policy->limit(), 20);
}

TEST(AdaptiveGradient, RefusesAboveTheLimit) {
  const auto policy =
      make_policy_for_test("adaptive_gradient", {{"initial", "4"}, {"then", "defer"}});
  FakePool pool(policy->needs().signals);
  pool.set(Signal::kInFlight, 3);
  EXPECT_TRUE(policy->decide({}, pool).admitted());
  pool.set(Signal::kInFlight, 4);
  const Decision refused = policy->decide({}, pool);
  EXPECT_EQ(refused.verdict, Verdict::kDefer);
  EXPECT_EQ(refused.reason, Reason::kConcurrency);
}

}  // namespace
}  // namespace inferscale

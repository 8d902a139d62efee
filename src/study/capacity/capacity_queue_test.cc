// The capacity of replicas that are queues with known answers, by whole runs.
//
// One server (M/M/1): requests are served one at a time, and a request's service time is its
// prompt's length, so TTFT is the time in the system, whose steady state is known:
//
//   P(T > t) = exp(-(mu - rate) t)
//
// c servers (M/M/c): max_num_seqs c, prefills that take no time, decode steps of constant length
// whatever the batch, so that TTFT is the wait (L. Kleinrock, "Queueing Systems" vol. 1, 1975):
//
//   P(W > t) = C(c, rate / mu) exp(-(c mu - rate) t)        C: Erlang's formula
//
// The target t is set so that a chosen rate just reaches the attainment. Lengths are geometric with
// a mean of 200 tokens instead of exponential, which moves the tail by about half a token in 200.
//
// Statistics. The worst of five repetitions must reach the attainment, so the search ends a little
// below the rate of theory. With N requests, an attainment a and a relaxation over
// n = (1 + rho) / (1 - rho)^2 requests, the deviation of the attained fraction is about
// sqrt(a (1 - a) n / N), and the worst of five lies 1.16 deviations below the mean; divided by the
// slope of the tail, that is 1.3 % of the rate with one server and 1.1 % with four. The search's
// own tolerance is 1 %. Found: 1.5 % and 2.0 % below theory, with fixed seeds; 3 % are allowed.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/number_text.h"
#include "study/capacity/capacity.h"
#include "study/serial_executor.h"
#include "study/study_test_support.h"

namespace inferscale {
namespace {

constexpr double kMeanTokens = 200;
constexpr double kTokenUs = 500;
constexpr double kMu = 1e6 / (kMeanTokens * kTokenUs);  // 10 requests/s and server

// Geometric from 1, up to ten means.
std::string geometric_lengths() {
  std::string values;
  std::string weights;
  double weight = 1;
  for (int tokens = 1; tokens <= 10 * kMeanTokens; ++tokens) {
    values += (tokens == 1 ? "" : ", ") + std::to_string(tokens);
    weights += (tokens == 1 ? "" : ", ") + number_text(weight);
    weight *= 1 - 1 / kMeanTokens;
  }
  return "{distribution: empirical, values: [" + values + "], weights: [" + weights + "]}";
}

std::string config_of(int servers, double ttft_s, double attainment) {
  const std::string one = "{distribution: constant, value: 1}";
  const bool single = servers == 1;
  return "deployment:\n"
         "  model: llama-3.1-8b\n"
         "  hardware: h100-sxm\n"
         "  engine: {scheduler: continuous_fcfs, max_num_seqs: " +
         std::to_string(servers) +
         "}\n"
         "  latency: {model: linear, " +
         (single ? "prefill_us_per_token: " + number_text(kTokenUs)
                 : "prefill_scale: 1e-9, step_us: " + number_text(kTokenUs)) +
         "}\n"
         "workload:\n"
         "  requests: 60000\n"
         "  arrivals: {process: poisson, rate_rps: " +
         number_text(5.0 * servers) +
         "}\n"
         "  prompt_tokens: " +
         (single ? geometric_lengths() : one) +
         "\n  output_tokens: " + (single ? one : geometric_lengths()) +
         "\nslo: {ttft_ms: " + number_text(1e3 * ttft_s) +
         "}\nstudy: {capacity: {scan: 0, tolerance: 0.01, attainment: " + number_text(attainment) +
         "}}\n";
}

double erlang_c(double servers, double load) {
  double term = 1;  // load^k / k!
  double sum = 0;
  for (double k = 0; k < servers; ++k) {
    sum += term;
    term *= load / (k + 1);
  }
  const double waiting = term / (1 - load / servers);
  return waiting / (sum + waiting);
}

double capacity_of(const std::string& config) {
  std::vector<Scenario> scenarios;
  scenarios.push_back(scenario_of(config));
  const auto executor = make_serial_executor(scenarios, nullptr);
  const Result<CapacityResult> result = find_capacity(scenarios.front(), 0, *executor);
  CHECK(result.has_value()) << result.error().to_string();
  EXPECT_EQ(result->verdict, CapacityVerdict::kFound);
  EXPECT_TRUE(result->within_tolerance);
  return result->carried.value_or(0);
}

TEST(CapacityOfAQueue, WithOneServerIsThatOfTheory) {
  const double rate = 6;
  const double ttft_s = std::log(1 / 0.1) / (kMu - rate);
  EXPECT_NEAR(capacity_of(config_of(1, ttft_s, 0.9)) / rate, 1, 0.03);
}

TEST(CapacityOfAQueue, WithFourServersIsThatOfTheory) {
  const double rate = 30;
  const double wait_s = std::log(erlang_c(4, rate / kMu) / 0.05) / (4 * kMu - rate);
  EXPECT_NEAR(capacity_of(config_of(4, wait_s, 0.95)) / rate, 1, 0.03);
}

}  // namespace
}  // namespace inferscale

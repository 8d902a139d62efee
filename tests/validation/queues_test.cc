// The replica as a queue whose answers are known: M/M/1, M/D/1, M/G/1 and M/M/c.
//
// One server: max_num_seqs 1, answers of one token, and a prefill cost in proportion to the prompt,
// so a request's service time is its prompt's length. c servers: max_num_seqs c, prefills that take
// no time and decode steps of constant length d whatever the batch, so that the number of decode
// steps is the service time.
//
// Theory (L. Kleinrock, "Queueing Systems" vol. 1, 1975), with S the mean service time, a = rate x
// S, rho = a / c:
//
//   M/G/1  mean wait = rate E[S^2] / (2 (1 - rho)), waits with probability rho (Pollaczek,
//   Khinchine) M/M/c  waits with probability C(c, a) (Erlang C), mean wait = C S / (c (1 - rho))
//
// Discretisation. Exponential service times are rounded up to whole tokens, one token being 1e-6
// of the mean (one server) or 1e-5 (c servers); theory uses the mean after rounding. With c servers
// a request that finds a free one starts at the next step boundary, up to d later. First come first
// served waits grow with service times (Kiefer and Wolfowitz 1955), so the mean wait lies between
// those for S and for S + d, plus d: relatively within e (c + 1 + 1/(1 - rho)) with e = d / S,
// since d log C / d log a is at most c + rho/(1 - rho). That is added to the statistical bound.
//
// Statistics. Twenty independent replications from an empty replica, the first tenth of each left
// out (at rho = 0.95 that is more than six times the relaxation time S / (1 - sqrt(rho))^2). The
// half-width of the confidence interval of their mean is t s / sqrt(20), t a quantile of Student's
// t with 19 degrees of freedom. There are 36 comparisons; for a 99 % chance that all of them hold
// each gets the risk 0.01 / 36 (Bonferroni), so t = 4.45. Seeds are fixed, others for each queue.
// Run lengths are chosen so that the half-width is below 5 % of the mean wait, 15 % at rho = 0.95,
// where a sharper test would take long.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/distributions.h"
#include "base/random.h"
#include "replica/latency/linear.h"
#include "sim/simulator.h"

namespace inferscale {
namespace {

constexpr int kReplications = 20;
constexpr double kStudent = 4.45;
constexpr double kRisk = 0.01 / 36;  // of a comparison: beyond the quantile on either side
constexpr double kServiceNs = 1e8;   // the mean service time: 0.1 s

enum class Service : std::uint8_t { kExponential, kConstant, kTwoValues };

struct Queue {
  const char* name;
  Service service = Service::kExponential;
  std::int64_t servers = 1;
  double rho = 0.5;
  std::uint64_t customers = 10'000;  // in each replication

  bool decodes() const { return servers > 1; }
  double tokens() const { return decodes() ? 1e5 : 1e6; }  // of a mean service
  double rate_per_ns() const { return rho * static_cast<double>(servers) / kServiceNs; }
};

// How a failure names it.
void PrintTo(const Queue& queue, std::ostream* out) {
  *out << queue.name << " at " << queue.rho;
}

// A service time in tokens, at least 1.
std::uint32_t draw_tokens(const Queue& queue, RandomStream& stream) {
  double relative = 1;
  if (queue.service == Service::kExponential) relative = draw_exponential(stream);
  // Half the mean, or with probability 1/9 five times it.
  if (queue.service == Service::kTwoValues) relative = stream.below(9) == 0 ? 5.0 : 0.5;
  return static_cast<std::uint32_t>(std::ceil(relative * queue.tokens()));
}

class QueueSource final : public RequestSource {
 public:
  QueueSource(const Queue& queue, std::uint64_t seed)
      : queue_(queue), arrivals_(seed, "arrivals"), services_(seed, "services") {}
  bool next(Request& request) override {
    if (made_ == queue_.customers) return false;
    at_ns_ += draw_exponential(arrivals_) / queue_.rate_per_ns();
    const std::uint32_t tokens = draw_tokens(queue_, services_);
    request = {.id = static_cast<RequestId>(made_++),
               .prompt_tokens = queue_.decodes() ? 1 : tokens,
               .output_tokens = queue_.decodes() ? tokens + 1 : 1,
               .arrival = Instant::nanos(static_cast<std::int64_t>(at_ns_))};
    request.max_tokens = request.output_tokens;
    return true;
  }
  std::uint64_t size() const override { return queue_.customers; }

 private:
  const Queue& queue_;
  RandomStream arrivals_;
  RandomStream services_;
  std::uint64_t made_ = 0;
  double at_ns_ = 0;
};

std::unique_ptr<LatencyModel> latency_of(const Queue& queue) {
  const double token_us = kServiceNs / queue.tokens() * 1e-3;
  if (queue.decodes()) return make_linear({.step_us = token_us}, {.prefill = 0, .decode = 1});
  return make_linear({.prefill_us_per_token = token_us}, {});
}

SimulationResult run(const Queue& queue, std::uint64_t seed,
                     std::optional<Duration> signals_interval = {}) {
  SimulatorOptions options;
  options.replica = {.max_num_seqs = queue.servers,
                     .max_num_batched_tokens = 1,
                     .layout = {.block_tokens = 64},
                     .kv_blocks = BlockCount{1} << 50,
                     .max_model_len = TokenCount{1} << 50};
  options.signals_interval = signals_interval;
  QueueSource source(queue, seed);
  return simulate(options, *latency_of(queue), source, {});
}

struct Theory {
  double probability_of_waiting = 0;
  double mean_wait_ns = 0;
};

Theory theory_of(const Queue& queue) {
  const double c = static_cast<double>(queue.servers);
  // Rounding up adds half a token to an exponential mean.
  const bool exponential = queue.service == Service::kExponential;
  const double mean = kServiceNs * (exponential ? 1 + 0.5 / queue.tokens() : 1);
  const double a = queue.rate_per_ns() * mean;
  const double rho = a / c;
  if (queue.servers == 1) {
    // E[S^2] / E[S]^2: exponential 2, constant 1, two values (8/9 x 1/4 + 1/9 x 25) = 3.
    const double second_moment = exponential ? 2 : queue.service == Service::kTwoValues ? 3 : 1;
    return {rho, rho * mean * second_moment / (2 * (1 - rho))};
  }
  double term = 1;  // a^k / k!
  double sum = 0;
  for (double k = 0; k < c; ++k) {
    sum += term;
    term *= a / (k + 1);
  }
  const double erlang_c = term / (1 - rho) / (sum + term / (1 - rho));
  return {erlang_c, erlang_c * mean / (c * (1 - rho))};
}

// The mean of some values and the half-width of its confidence interval.
struct Estimate {
  double mean = 0;
  double half_width = 0;
};

Estimate estimate(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, kStudent * std::sqrt(squares / (n - 1) / n)};
}

// The density of Student's t with 19 degrees of freedom, integrated beyond the quantile by
// Simpson's rule; the rest beyond 200 is less than 1e-40.
TEST(Student, TheQuantileIsThatOfTheRisk) {
  const auto tail = [](double quantile) {
    const auto density = [](double t) {
      return std::tgamma(10.0) / (std::sqrt(19 * M_PI) * std::tgamma(9.5)) *
             std::pow(1 + t * t / 19, -10.0);
    };
    constexpr int kSteps = 100'000;
    const double step = (200 - quantile) / kSteps;
    double sum = density(quantile) + density(200);
    for (int i = 1; i < kSteps; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(quantile + i * step);
    return sum * step / 3;
  };
  // As printed in the NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
  EXPECT_NEAR(tail(3.579), 0.001, 2e-6);
  EXPECT_NEAR(2 * tail(kStudent), kRisk, 0.02 * kRisk);
}

class Queues : public testing::TestWithParam<Queue> {};

TEST_P(Queues, WaitsAreWhatTheorySays) {
  const Queue& queue = GetParam();
  const double step_ns = queue.decodes() ? kServiceNs / queue.tokens() : 0;
  std::vector<double> waits;
  std::vector<double> waiting;
  for (int replication = 0; replication < kReplications; ++replication) {
    const std::string name = std::string(queue.name) + std::to_string(queue.rho);
    const SimulationResult result =
        run(queue, stable_hash(name) + static_cast<std::uint64_t>(replication));
    double sum = 0;
    double waited = 0;
    const size_t first = result.outcomes.size() / 10;
    for (size_t id = first; id < result.outcomes.size(); ++id) {
      const auto ns = static_cast<double>(result.outcomes[id].queue_time().ns());
      sum += ns;
      waited += ns > step_ns ? 1 : 0;
    }
    const auto counted = static_cast<double>(result.outcomes.size() - first);
    waits.push_back(sum / counted);
    waiting.push_back(waited / counted);
  }
  const Theory theory = theory_of(queue);
  const double e = 1 / queue.tokens();
  const double grid = e * (static_cast<double>(queue.servers) + 1 + 1 / (1 - queue.rho));
  const Estimate wait = estimate(waits);
  EXPECT_NEAR(wait.mean, theory.mean_wait_ns,
              wait.half_width + grid * theory.mean_wait_ns + step_ns);
  EXPECT_LT(wait.half_width, (queue.rho > 0.9 ? 0.15 : 0.05) * theory.mean_wait_ns);
  const Estimate probability = estimate(waiting);
  EXPECT_NEAR(probability.mean, theory.probability_of_waiting,
              probability.half_width + grid * theory.probability_of_waiting);
  EXPECT_LT(probability.half_width, 0.05 * theory.probability_of_waiting);
  RecordProperty("half_width_percent", std::to_string(100 * wait.half_width / theory.mean_wait_ns));
  RecordProperty("off_percent", std::to_string(100 * (wait.mean / theory.mean_wait_ns - 1)));
}

std::string name_of(const testing::TestParamInfo<Queue>& param_info) {
  return std::string(param_info.param.name) + "At" +
         std::to_string(static_cast<int>(std::lround(100 * param_info.param.rho)));
}

constexpr Service kExponential = Service::kExponential;
constexpr Service kConstant = Service::kConstant;
constexpr Service kTwoValues = Service::kTwoValues;

INSTANTIATE_TEST_SUITE_P(Light, Queues,
                         testing::Values(Queue{"MM1", kExponential, 1, 0.3, 22'000},
                                         Queue{"MM1", kExponential, 1, 0.6, 36'000},
                                         Queue{"MD1", kConstant, 1, 0.6, 18'000},
                                         Queue{"MG1", kTwoValues, 1, 0.6, 50'000},
                                         Queue{"MM4", kExponential, 4, 0.6, 70'000}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    Heavy, Queues,
    testing::Values(
        Queue{"MM1", kExponential, 1, 0.8, 95'000}, Queue{"MM1", kExponential, 1, 0.9, 250'000},
        Queue{"MM1", kExponential, 1, 0.95, 200'000}, Queue{"MD1", kConstant, 1, 0.3, 16'000},
        Queue{"MD1", kConstant, 1, 0.8, 50'000}, Queue{"MD1", kConstant, 1, 0.9, 200'000},
        Queue{"MD1", kConstant, 1, 0.95, 120'000}, Queue{"MG1", kTwoValues, 1, 0.8, 120'000},
        Queue{"MM4", kExponential, 4, 0.3, 150'000}, Queue{"MM4", kExponential, 4, 0.8, 120'000},
        Queue{"MM4", kExponential, 4, 0.9, 250'000}, Queue{"MM4", kExponential, 4, 0.95, 200'000},
        Queue{"MM8", kExponential, 8, 0.8, 150'000}),
    name_of);

// Little's law, L = rate x W, holds in every run that starts and ends empty, whatever the
// distributions: the integral of the number in the system is the sum of the times in it.
TEST(LittlesLaw, HoldsForTheBatchAndForTheQueue) {
  for (const Queue& queue :
       {Queue{"MM1", kExponential, 1, 0.9, 20'000}, Queue{"MM4", kExponential, 4, 0.95, 20'000}}) {
    const Duration interval = Duration::nanos(static_cast<std::int64_t>(kServiceNs) / 20);
    const SimulationResult result = run(queue, 1, interval);
    double waiting_ns = 0;
    double running_ns = 0;
    for (const Outcome& outcome : result.outcomes) {
      waiting_ns += static_cast<double>(outcome.queue_time().ns());
      running_ns += static_cast<double>((outcome.finish - outcome.start).ns());
    }
    EXPECT_NEAR(result.usage.sequence_ns, running_ns, 1e-12 * running_ns);
    // The queue is sampled twenty times a mean service: each of its 40,000 ups and downs shifts the
    // sum by a random part of a sample, which is 1e-4 of the whole.
    double sampled_waiting_ns = 0;
    double sampled_running_ns = 0;
    for (const SignalSample& sample : result.signals) {
      sampled_waiting_ns += static_cast<double>(sample.queue_depth * interval.ns());
      sampled_running_ns += static_cast<double>(sample.running * interval.ns());
    }
    EXPECT_NEAR(sampled_waiting_ns, waiting_ns, 1e-3 * waiting_ns) << queue.name;
    EXPECT_NEAR(sampled_running_ns, running_ns, 1e-3 * running_ns) << queue.name;
  }
}

}  // namespace
}  // namespace inferscale

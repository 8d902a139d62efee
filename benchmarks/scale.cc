// How the cost of a run grows with its length: 512 prompt and 512 output tokens, Llama-3.1-8B on
// one H100, 10 requests/s, from 10,000 to 10,000,000 requests.
//
// Each measurement is a process of its own, so that its peak memory is its own, and is repeated.
// Figures are CPU seconds (the machine may be shared); ratios are to the 10,000-request row of the
// same run. The stepwise replica, which costs by tokens, is the baseline of the last column.
//
//   scale [--quick]        --quick: up to 1,000,000 requests, for continuous integration

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "catalog/accelerators.h"
#include "catalog/models.h"
#include "metrics/run_summary.h"
#include "report/text/text_table.h"
#include "sim/deployment.h"
#include "sim/simulator.h"
#include "workload/generated_source.h"

namespace inferscale {
namespace {

constexpr int kRepeats = 5;

// What one run took: CPU seconds by part.
struct Cost {
  double generate = 0;  // the requests alone, taken from the source and dropped
  double simulate = 0;  // the event loop, requests included
  double summarize = 0;
  double peak_bytes = 0;  // of the whole process
  double total() const { return simulate + summarize; }
};

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

GeneratedOptions fixed_workload(std::uint64_t requests) {
  return {.requests = requests,
          .arrivals = PoissonArrivals{.rate_rps = 10},
          .prompt_tokens = {.shape = ConstantLength{512}},
          .output_tokens = {.shape = ConstantLength{512}}};
}

Cost run_once(std::uint64_t requests, bool stepwise) {
  DeploymentConfig config;
  config.model = find_model("llama-3.1-8b").value();
  config.hardware = find_accelerator("h100-sxm").value();
  const Slo slo{.ttft = Duration::from_millis(500), .itl = Duration::from_millis(50)};
  const Deployment deployment = derive_deployment(config, slo).value();

  Cost cost;
  double begin = cpu_seconds();
  if (!stepwise) {
    GeneratedSource alone(fixed_workload(requests), 42);
    Request request;
    while (alone.next(request)) {
    }
    cost.generate = cpu_seconds() - begin;
  }
  begin = cpu_seconds();
  GeneratedSource source(fixed_workload(requests), 42);
  const SimulationResult result = simulate({.replica = deployment.replica, .stepwise = stepwise},
                                           *deployment.latency, source, {});
  cost.simulate = cpu_seconds() - begin;
  begin = cpu_seconds();
  const RunSummary summary =
      summarize_run(result.outcomes, *result.gaps,
                    {.slo = slo, .end = result.end, .kv_blocks = deployment.replica.kv_blocks});
  cost.summarize = cpu_seconds() - begin;
  if (summary.finished != static_cast<std::int64_t>(requests)) std::abort();
  return cost;
}

// The same in a process of its own.
Cost measure(std::uint64_t requests, bool stepwise) {
  int channel[2];
  if (pipe(channel) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const Cost cost = run_once(requests, stepwise);
    const bool sent = write(channel[1], &cost, sizeof cost) == sizeof cost;
    _exit(sent ? 0 : 1);
  }
  close(channel[1]);  // or the end of a child that fails would not be seen
  Cost cost;
  const bool received = child > 0 && read(channel[0], &cost, sizeof cost) == sizeof cost;
  close(channel[0]);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0 || !received) {
    fmt::print(stderr, "scale: the run of {} requests failed\n", requests);
    std::exit(1);
  }
  cost.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024.0;
  return cost;
}

// The run of median total cost; `spread` becomes (largest - smallest) / median.
Cost median_of(std::uint64_t requests, bool stepwise, int repeats, double& spread) {
  std::vector<Cost> costs;
  for (int i = 0; i < repeats; ++i) costs.push_back(measure(requests, stepwise));
  std::sort(costs.begin(), costs.end(),
            [](const Cost& a, const Cost& b) { return a.total() < b.total(); });
  const Cost median = costs[costs.size() / 2];
  spread = (costs.back().total() - costs.front().total()) / median.total();
  return median;
}

void run_benchmark(bool quick) {
  fmt::print(
      "512 prompt and 512 output tokens, llama-3.1-8b on h100-sxm, 10 requests/s (simulated)\n"
      "median of {} processes each; CPU time\n\n",
      kRepeats);
  double spread = 0;
  const double empty_bytes = measure(1, false).peak_bytes;
  TextTable table({">requests", ">CPU s", ">spread", ">requests / CPU s", ">to 10k", ">generating",
                   ">summary", ">peak MB", ">bytes/request"});
  std::vector<std::uint64_t> sizes = {10'000, 100'000, 1'000'000};
  if (!quick) sizes.push_back(10'000'000);
  double baseline = 0;
  for (const std::uint64_t requests : sizes) {
    const Cost cost = median_of(requests, false, kRepeats, spread);
    const double rate = static_cast<double>(requests) / cost.total();
    if (baseline == 0) baseline = rate;
    table.add(
        {std::to_string(requests), fmt::format("{:.3f}", cost.total()),
         fmt::format("{:.0f} %", 100 * spread), fmt::format("{:.0f}", rate),
         fmt::format("{:.2f}", rate / baseline),
         fmt::format("{:.0f} %", 100 * cost.generate / cost.total()),
         fmt::format("{:.0f} %", 100 * cost.summarize / cost.total()),
         fmt::format("{:.0f}", cost.peak_bytes * 1e-6),
         fmt::format("{:.1f}", (cost.peak_bytes - empty_bytes) / static_cast<double>(requests))});
  }
  fmt::print("{}\n", table.text());
  const Cost stepwise = median_of(10'000, true, 1, spread);
  fmt::print(
      "Taking every step (--stepwise), 10000 requests: {:.2f} CPU s, {:.0f} requests / CPU s; "
      "jumping is {:.0f} times faster\n",
      stepwise.total(), 1e4 / stepwise.total(), baseline * stepwise.total() * 1e-4);
}

}  // namespace
}  // namespace inferscale

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  inferscale::run_benchmark(quick);
  return 0;
}

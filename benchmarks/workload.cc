// What it costs to make the requests of a workload, without a system that serves them: lengths are
// log-normal, arrivals Poisson with 1,000 requests/s.
//
// Each measurement is a process of its own, so that its peak memory is its own, and is repeated.
// Figures are CPU seconds (the machine may be shared); ratios are to single requests without
// content, of the same run.
//
//   workload_benchmark [--quick]      --quick: 1,000,000 requests instead of 10,000,000

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "report/text/text_table.h"
#include "workload/workload_source.h"

namespace inferscale {
namespace {

constexpr int kRepeats = 3;

struct Case {
  const char* name;
  WorkloadOptions options;
};

WorkloadOptions single_requests(std::uint64_t requests) {
  WorkloadOptions options;
  options.generated = {.requests = requests,
                       .arrivals = PoissonArrivals{.rate_rps = 1000},
                       .prompt_tokens = {LognormalLength{512, 0.7}},
                       .output_tokens = {LognormalLength{256, 0.8}}};
  return options;
}

WorkloadOptions with_tenants(std::uint64_t requests, std::uint32_t tenants, double zipf_exponent) {
  WorkloadOptions options = single_requests(requests);
  options.generated.prefixes = {.tenants = tenants,
                                .zipf_exponent = zipf_exponent,
                                .system_prompt_tokens = {LognormalLength{800, 0.5}}};
  return options;
}

// As many requests/s in the long run, in conversations of about 5 turns.
WorkloadOptions with_conversations(WorkloadOptions options) {
  options.generated.arrivals = PoissonArrivals{.rate_rps = 200};
  options.generated.conversations = {
      .turns = {LognormalLength{5, 0.8}, 1, kMostTurns},
      .think_time = {.shape = DelayShape::kExponential, .mean_s = 30}};
  return options;
}

std::vector<Case> cases(std::uint64_t requests) {
  WorkloadOptions prefix = single_requests(requests);
  prefix.shared_prefix = {.tokens = 300, .hit_probability = 0.5};
  return {{"single requests", single_requests(requests)},
          {"shared prefix", prefix},
          {"100 tenants, all alike", with_tenants(requests, 100, 0)},
          {"1,000 tenants, Zipf 1", with_tenants(requests, 1'000, 1)},
          {"100,000 tenants, Zipf 1", with_tenants(requests, 100'000, 1)},
          {"conversations", with_conversations(single_requests(requests))},
          {"conversations, 1,000 tenants", with_conversations(with_tenants(requests, 1'000, 1))}};
}

struct Cost {
  double cpu_s = 0;
  double peak_bytes = 0;  // of the whole process
  std::uint64_t sum = 0;  // of what was made, so that it is made
};

Cost run_once(const WorkloadOptions& options) {
  const std::clock_t begin = std::clock();
  const auto source = make_request_source(options, nullptr, 42);
  Cost cost;
  Request request;
  while (source->next(request)) cost.sum += request.prompt_tokens + request.output_tokens;
  cost.cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return cost;
}

// The same in a process of its own.
Cost measure(const WorkloadOptions& options) {
  int channel[2];
  if (pipe(channel) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const Cost cost = run_once(options);
    const bool sent = write(channel[1], &cost, sizeof cost) == sizeof cost;
    _exit(sent && cost.sum > 0 ? 0 : 1);
  }
  Cost cost;
  const bool received = child > 0 && read(channel[0], &cost, sizeof cost) == sizeof cost;
  close(channel[0]);
  close(channel[1]);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0 || !received) {
    fmt::print(stderr, "workload: a run failed\n");
    std::exit(1);
  }
  cost.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024.0;
  return cost;
}

void run_benchmark(std::uint64_t requests) {
  const auto count = static_cast<double>(requests);
  const double empty_bytes = measure(single_requests(1)).peak_bytes;
  fmt::print("{} requests, median of {} processes each; CPU time\n\n", requests, kRepeats);
  TextTable table({"workload", ">CPU s", ">ns/request", ">to single", ">bytes/request"});
  double baseline = 0;
  for (const Case& one : cases(requests)) {
    std::array<Cost, kRepeats> costs;
    for (Cost& cost : costs) cost = measure(one.options);
    std::sort(costs.begin(), costs.end(),
              [](const Cost& a, const Cost& b) { return a.cpu_s < b.cpu_s; });
    const Cost& median = costs[kRepeats / 2];
    if (baseline == 0) baseline = median.cpu_s;
    table.add({one.name, fmt::format("{:.3f}", median.cpu_s),
               fmt::format("{:.0f}", 1e9 * median.cpu_s / count),
               fmt::format("{:.2f}", median.cpu_s / baseline),
               fmt::format("{:.1f}", (median.peak_bytes - empty_bytes) / count)});
  }
  fmt::print("{}", table.text());
}

}  // namespace
}  // namespace inferscale

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  inferscale::run_benchmark(quick ? 1'000'000 : 10'000'000);
  return 0;
}

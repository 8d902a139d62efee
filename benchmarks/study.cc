// What threads and ranks buy a study, and what a run costs beside its simulation.
//
//   study_benchmark                        threads: 1 against all cores that the process may use
//   mpirun -n N study_benchmark --ranks    N ranks of one thread against one thread alone
//
// Speed-up is the wall time of one thread over that of many, for the same batch of runs in the same
// process, alternating; medians of kRounds. Beside it stands the bound that the machine sets just
// then: the same ratio for threads that only count. The overhead is the CPU time, of all threads,
// of a batch of runs that end where their configuration is read, less that of reading it in a loop.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/config_json.h"
#include "study/executors/executors.h"
#include "study/study_test_support.h"

namespace inferscale {
namespace {

constexpr int kRounds = 7;
constexpr std::uint64_t kRuns = 64;
constexpr std::uint64_t kEmptyRuns = 4000;
constexpr std::uint64_t kCounts = 200'000'000;

constexpr const char* kScenario = R"(
deployment: {model: llama-3.1-8b, hardware: h100-sxm}
workload:
  requests: 5000
  arrivals: {process: poisson, rate_rps: 10}
  prompt_tokens: {distribution: lognormal, mean: 512, cv: 0.7}
  output_tokens: {distribution: lognormal, mean: 256, cv: 0.8}
slo: {ttft_ms: 500, itl_ms: 50}
)";

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double cpu_seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Work that shares nothing, not even memory.
void count() {
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < kCounts; ++i) state = state * 6364136223846793005U + 1;
  if (state == 0) std::abort();  // so that it can't be left out
}

void count_on(int threads, int times) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([=] {
      for (int k = i; k < times; k += threads) count();
    });
  }
  for (std::thread& thread : all) thread.join();
}

std::vector<RunRequest> batch(std::uint64_t first_seed, std::uint64_t runs) {
  std::vector<RunRequest> requests(runs);
  for (std::uint64_t i = 0; i < runs; ++i) requests[i].seed = first_seed + i;
  return requests;
}

double study_seconds(const std::vector<Scenario>& scenarios, RankMail& mail, int threads,
                     const std::vector<RunRequest>& requests) {
  const auto executor = make_executor(scenarios, mail, {.threads = threads});
  return seconds_of([&] { CHECK(executor->run(requests).has_value()); });
}

void compare_threads(const std::vector<Scenario>& scenarios) {
  const int threads = available_cores();
  std::vector<double> study;
  std::vector<double> machine;
  std::vector<double> one_seconds;
  RankMail mail(MpiWorld::alone());
  for (int round = 0; round < kRounds; ++round) {
    const auto requests = batch(1, kRuns);
    const double one = study_seconds(scenarios, mail, 1, requests);
    study.push_back(one / study_seconds(scenarios, mail, threads, requests));
    one_seconds.push_back(one);
    machine.push_back(seconds_of([&] { count_on(1, threads); }) /
                      seconds_of([&] { count_on(threads, threads); }));
  }
  fmt::print("{} threads against 1: {} runs of {:.1f} ms\n", threads, kRuns,
             1e3 * median(one_seconds) / kRuns);
  fmt::print("  study    {:.2f} times as fast\n  machine  {:.2f} (threads that only count)\n",
             median(study), median(machine));
}

void compare_ranks(const std::vector<Scenario>& scenarios, RankMail& ranks) {
  std::vector<double> study;
  std::vector<double> all_seconds;
  const auto alone_executor_seconds = [&] {
    RankMail alone(MpiWorld::alone());
    return study_seconds(scenarios, alone, 1, batch(1, kRuns));
  };
  const auto executor = make_executor(scenarios, ranks, {.threads = 1});
  for (int round = 0; round < kRounds; ++round) {
    // The other ranks sleep in their mail until rank 0 comes to the batch that all make.
    const double one = ranks.rank() == 0 ? alone_executor_seconds() : 0;
    const auto requests = batch(1 + static_cast<std::uint64_t>(round) * kRuns, kRuns);
    const double all = seconds_of([&] { CHECK(executor->run(requests).has_value()); });
    study.push_back(one / all);
    all_seconds.push_back(all);
  }
  if (ranks.rank() != 0) return;
  fmt::print("{} ranks of 1 thread against 1 thread: {} runs in {:.2f} s\n", ranks.ranks(), kRuns,
             median(all_seconds));
  fmt::print("  study    {:.2f} times as fast\n", median(study));
}

// Runs that end where their configuration is read.
void measure_overhead(const std::vector<Scenario>& scenarios) {
  RankMail mail(MpiWorld::alone());
  std::vector<double> overhead;
  std::vector<double> itself;
  auto requests = batch(1, kEmptyRuns);
  for (RunRequest& request : requests) {
    request.settings.push_back({"deployment.engine.max_num_seqs", number_node(-1, "benchmark")});
  }
  for (int round = 0; round < kRounds; ++round) {
    const double loop = cpu_seconds_of([&] {
      for (const RunRequest& request : requests) {
        CHECK(run_once(scenarios[0], request, nullptr).has_value());
      }
    });
    const double study = cpu_seconds_of([&] { study_seconds(scenarios, mail, 1, requests); });
    overhead.push_back(1e9 * (study - loop) / kEmptyRuns);
    itself.push_back(1e9 * loop / kEmptyRuns);
  }
  fmt::print(
      "a run that ends at its configuration: {:.0f} ns, and {:.0f} ns more by the executor\n",
      median(itself), median(overhead));
}

int main_of(bool with_ranks) {
  std::vector<Scenario> scenarios;
  scenarios.push_back(scenario_of(kScenario));
  if (!with_ranks) {
    compare_threads(scenarios);
    measure_overhead(scenarios);
    return 0;
  }
  Result<std::unique_ptr<MpiWorld>> world =
      MpiWorld::join(launch_of([](const char* name) { return std::getenv(name); }));
  CHECK(world.has_value()) << world.error().to_string();
  RankMail ranks(std::move(*world));
  compare_ranks(scenarios, ranks);
  ranks.leave(std::nullopt);
  return 0;
}

}  // namespace
}  // namespace inferscale

int main(int argc, char** argv) {
  return inferscale::main_of(argc > 1 && std::string_view(argv[1]) == "--ranks");
}

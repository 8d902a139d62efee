// What fleets cost: CPU time of a request behind routers, in a split, and in fleets of 64 and 4,096
// replicas, as ratios to the plain run of one replica.
//
// Every replica gets the same load: 512 prompt and 512 output tokens in the mean, Llama-3.1-8B on
// one H100, 8 requests/s. With tenants there are 1,000 (at 4,096 replicas 10,000) of them, drawn by
// Zipf's law with exponent 1, each with a system prompt of 800 tokens in the mean before its
// prompts, and every replica has a prefix cache.
//
// Readings are of the present where a row does not say otherwise.
//
// Each measurement is a process of its own, so that its peak memory is its own. The time is that of
// making the requests and of the event loop, in CPU seconds (the machine may be shared).
//
//   fleet_benchmark [--quick] [TEXT]   --quick: a tenth of the requests, for continuous integration
//                                      TEXT: only the runs that have it in their names

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/accelerators.h"
#include "catalog/models.h"
#include "report/text/text_table.h"
#include "sim/deployment.h"
#include "sim/simulator.h"
#include "workload/generated_source.h"

namespace inferscale {
namespace {

constexpr RouterPolicy kPolicies[] = {
    RouterPolicy::kRoundRobin,  RouterPolicy::kRandom,          RouterPolicy::kLeastLoad,
    RouterPolicy::kLeastTokens, RouterPolicy::kLeastKv,         RouterPolicy::kPowerOfTwo,
    RouterPolicy::kPrefixAware, RouterPolicy::kSessionAffinity, RouterPolicy::kBoundedAffinity,
};

struct Case {
  std::string name;
  std::int64_t replicas = 1;
  std::uint64_t requests = 1'000'000;
  RouterPolicy policy = RouterPolicy::kLeastLoad;
  double staleness_s = 0;
  std::int64_t decode_replicas = 0;  // a split when not 0
  std::uint32_t tenants = 0;         // prefix caches and system prompts when not 0
};

struct Cost {
  double seconds = 0;
  double hit_rate = 0;  // of the prefix caches, in tokens
  double peak_bytes = 0;
};

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

GroupConfig group(const std::string& name, std::int64_t replicas) {
  GroupConfig config{.name = name, .replicas = replicas};
  config.deployment.model = find_model("llama-3.1-8b").value();
  config.deployment.hardware = find_accelerator("h100-sxm").value();
  return config;
}

RunConfig config_of(const Case& one) {
  RunConfig config;
  config.seed = 42;
  config.slo = {.ttft = Duration::from_millis(500), .itl = Duration::from_millis(50)};
  const bool split = one.decode_replicas > 0;
  config.fleet.groups.push_back(group(split ? "prefill" : "replicas", one.replicas));
  config.fleet.router.policy = one.policy;
  config.fleet.router.staleness = Duration::from_seconds(one.staleness_s);
  if (split) {
    config.fleet.groups.push_back(group("decode", one.decode_replicas));
    config.fleet.split = SplitConfig{};
    // The default for each prefill replica, so that the link is not what the run is about.
    config.fleet.split->link.bandwidth *= static_cast<double>(one.replicas);
  }
  for (GroupConfig& each : config.fleet.groups) {
    each.deployment.engine.prefix_caching = one.tenants > 0;
  }
  return config;
}

GeneratedOptions workload_of(const Case& one) {
  const double rate = 8 * static_cast<double>(one.replicas + one.decode_replicas);
  GeneratedOptions options{.requests = one.requests,
                           .arrivals = PoissonArrivals{.rate_rps = rate},
                           .prompt_tokens = {.shape = LognormalLength{.mean = 512, .cv = 0.7}},
                           .output_tokens = {.shape = LognormalLength{.mean = 512, .cv = 0.8}}};
  if (one.tenants > 0) {
    options.prefixes = {.tenants = one.tenants,
                        .zipf_exponent = 1,
                        .system_prompt_tokens = {.shape = LognormalLength{.mean = 800, .cv = 0.5}}};
  }
  return options;
}

Cost run_once(const Case& one) {
  const FleetDeployment deployment = derive_fleet(config_of(one)).value();
  GeneratedSource source(workload_of(one), 42);
  const double begin = cpu_seconds();
  const SimulationResult result = simulate_fleet(deployment.fleet, {}, source, {});
  Cost cost{.seconds = cpu_seconds() - begin};
  if (one.tenants > 0) {
    cost.hit_rate = static_cast<double>(result.usage.prompt_tokens_cached) /
                    static_cast<double>(result.usage.prompt_tokens_looked_up);
  }
  std::uint64_t finished = 0;
  for (const Outcome& outcome : result.outcomes) finished += outcome.finished() ? 1U : 0U;
  if (finished < one.requests - one.requests / 100) std::abort();
  return cost;
}

// The same in a process of its own.
Cost measure(const Case& one) {
  int channel[2];
  if (pipe(channel) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const Cost cost = run_once(one);
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
    fmt::print(stderr, "fleet: the run '{}' failed\n", one.name);
    std::exit(1);
  }
  cost.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024.0;
  return cost;
}

std::vector<Case> fleets() {
  std::vector<Case> cases = {
      {.name = "one replica"},
      {.name = "64, least_load, readings 0.1 s old", .replicas = 64, .staleness_s = 0.1},
      {.name = "split 16 : 48", .replicas = 16, .decode_replicas = 48},
      {.name = "one replica, tenants", .tenants = 1'000},
      {.name = "64, prefix_aware, tenants, readings 0.1 s old",
       .replicas = 64,
       .policy = RouterPolicy::kPrefixAware,
       .staleness_s = 0.1,
       .tenants = 1'000},
      {.name = "split 24 : 40, tenants", .replicas = 24, .decode_replicas = 40, .tenants = 1'000},
  };
  for (const std::uint32_t tenants : {0U, 1'000U}) {
    for (const RouterPolicy policy : kPolicies) {
      cases.push_back(
          {.name = fmt::format("64, {}{}", policy_name(policy), tenants > 0 ? ", tenants" : ""),
           .replicas = 64,
           .policy = policy,
           .tenants = tenants});
    }
  }
  return cases;
}

std::vector<Case> large_fleets() {
  std::vector<Case> cases;
  const auto add = [&](RouterPolicy policy, std::uint32_t tenants, double staleness_s = 0) {
    cases.push_back(
        {.name = fmt::format("4096, {}{}{}", policy_name(policy), tenants > 0 ? ", tenants" : "",
                             staleness_s > 0 ? ", readings 0.1 s old" : ""),
         .replicas = 4096,
         .requests = 10'000'000,
         .policy = policy,
         .staleness_s = staleness_s,
         .tenants = tenants});
  };
  constexpr std::uint32_t kTenants = 10'000;
  add(RouterPolicy::kLeastLoad, 0);
  add(RouterPolicy::kLeastTokens, 0);
  add(RouterPolicy::kPowerOfTwo, 0, 0.1);
  add(RouterPolicy::kLeastLoad, kTenants);
  add(RouterPolicy::kLeastTokens, kTenants);
  add(RouterPolicy::kLeastKv, kTenants);
  add(RouterPolicy::kPrefixAware, kTenants);
  add(RouterPolicy::kPrefixAware, kTenants, 0.1);
  add(RouterPolicy::kBoundedAffinity, kTenants);
  return cases;
}

void run_benchmark(bool quick, std::string_view only) {
  std::vector<Case> cases = fleets();
  for (const Case& one : large_fleets()) cases.push_back(one);
  TextTable table(
      {"run", ">requests", ">CPU s", ">us a request", ">to the first", ">peak MB", ">prefix hits"});
  double baseline = 0;
  for (Case& one : cases) {
    if (one.name.find(only) == std::string::npos) continue;
    if (quick) one.requests /= 10;
    const Cost cost = measure(one);
    const double us = 1e6 * cost.seconds / static_cast<double>(one.requests);
    if (baseline == 0) baseline = us;
    table.add({one.name, std::to_string(one.requests), fmt::format("{:.2f}", cost.seconds),
               fmt::format("{:.2f}", us), fmt::format("{:.2f}", us / baseline),
               fmt::format("{:.0f}", cost.peak_bytes * 1e-6),
               one.tenants > 0 ? fmt::format("{:.1f} %", 100 * cost.hit_rate) : ""});
    fmt::print(stderr, "{}: {:.2f} CPU s\n", one.name, cost.seconds);
  }
  fmt::print("llama-3.1-8b on h100-sxm, 8 requests/s for each replica (simulated); CPU time\n\n{}",
             table.text());
}

}  // namespace
}  // namespace inferscale

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const int text = quick ? 2 : 1;
  inferscale::run_benchmark(quick, argc > text ? argv[text] : "");
  return 0;
}

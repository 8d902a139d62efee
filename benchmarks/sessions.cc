// What agent sessions cost: CPU time of a turn and peak memory, served by the serial station and by
// the engine with a batch, by how many sessions there are and how many turns each has.
//
// Sessions are as in the preset `coding_agent`, but that each has so many turns; they begin within
// ten seconds, so that all of them are under way at once. Llama-3.1-8B on H100s, one for each 156
// sessions behind `bounded_affinity`: far too few, so that nearly every turn finds its context gone
// and computes it again. That is the dearest that sessions can be.
//
// More sessions are then also more replicas, and one replica has no router. So there are rows of
// more sessions at one replica, with as much more memory for KV caches, and of few sessions at 64.
//
// A longer session is not only more turns: its prompts are longer, and where their history was
// evicted it is computed again, in steps of at most 8,192 tokens. So beside the time of a turn
// stand the events of a turn (arrivals, and ends of steps and of jumps over steps), the tokens that
// are computed for it, and the time of an event.
//
// Each measurement is a process of its own, so that its peak memory is its own. The time is that of
// making the programs and of the event loop, in CPU seconds (the machine may be shared): medians of
// rounds in each of which every row is measured once; the spread is (largest - smallest) / median.
//
//   sessions_benchmark [--quick]     --quick: one round, at most 1,000 sessions
//   sessions_benchmark --one serial|batched SESSIONS TURNS REPLICAS [MEMORY]
//                                    one measurement, in this process: for a profiler

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "catalog/accelerators.h"
#include "catalog/models.h"
#include "report/text/text_table.h"
#include "sim/deployment.h"
#include "sim/simulator.h"
#include "workload/programs/generate_programs.h"
#include "workload/programs/program_source.h"

namespace inferscale {
namespace {

struct Case {
  ServiceMode service = ServiceMode::kSerial;
  std::uint64_t sessions = 100;
  std::uint32_t turns = 11;
  std::int64_t replicas = 1;
  std::int64_t memory = 1;  // KV caches so many times as large
};

struct Cost {
  double seconds = 0;
  double turns = 0;     // contexts end before max_context_tokens
  double events = 0;    // of the simulator
  double computed = 0;  // tokens of prompts, those of preempted sequences again
  double reused = 0;    // of the prompts' tokens
  double peak_bytes = 0;
};

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

LengthOptions lognormal(double mean, double cv) {
  return {.shape = LognormalLength{.mean = mean, .cv = cv}};
}

GeneratedSessions sessions_of(const Case& one) {
  return {.count = one.sessions,
          .turns = {.shape = ConstantLength{one.turns}, .max = one.turns},
          .first_prompt_tokens = lognormal(6910, 1.391),
          .appended_tokens = lognormal(1514, 5.395),
          .output_tokens = lognormal(399.5, 1.546),
          .system_prompt_tokens = 15'000,
          .tool_gap = {.shape = DelayShape::kLognormal,
                       .mean_s = 35.49,
                       .cv = 3.964,
                       .min = Duration::from_seconds(2)},
          .person_gap = {.shape = DelayShape::kLognormal, .mean_s = 1507, .cv = 8.031},
          .person_share = 0.0546,
          .max_context_tokens = 131'072};
}

RunConfig config_of(const Case& one) {
  RunConfig config;
  config.seed = 42;
  config.slo = {.ttft = Duration::from_seconds(2)};
  GroupConfig group{.name = "replicas", .replicas = one.replicas};
  group.deployment.model = find_model("llama-3.1-8b").value();
  group.deployment.hardware = find_accelerator("h100-sxm").value();
  group.deployment.engine.scheduler = SchedulerKind::kVllm;
  group.deployment.engine.prefix_caching = one.service == ServiceMode::kBatched;
  group.deployment.engine.service = one.service;
  config.fleet.groups.push_back(group);
  config.workload.sessions = SessionOptions{.generated = sessions_of(one)};
  config.fleet.router.policy = RouterPolicy::kBoundedAffinity;
  return config;
}

Cost run_once(const Case& one) {
  FleetDeployment deployment = derive_fleet(config_of(one)).value();
  deployment.fleet.groups.front().replica.kv_blocks *= one.memory;
  const double begin = cpu_seconds();
  const PoissonArrivals arrivals{.rate_rps = static_cast<double>(one.sessions) / 10};
  const Programs programs = generate_programs(sessions_of(one), arrivals, 42);
  const auto source = make_program_source(programs, {});
  const SimulationResult result = simulate_fleet(deployment.fleet, {}, *source, {});
  const ReplicaUsage& usage = result.usage;
  Cost cost{.seconds = cpu_seconds() - begin,
            .turns = static_cast<double>(programs.turns.size()),
            .events = static_cast<double>(result.events),
            .computed = static_cast<double>(usage.prompt_tokens_looked_up -
                                            usage.prompt_tokens_cached + usage.recomputed_tokens),
            .reused = static_cast<double>(usage.prompt_tokens_cached) /
                      static_cast<double>(usage.prompt_tokens_looked_up)};
  for (const Outcome& outcome : result.outcomes) {
    if (!outcome.finished()) std::abort();
  }
  if (result.outcomes.size() != programs.turns.size()) std::abort();
  return cost;
}

std::string name_of(const Case& one) {
  return one.service == ServiceMode::kSerial ? "serial" : "batched";
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
    fmt::print(stderr, "sessions: {}, {} sessions of {} turns: failed\n", name_of(one),
               one.sessions, one.turns);
    std::exit(1);
  }
  cost.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024.0;
  return cost;
}

// Of the rounds of one row.
struct Rounds {
  std::vector<double> values;

  double median() const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  double spread() const {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return (*most - *least) / median();
  }
};

double us_a_turn(const Cost& cost) {
  return 1e6 * cost.seconds / cost.turns;
}

// Ratios are to the first row of the same service in the same round.
void add_row(TextTable& table, const Case& one, const std::vector<Cost>& costs,
             const std::vector<Cost>& baseline) {
  Rounds us;
  Rounds ratios;
  Rounds of_event;
  Rounds peaks;
  for (std::size_t round = 0; round < costs.size(); ++round) {
    us.values.push_back(us_a_turn(costs[round]));
    ratios.values.push_back(us_a_turn(costs[round]) / us_a_turn(baseline[round]));
    of_event.values.push_back(1e6 * costs[round].seconds / costs[round].events);
    peaks.values.push_back(costs[round].peak_bytes);
  }
  const Cost& cost = costs.front();
  table.add(
      {name_of(one), std::to_string(one.sessions), std::to_string(one.turns),
       std::to_string(one.replicas), fmt::format("x {}", one.memory),
       fmt::format("{:.0f}", cost.turns), fmt::format("{:.2f}", us.median()),
       fmt::format("{:.0f} %", 100 * us.spread()), fmt::format("{:.2f}", ratios.median()),
       fmt::format("{:.1f}", cost.events / cost.turns),
       fmt::format("{:.0f}", cost.computed / cost.turns), fmt::format("{:.2f}", of_event.median()),
       fmt::format("{:.0f} %", 100 * of_event.spread()),
       fmt::format("{:.0f}", 1e-6 * peaks.median()), fmt::format("{:.0f} %", 100 * cost.reused)});
}

std::int64_t replicas_for(std::uint64_t sessions) {
  return static_cast<std::int64_t>((64 * sessions + 9'999) / 10'000);
}

std::vector<Case> cases_of(ServiceMode service, bool quick) {
  std::vector<Case> cases;
  const auto add = [&](const Case& one) {
    if (!quick || one.sessions <= 1'000) cases.push_back(one);
  };
  for (const std::uint64_t sessions : {100U, 1'000U, 10'000U}) {
    for (const std::uint32_t turns : {11U, 44U, 88U}) {
      add({service, sessions, turns, replicas_for(sessions), 1});
    }
  }
  // Apart from each other: more sessions at one replica with as much more memory; more replicas.
  for (const std::uint64_t sessions : {1'000U, 10'000U}) {
    add({service, sessions, 11, 1, replicas_for(sessions)});
  }
  for (const std::uint64_t sessions : {100U, 1'000U}) add({service, sessions, 11, 64, 1});
  return cases;
}

void print_one(const Case& one) {
  const Cost cost = run_once(one);
  fmt::print("{:.0f} turns, {:.3f} us/turn, {:.2f} events/turn, {:.0f} tokens computed/turn\n",
             cost.turns, us_a_turn(cost), cost.events / cost.turns, cost.computed / cost.turns);
}

void run_benchmark(bool quick) {
  std::vector<Case> cases = cases_of(ServiceMode::kSerial, quick);
  const std::vector<Case> batched = cases_of(ServiceMode::kBatched, quick);
  cases.insert(cases.end(), batched.begin(), batched.end());
  std::vector<std::vector<Cost>> costs(cases.size());
  for (int round = 0; round < (quick ? 1 : 3); ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      costs[i].push_back(measure(cases[i]));
      fmt::print(stderr, "{}, {} sessions of {} turns at {} replicas: {:.2f} CPU s\n",
                 name_of(cases[i]), cases[i].sessions, cases[i].turns, cases[i].replicas,
                 costs[i].back().seconds);
    }
  }
  TextTable table({"service", ">sessions", ">turns each", ">replicas", ">memory", ">turns",
                   ">us a turn", ">spread", ">to the first", ">events a turn", ">computed",
                   ">us an event", ">spread", ">peak MB", ">reused"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t first = cases[i].service == ServiceMode::kSerial ? 0 : cases.size() / 2;
    add_row(table, cases[i], costs[i], costs[first]);
  }
  fmt::print("coding_agent on llama-3.1-8b and h100-sxm; CPU time\n\n{}", table.text());
}

}  // namespace
}  // namespace inferscale

int main(int argc, char** argv) {
  using namespace inferscale;
  if (argc > 5 && std::strcmp(argv[1], "--one") == 0) {
    print_one({.service = argv[2][0] == 's' ? ServiceMode::kSerial : ServiceMode::kBatched,
               .sessions = std::strtoull(argv[3], nullptr, 10),
               .turns = static_cast<std::uint32_t>(std::atoi(argv[4])),
               .replicas = std::atoi(argv[5]),
               .memory = argc > 6 ? std::atoi(argv[6]) : 1});
    return 0;
  }
  run_benchmark(argc > 1 && std::strcmp(argv[1], "--quick") == 0);
  return 0;
}

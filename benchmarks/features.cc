// What each feature costs: CPU time of a run with it, as a ratio to the plain run (one replica,
// continuous_fcfs, nothing else); and how the cost of a request depends on the length of the trace,
// on the size of the batch and on the length of the prompts.
//
// All cases of a table are run one after the other in one process, then all again, several rounds;
// a ratio is the median over the rounds of the ratio to the baseline of the same round, so that a
// machine that gets slower or faster meanwhile moves both. A run is making the requests, the event
// loop and the summary. Figures are CPU seconds (the machine may be shared).
//
//   features_benchmark [--quick] [PART]     --quick: a tenth of the requests and 3 rounds;
//                                           PART: features, lengths, batches, contexts or turns

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/accelerators.h"
#include "catalog/models.h"
#include "core/decision_observer.h"
#include "metrics/run_summary.h"
#include "report/text/text_table.h"
#include "sim/deployment.h"
#include "sim/simulator.h"
#include "workload/workload_source.h"

namespace inferscale {
namespace {

struct Case {
  std::string name;
  // Index of the case that it is compared with beside the first: the same work without the feature.
  std::size_t pair = 0;
  RunConfig config;
  RunOptions options;
};

struct Cost {
  double seconds = 0;
  double batch = 0;  // mean running sequences while the engine is busy
  // For each request.
  double events = 0;
  double segments = 0;
  double prefill_steps = 0;
};

struct Row {
  std::vector<Cost> rounds;
};

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

LengthOptions lognormal(double mean, double cv) {
  return {.shape = LognormalLength{.mean = mean, .cv = cv}};
}

RunConfig plain_run(std::uint64_t requests, double rate_rps) {
  RunConfig config;
  config.seed = 42;
  config.slo = {.ttft = Duration::from_millis(500),
                .itl = Duration::from_millis(50),
                .e2e = Duration::from_seconds(20)};
  GroupConfig group{.name = "replicas", .replicas = 1};
  group.deployment.model = find_model("llama-3.1-8b").value();
  group.deployment.hardware = find_accelerator("h100-sxm").value();
  config.fleet.groups.push_back(group);
  config.workload.generated = {.requests = requests,
                               .arrivals = PoissonArrivals{.rate_rps = rate_rps},
                               .prompt_tokens = lognormal(512, 0.7),
                               .output_tokens = lognormal(512, 0.8)};
  return config;
}

Cost run_once(const Case& one) {
  const FleetDeployment deployment = derive_fleet(one.config).value();
  const double begin = cpu_seconds();
  const auto source = make_request_source(one.config.workload, nullptr, one.config.seed);
  const SimulationResult result = simulate_fleet(deployment.fleet, one.options, *source, {});
  const RunSummary summary =
      summarize_run(result.outcomes, *result.gaps,
                    {.slo = one.config.slo,
                     .measurement = one.config.measurement,
                     .end = result.end,
                     .prefix_caching = deployment.fleet.groups[0].replica.prefix_caching,
                     .kv_blocks = deployment.fleet.groups[0].replica.kv_blocks});
  Cost cost{.seconds = cpu_seconds() - begin};
  const std::uint64_t requests = one.config.workload.generated.requests;
  if (summary.finished < static_cast<std::int64_t>(requests - requests / 100)) {
    fmt::print(stderr, "features: '{}' finished {} of {} requests\n", one.name, summary.finished,
               requests);
    std::exit(1);
  }
  const auto count = static_cast<double>(requests);
  cost.batch = result.usage.sequence_ns / result.usage.busy_ns;
  cost.events = static_cast<double>(result.events) / count;
  cost.segments = static_cast<double>(result.usage.segments) / count;
  cost.prefill_steps = static_cast<double>(result.usage.prefill_steps) / count;
  return cost;
}

std::vector<Row> measure(const std::vector<Case>& cases, int rounds) {
  std::vector<Row> rows(cases.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) rows[i].rounds.push_back(run_once(cases[i]));
  }
  return rows;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Of the costs of a request.
double median_us(const Case& one, const Row& row) {
  std::vector<double> values;
  for (const Cost& cost : row.rounds) values.push_back(cost.seconds);
  return 1e6 * median(values) / static_cast<double>(one.config.workload.generated.requests);
}

double median_ratio(const std::vector<Case>& cases, const std::vector<Row>& rows, std::size_t i,
                    std::size_t baseline) {
  const auto requests_of = [&](std::size_t index) {
    return static_cast<double>(cases[index].config.workload.generated.requests);
  };
  std::vector<double> values;
  for (std::size_t round = 0; round < rows[i].rounds.size(); ++round) {
    values.push_back(rows[i].rounds[round].seconds / requests_of(i) /
                     (rows[baseline].rounds[round].seconds / requests_of(baseline)));
  }
  return median(values);
}

void print_table(const std::string& title, const std::vector<Case>& cases, int rounds) {
  const std::vector<Row> rows = measure(cases, rounds);
  TextTable table({title, ">us a request", ">to the first", ">to its pair", ">batch", ">events",
                   ">segments", ">prefill steps"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    const Cost& shape = rows[i].rounds[0];
    table.add({one.pair == 0 ? one.name : "  " + one.name,
               fmt::format("{:.2f}", median_us(one, rows[i])),
               fmt::format("{:.2f}", median_ratio(cases, rows, i, 0)),
               one.pair == 0 ? "" : fmt::format("{:.2f}", median_ratio(cases, rows, i, one.pair)),
               fmt::format("{:.1f}", shape.batch), fmt::format("{:.2f}", shape.events),
               fmt::format("{:.2f}", shape.segments), fmt::format("{:.2f}", shape.prefill_steps)});
  }
  fmt::print("{}\n", table.text());
  std::fflush(stdout);
}

// Takes everything and keeps nothing: what it costs to tell, not to write.
class DeafObserver final : public DecisionObserver {
 public:
  void on_step(const StepReport&) override {}
  void on_route(const RouteReport&) override {}
};

// Adds a case that differs from the plain run as `change` says, and returns its index.
class CaseList {
 public:
  explicit CaseList(Case plain) { cases_.push_back(std::move(plain)); }

  std::size_t add(const std::string& name, std::size_t pair,
                  const std::function<void(Case&)>& change) {
    Case one = cases_[pair];
    one.name = name;
    one.pair = pair;
    change(one);
    cases_.push_back(std::move(one));
    return cases_.size() - 1;
  }
  const std::vector<Case>& all() const { return cases_; }

 private:
  std::vector<Case> cases_;
};

DeploymentConfig& deployment_of(Case& one) {
  return one.config.fleet.groups[0].deployment;
}

void add_schedulers(CaseList& cases) {
  for (const SchedulerRules& rules : all_schedulers()) {
    if (rules.kind == SchedulerKind::kContinuousFcfs) continue;
    cases.add(std::string(rules.name), 0,
              [&](Case& one) { deployment_of(one).engine.scheduler = rules.kind; });
  }
}

void add_content(CaseList& cases) {
  const auto cached = [](Case& one) { deployment_of(one).engine.prefix_caching = true; };
  cases.add("prefix cache, nothing shared", 0, cached);
  const std::size_t tenants = cases.add("1,000 tenants", 0, [](Case& one) {
    one.config.workload.generated.prefixes = {
        .tenants = 1000, .zipf_exponent = 1, .system_prompt_tokens = lognormal(800, 0.5)};
  });
  cases.add("1,000 tenants, prefix cache", tenants, cached);
  const std::size_t conversations = cases.add("conversations", 0, [](Case& one) {
    one.config.workload.generated.arrivals = PoissonArrivals{.rate_rps = 2};
    one.config.workload.generated.prompt_tokens = lognormal(300, 0.7);
    one.config.workload.generated.output_tokens = lognormal(300, 0.8);
    one.config.workload.generated.conversations = {
        .turns = {LognormalLength{5, 0.8}, 1, kMostTurns},
        .think_time = {.shape = DelayShape::kExponential, .mean_s = 30},
        .max_context_tokens = 30'000};
  });
  cases.add("conversations, prefix cache", conversations, cached);
  const std::size_t prefix = cases.add("shared prefix", 0, [](Case& one) {
    one.config.workload.shared_prefix = {.tokens = 300, .hit_probability = 0.6};
  });
  cases.add("shared prefix, prefix cache", prefix, cached);
}

void add_engine(CaseList& cases) {
  cases.add("speculative decoding", 0, [](Case& one) {
    deployment_of(one).engine.speculative =
        SpeculativeOptions{.draft_tokens = 4, .acceptance_rate = 0.7};
  });
  const std::size_t whole = cases.add("gpt-oss-20b, all layers full", 0, [](Case& one) {
    ModelSpec& model = deployment_of(one).model;
    model = find_model("gpt-oss-20b").value();
    model.sliding_window = 0;
    model.sliding_window_layers = 0;
  });
  cases.add("gpt-oss-20b, windows", whole,
            [](Case& one) { deployment_of(one).model = find_model("gpt-oss-20b").value(); });
  cases.add("KV cache of 12,000 tokens", 0,
            [](Case& one) { deployment_of(one).engine.kv_cache_tokens = 12'000; });
}

void add_fleet(CaseList& cases) {
  const std::size_t two = cases.add("2 replicas, twice the rate", 0, [](Case& one) {
    one.config.fleet.groups[0].replicas = 2;
    one.config.workload.generated.arrivals = PoissonArrivals{.rate_rps = 16};
  });
  cases.add("1 prefills, 1 decodes", two, [](Case& one) {
    one.config.fleet.groups[0].replicas = 1;
    one.config.fleet.groups[0].name = "prefill";
    one.config.fleet.groups.push_back(one.config.fleet.groups[0]);
    one.config.fleet.groups[1].name = "decode";
    one.config.fleet.split = SplitConfig{};
  });
}

void add_watching(CaseList& cases, DecisionObserver& observer) {
  cases.add("warm-up found (auto)", 0,
            [](Case& one) { one.config.measurement.warmup_auto = true; });
  cases.add("sampled once a second", 0,
            [](Case& one) { one.options.signals_interval = Duration::from_seconds(1); });
  cases.add("decisions told", 0, [&](Case& one) { one.options.observer = &observer; });
  cases.add("invariants checked", 0, [](Case& one) { one.options.verify = true; });
}

void print_features(std::uint64_t requests, int rounds) {
  const Case plain{.name = "plain", .config = plain_run(requests, 8)};
  DeafObserver observer;
  CaseList schedulers(plain);
  add_schedulers(schedulers);
  print_table("scheduler", schedulers.all(), rounds);
  CaseList features(plain);
  // Run again: how far two equal runs differ is what no ratio can tell.
  features.add("plain, again", 0, [](Case&) {});
  add_content(features);
  add_engine(features);
  add_fleet(features);
  add_watching(features, observer);
  print_table("feature", features.all(), rounds);
}

void print_lengths(std::uint64_t requests, int rounds) {
  CaseList cases(
      {.name = fmt::format("{} requests", requests / 10), .config = plain_run(requests / 10, 8)});
  for (const std::uint64_t length : {requests, requests * 10}) {
    cases.add(fmt::format("{} requests", length), 0,
              [&](Case& one) { one.config.workload.generated.requests = length; });
  }
  print_table("length of the trace", cases.all(), rounds);
}

// Arrivals are faster than the engine at any batch size, so the batch is full all the time; the
// memory is large enough to fill it.
void print_batches(std::uint64_t requests, int rounds) {
  for (const SchedulerKind kind : {SchedulerKind::kContinuousFcfs, SchedulerKind::kContinuousSjf,
                                   SchedulerKind::kVllm, SchedulerKind::kSglang}) {
    const auto sized = [&](Case& one, std::int64_t sequences) {
      deployment_of(one).engine.scheduler = kind;
      deployment_of(one).engine.max_num_seqs = sequences;
      deployment_of(one).engine.kv_cache_tokens = 8'000'000;
    };
    Case first{.name = "16 sequences", .config = plain_run(requests, 1000)};
    sized(first, 16);
    CaseList cases(first);
    for (const std::int64_t sequences : {64, 256, 1024}) {
      cases.add(fmt::format("{} sequences", sequences), 0,
                [&](Case& one) { sized(one, sequences); });
    }
    print_table(fmt::format("batch, {}", scheduler_name(kind)), cases.all(), rounds);
  }
}

// Rates are such that prompts take about two fifths of the engine's time.
void print_contexts(std::uint64_t requests, int rounds) {
  struct Context {
    double tokens;
    double rate_rps;
  };
  for (const SchedulerKind kind : {SchedulerKind::kContinuousFcfs, SchedulerKind::kVllm}) {
    const auto shaped = [&](Case& one, const Context& context) {
      deployment_of(one).engine.scheduler = kind;
      one.config.workload.generated.arrivals = PoissonArrivals{.rate_rps = context.rate_rps};
      one.config.workload.generated.prompt_tokens = lognormal(context.tokens, 0.5);
      one.config.workload.generated.prompt_tokens.max = 120'000;
      one.config.workload.generated.output_tokens = lognormal(256, 0.8);
    };
    Case first{.name = "500 prompt tokens", .config = plain_run(requests, 1)};
    shaped(first, {500, 24});
    CaseList cases(first);
    for (const Context& context : {Context{5'000, 2.4}, Context{50'000, 0.16}}) {
      cases.add(fmt::format("{:.0f} prompt tokens", context.tokens), 0,
                [&](Case& one) { shaped(one, context); });
    }
    if (rules_of(kind).chunked) {
      cases.add("50000 prompt tokens, budget 120000", 0, [&](Case& one) {
        shaped(one, {50'000, 0.16});
        deployment_of(one).engine.max_num_batched_tokens = 120'000;
        deployment_of(one).engine.kv_cache_tokens = 400'000;
      });
    }
    print_table(fmt::format("context, {}", scheduler_name(kind)), cases.all(), rounds);
  }
}

// Conversations of more and more turns: each turn's prompt has two pieces more than the one before.
// As many turns arrive in the long run.
void print_turns(std::uint64_t requests, int rounds) {
  const auto shaped = [](Case& one, double turns) {
    GeneratedOptions& workload = one.config.workload.generated;
    workload.arrivals = PoissonArrivals{.rate_rps = 20 / turns};
    workload.prompt_tokens = lognormal(60, 0.7);
    workload.output_tokens = lognormal(60, 0.8);
    workload.conversations = {.turns = {LognormalLength{turns, 0.3}, 1, kMostTurns},
                              .think_time = {.shape = DelayShape::kExponential, .mean_s = 10}};
    deployment_of(one).engine.prefix_caching = true;
  };
  Case first{.name = "4 turns", .config = plain_run(requests, 1)};
  shaped(first, 4);
  CaseList cases(first);
  for (const double turns : {16.0, 64.0, 256.0}) {
    cases.add(fmt::format("{:.0f} turns", turns), 0, [&](Case& one) { shaped(one, turns); });
  }
  print_table("turns, prefix cache", cases.all(), rounds);
}

// Whether `part`, where there is one, names a part that there is.
bool run_benchmark(bool quick, std::string_view part) {
  using Part = std::pair<std::string_view, void (*)(std::uint64_t requests, int rounds)>;
  constexpr Part kParts[] = {{"features", print_features},
                             {"lengths", print_lengths},
                             {"batches", print_batches},
                             {"contexts", print_contexts},
                             {"turns", print_turns}};
  const std::uint64_t requests = quick ? 20'000 : 200'000;
  const int rounds = quick ? 3 : 5;
  fmt::print(
      "{} requests, llama-3.1-8b on h100-sxm, 512 prompt and 512 output tokens in the mean, 8\n"
      "requests/s (simulated); median of {} rounds, CPU time. Events, segments and steps that\n"
      "prefill are for each request; batch is the mean of the running sequences while busy. The\n"
      "pair of an indented row is the row above it that is not: the same work without it.\n\n",
      requests, rounds);
  bool found = false;
  for (const auto& [name, print] : kParts) {
    const bool wanted = part.empty() || part == name;
    if (wanted) print(requests, rounds);
    found |= wanted;
  }
  return found;
}

}  // namespace
}  // namespace inferscale

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const char* const part = argc > 2 ? argv[2] : (argc == 2 && !quick ? argv[1] : "");
  return inferscale::run_benchmark(quick, part) ? 0 : 1;
}

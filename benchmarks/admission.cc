// What an admission decision costs, for each policy: 10,000 tenants, 64 replicas, 2,048 requests in
// flight.
//
// "decide" is the policy with the readings that it takes, over a pool whose signals are sums over
// replicas, as the gate's are. The mean is CPU time of many decisions in a row; the quantiles are
// of decisions timed one by one while requests are admitted and end, and contain the clock's own
// time: `none`, an empty virtual call, shows how much that is. "gate" is presenting an attempt at
// the real gate: signals, decision, leases, ledger and permit.
//
// Figures are nanoseconds, each the median of kRepeats runs in one process; ratios are to `none`.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/gate.h"
#include "admission/registry.h"
#include "base/check.h"
#include "base/random.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr int kRepeats = 5;
constexpr std::size_t kDecisions = 100'000;
constexpr std::size_t kInFlight = 2'048;
constexpr std::uint64_t kTenants = 10'000;
constexpr std::uint32_t kReplicas = 64;
constexpr double kEach = static_cast<double>(kInFlight) / kReplicas;  // in flight on a replica
constexpr std::size_t kBetweenReadings = 100;                         // decisions
constexpr Duration kGap = Duration::nanos(1'000'000);

const ServiceModel kService = {.step_ns = 7e6,
                               .prefill_ns_per_token = 8e4,
                               .decode_ns_per_sequence = 2.5e5,
                               .kv_capacity_tokens = 400'000,
                               .max_num_seqs = 256,
                               .replicas = kReplicas,
                               .provenance = ServiceProvenance::kCatalogue,
                               .confidence = 1};

// A pool with room, the queues of some replicas a little longer now and then.
class SummedPool final : public PoolView {
 public:
  SummedPool() : each_(kReplicas) {}

  Instant now() const override { return now_; }
  std::uint32_t replicas() const override { return kReplicas; }
  const ServiceModel& service() const override { return kService; }
  Reading read_replica(Signal signal, std::uint32_t replica) const override {
    return {.value = each_[replica][static_cast<std::size_t>(signal)], .observed_at = now_};
  }
  Reading read(Signal signal) const override {
    const SignalSum rule = spec_of(signal).over_replicas;
    if (rule == SignalSum::kOfPool) return read_replica(signal, 0);
    double sum = 0;
    double most = 0;
    for (const Row& row : each_) {
      sum += row[static_cast<std::size_t>(signal)];
      most = std::max(most, row[static_cast<std::size_t>(signal)]);
    }
    if (rule == SignalSum::kMax) return {.value = most, .observed_at = now_};
    const double of = rule == SignalSum::kSum ? 1 : kReplicas;
    return {.value = sum / of, .observed_at = now_};
  }

  void advance() { now_ = now_ + kGap; }
  void scrape(RandomStream& random) {
    for (Row& row : each_) {
      for (double& value : row) value = 0.8 * random.uniform();
      row[static_cast<std::size_t>(Signal::kQueueDepth)] = random.below(10) == 0 ? 1 : 0;
      row[static_cast<std::size_t>(Signal::kKvFreeTokens)] = 1e5;
      row[static_cast<std::size_t>(Signal::kInFlight)] = kEach;
      row[static_cast<std::size_t>(Signal::kTokensInFlight)] = 7e4;
    }
  }

 private:
  using Row = std::array<double, kSignalCount>;
  Instant now_;
  std::vector<Row> each_;
};

class Requests {
 public:
  RequestView next(Instant now) {
    const std::uint64_t bits = random_.next();
    RequestView request;
    request.request = number_++;
    request.tenant = 1 + random_.below(kTenants);
    request.session = request.root_session = 1 + request.tenant * 4 + bits % 4;
    request.prompt_tokens = static_cast<TokenCount>(500 + (bits >> 2) % 4096);
    request.max_tokens = static_cast<TokenCount>(1 + (bits >> 14) % 1024);
    request.predicted_output_tokens = request.max_tokens;
    request.arrival = now;
    request.ttft_deadline = now + Duration::nanos(2'000'000'000);
    request.itl_target = Duration::nanos(100'000'000);
    request.priority = static_cast<std::int32_t>((bits >> 24) % 4) - 2;
    request.slo_class = static_cast<std::uint8_t>((bits >> 26) % 4);
    return request;
  }

 private:
  RandomStream random_{1, "requests"};
  std::uint64_t number_ = 0;
};

double cpu_ns() {
  return static_cast<double>(std::clock()) * (1e9 / CLOCKS_PER_SEC);
}

double quantile(std::vector<double>& values, double part) {
  const auto nth =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

template <typename Body>
double wall_ns(const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

struct Cost {
  double mean = 0;
  double median = 0;
  double p99 = 0;
  double gate_median = 0;
  double gate_p99 = 0;
  double admitted = 0;  // part of decisions
};

AttemptEnd end_of(const RequestView& request, Instant now) {
  return {.end = PermitEnd::kFinished,
          .admitted_at = request.arrival,
          .dispatched_at = request.arrival,
          .first_token = request.arrival + Duration::nanos(50'000'000),
          .now = now,
          .output_tokens = request.max_tokens,
          .in_flight_at_admission = kInFlight};
}

// Requests are decided about one by one, admitted, and end kInFlight admissions later.
void run_decisions(AdmissionPolicy& policy, Cost& cost) {
  RandomStream random(2, "readings");
  Requests source;
  SummedPool pool;
  std::vector<RequestView> running;
  std::vector<double> times;
  std::size_t oldest = 0;
  std::size_t admitted = 0;
  for (std::size_t i = 0; i < kDecisions; ++i) {
    pool.advance();
    if (i % kBetweenReadings == 0) {
      pool.scrape(random);
      policy.on_reading(pool);
      if (policy.tick_interval()) policy.on_tick(pool);
    }
    const RequestView request = source.next(pool.now());
    Decision decision;
    times.push_back(wall_ns([&] { decision = policy.decide(request, pool); }));
    if (!decision.admitted()) continue;
    ++admitted;
    policy.on_admit(request, pool.now());
    if (running.size() < kInFlight) {
      running.push_back(request);
      continue;
    }
    policy.on_outcome(running[oldest], end_of(running[oldest], pool.now()));
    running[oldest] = request;
    oldest = (oldest + 1) % kInFlight;
  }
  std::vector<RequestView> requests;
  requests.reserve(kDecisions);
  for (std::size_t i = 0; i < kDecisions; ++i) requests.push_back(source.next(pool.now()));
  std::size_t sum = 0;
  const double begin = cpu_ns();
  for (const RequestView& request : requests) sum += policy.decide(request, pool).admitted();
  cost.mean = (cpu_ns() - begin) / static_cast<double>(kDecisions);
  if (sum > kDecisions) std::abort();  // and so the decisions can't be left out
  cost.median = quantile(times, 0.5);
  cost.p99 = quantile(times, 0.99);
  cost.admitted = static_cast<double>(admitted) / static_cast<double>(kDecisions);
}

SignalSupply everything() {
  SignalSupply supply{.source = "the benchmark", .service_model = true, .outcomes = true};
  for (const SignalSpec& spec : all_signals()) supply.signals.add(spec.signal);
  supply.request = {true, true, true, true, true, true};
  return supply;
}

void scrape(AdmissionGate& gate, Instant now, RandomStream& random) {
  for (std::uint32_t replica = 0; replica < kReplicas; ++replica) {
    gate.observe(replica,
                 {.observed_at = now,
                  .queue_depth = random.below(10) == 0 ? 1.0 : 0.0,
                  .running = kEach,
                  .kv_used_fraction = 0.8 * random.uniform(),
                  .kv_capacity_tokens = kService.kv_capacity_tokens,
                  .prefix_queries = now.seconds() * 1e4,
                  .prefix_hits = now.seconds() * 4e3,
                  .preemptions = 0,
                  .generated_tokens = now.seconds() * 1e4},
                 now);
  }
}

// Attempts are presented one by one; those admitted go to the replicas in turn.
void run_gate(const PolicyEntry& entry, const PolicyFactory& factory, Cost& cost) {
  GateOptions options;
  options.policy_name = entry.card.name;
  options.policy = factory;
  options.service = kService;
  options.replicas = kReplicas;
  options.supply = everything();
  options.on_stale = StaleRule::kOpen;
  Result<std::unique_ptr<AdmissionGate>> gate = AdmissionGate::create(std::move(options));
  CHECK(gate.has_value()) << gate.error().to_string();
  RandomStream random(2, "readings");
  Requests source;
  Instant now;
  std::vector<Permit> running(kInFlight);
  std::vector<double> times;
  std::size_t oldest = 0;
  for (std::size_t i = 0; i < kDecisions; ++i) {
    now = now + kGap;
    (*gate)->advance(now);
    if (i % kBetweenReadings == 0) scrape(**gate, now, random);
    const RequestView request = source.next(now);
    Presented presented;
    times.push_back(wall_ns([&] { presented = (*gate)->present(request, now); }));
    if (!presented.permit.is_held()) continue;
    presented.permit.dispatched(static_cast<std::uint32_t>(i % kReplicas), now);
    presented.permit.first_token(now);
    Permit& ended = running[oldest];
    if (ended.is_held()) ended.finish(100, now);
    ended = std::move(presented.permit);
    oldest = (oldest + 1) % kInFlight;
  }
  running.clear();
  cost.gate_median = quantile(times, 0.5);
  cost.gate_p99 = quantile(times, 0.99);
}

// What a policy can't be made without, or what makes it count by tenant.
ConfigNode parameters_of(std::string_view policy) {
  ConfigNode map = ConfigNode::map({.source = "benchmark"});
  const auto put = [&](const char* key, const char* value) {
    map.put(key, ConfigNode::scalar(value, false, {.source = "benchmark"}),
            {.source = "benchmark"});
  };
  if (policy == "equal_volume_shed") put("rate", "0.3");
  if (policy == "token_bucket" || policy == "fixed_concurrency") put("per", "tenant");
  return map;
}

std::optional<PolicyFactory> factory_of(const PolicyEntry& entry) {
  const ConfigNode tree = parameters_of(entry.card.name);
  ConfigSession session;
  ConfigReader reader(tree, session);
  PolicyFactory factory = entry.read(reader);
  reader.finish();
  if (session.failed()) return std::nullopt;
  return factory;
}

double median_of(const std::vector<Cost>& costs, double Cost::* figure) {
  std::vector<double> values;
  values.reserve(costs.size());
  for (const Cost& cost : costs) values.push_back(cost.*figure);
  return quantile(values, 0.5);
}

void run_benchmark() {
  TextTable table({"policy", ">admitted", ">decide mean", ">to none", ">p50", ">p99", ">gate p50",
                   ">gate p99", ">to none"});
  double baseline = 0;
  double gate_baseline = 0;
  for (const PolicyEntry& entry : all_policies()) {
    const std::optional<PolicyFactory> factory = factory_of(entry);
    if (!factory) continue;  // nothing without parameters of its own
    std::vector<Cost> costs(kRepeats);
    for (Cost& cost : costs) {
      run_decisions(*(*factory)({.seed = 1}), cost);
      run_gate(entry, *factory, cost);
    }
    const double mean = median_of(costs, &Cost::mean);
    const double gate_p99 = median_of(costs, &Cost::gate_p99);
    if (entry.card.name == "none") {
      baseline = mean;
      gate_baseline = gate_p99;
    }
    table.add({std::string(entry.card.name),
               fmt::format("{:.0f} %", 100 * median_of(costs, &Cost::admitted)),
               fmt::format("{:.1f}", mean), fmt::format("{:.1f}", mean / baseline),
               fmt::format("{:.0f}", median_of(costs, &Cost::median)),
               fmt::format("{:.0f}", median_of(costs, &Cost::p99)),
               fmt::format("{:.0f}", median_of(costs, &Cost::gate_median)),
               fmt::format("{:.0f}", gate_p99), fmt::format("{:.1f}", gate_p99 / gate_baseline)});
  }
  fmt::print("{}", table.text());
}

}  // namespace
}  // namespace inferscale

int main() {
  inferscale::run_benchmark();
  return 0;
}

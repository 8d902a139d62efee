#include "property/scenario.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "catalog/accelerators.h"
#include "catalog/models.h"
#include "property/dice.h"
#include "replica/latency/linear.h"
#include "replica/latency/roofline.h"

namespace inferscale {
namespace {

// A decode step that may well occur in the run.
StepShape likely_decode(Dice& dice, const ReplicaOptions& options,
                        const std::vector<Request>& requests) {
  const auto most =
      std::min<std::int64_t>({options.max_num_seqs, 8, static_cast<std::int64_t>(requests.size())});
  const std::int64_t sequences = dice.between(1, most);
  const Request& some = requests[requests.size() / 2];
  const TokenCount context = some.prompt_tokens + dice.between(1, some.output_tokens);
  return {.decode_sequences = sequences, .decode_context = sequences * context};
}

std::unique_ptr<LatencyModel> random_roofline(Dice& dice, const ReplicaOptions& options,
                                              const std::vector<Request>& requests) {
  const char* name = dice.one_of({"llama-3.1-8b", "mixtral-8x7b", "deepseek-v3", "llama-3.1-70b"});
  Result<ModelSpec> model = find_model(name);
  Result<HardwareSpec> hardware = find_accelerator(dice.one_of({"h100-sxm", "l4", "mi300x"}));
  CHECK(model && hardware) << "the catalogue lost an entry";
  const DeploymentShape shape{.tensor = dice.one_of<std::int64_t>({1, 1, 2, 8}),
                              .weight_bits = dice.one_of({16.0, 8.0}),
                              .kv_bits = dice.one_of({16.0, 8.0})};
  // Arithmetic so slow that it takes as long as memory for a step that may occur: the kink between
  // them is then crossed in the middle of segments.
  HardwareSpec only_compute = *hardware;
  only_compute.memory_bandwidth *= 1e9;
  HardwareSpec only_memory = *hardware;
  only_memory.flops_16bit *= 1e9;
  only_memory.flops_8bit *= 1e9;
  const StepShape step = likely_decode(dice, options, requests);
  const auto step_ns = [&](const HardwareSpec& of) {
    return make_roofline(*model, of, shape, {})->cost(step).first_ns -
           1e9 * (of.step_overhead_s +
                  of.sequence_overhead_s * static_cast<double>(step.decode_sequences));
  };
  hardware->compute_efficiency *= step_ns(only_compute) / step_ns(only_memory);
  if (dice.chance(0.3)) hardware->compute_efficiency *= dice.log_between(0.3, 3);
  return make_roofline(*model, *hardware, shape,
                       {.prefill = dice.one_of({1.0, 0.7}), .decode = dice.one_of({1.0, 1.3})});
}

std::unique_ptr<LatencyModel> random_linear(Dice& dice) {
  LinearLatencyOptions options{
      .step_us = dice.log_between(1, 2e4),
      .prefill_us_per_token = dice.chance(0.2) ? 0 : dice.log_between(0.01, 100),
      .decode_us_per_sequence = dice.chance(0.3) ? 0 : dice.log_between(0.01, 300),
      // From a growth of less than a nanosecond in the whole run to one that rules it.
      .decode_ns_per_context_token = dice.chance(0.3) ? 0 : dice.log_between(1e-4, 1e4)};
  // Steps that take no time at all: prefill only, decode only.
  if (dice.chance(0.1)) {
    options.step_us = options.decode_us_per_sequence = options.decode_ns_per_context_token = 0;
    options.prefill_us_per_token = dice.log_between(0.01, 100);
  } else if (dice.chance(0.1)) {
    options.step_us = options.prefill_us_per_token = 0;
    options.decode_us_per_sequence = dice.log_between(0.01, 300);
  }
  return make_linear(options, {.prefill = dice.one_of({1.0, 1.1}), .decode = 1.0});
}

std::unique_ptr<LatencyModel> random_whole(Dice& dice) {
  LinearLatencyOptions options{
      .step_us = static_cast<double>(dice.between(1, 20)),
      .prefill_us_per_token = dice.one_of({0.0, 0.0, 1.0, 3.0}),
      .decode_us_per_sequence = dice.one_of({0.0, 0.0, 1.0, 2.0}),
      .decode_ns_per_context_token = dice.one_of({0.0, 0.0, 1.0, 13.0, 1000.0})};
  if (dice.chance(0.1)) options.step_us = 0;
  if (options.step_us == 0) options.prefill_us_per_token = 1;
  return make_linear(options, {});
}

void choose_options(Dice& dice, ReplicaOptions& options) {
  options.scheduler =
      dice.chance(0.3) ? SchedulerKind::kStaticFcfs : SchedulerKind::kContinuousFcfs;
  options.max_num_seqs =
      dice.chance(0.15) ? 1 : static_cast<std::int64_t>(dice.log_between(1, 300.99));
  options.max_num_batched_tokens = dice.one_of<TokenCount>({16, 100, 512, 2048, 8192});
  options.layout.block_tokens = dice.one_of<std::int64_t>({1, 2, 3, 7, 16, 16, 32, 64});
  if (dice.chance(0.25)) options.max_queued = dice.one_of<std::int64_t>({0, 1, 3, 20});
}

// The lengths of a population: at most so long, and how.
std::uint32_t draw_length(Dice& dice, std::int64_t longest, bool skewed) {
  const double u = skewed ? dice.log_between(1, static_cast<double>(longest) + 0.99)
                          : static_cast<double>(dice.between(1, longest));
  return static_cast<std::uint32_t>(u);
}

void draw_lengths(Dice& dice, std::vector<Request>& requests) {
  const auto longest_prompt = dice.one_of<std::int64_t>({1, 8, 64, 300, 1500});
  const auto longest_output = dice.one_of<std::int64_t>({1, 3, 30, 120, 500});
  const bool skewed = dice.chance(0.5);
  const bool constant = dice.chance(0.15);  // all alike: many finish at one step
  for (Request& request : requests) {
    request.prompt_tokens = draw_length(dice, longest_prompt, skewed);
    request.output_tokens = draw_length(dice, longest_output, skewed);
    if (constant) request.prompt_tokens = requests[0].prompt_tokens;
    if (constant) request.output_tokens = requests[0].output_tokens;
    request.max_tokens = request.output_tokens;
  }
}

// From a cache that is never full to one that hardly holds the longest request.
void choose_cache(Dice& dice, const std::vector<Request>& requests, ReplicaOptions& options) {
  TokenCount longest = 0;
  for (const Request& r : requests) {
    longest = std::max(longest, static_cast<TokenCount>(r.prompt_tokens) + r.output_tokens);
  }
  const double factor = dice.one_of({0.7, 1.0, 1.0, 1.3, 2.0, 4.0, 1e4});
  const double tokens = factor * static_cast<double>(longest);
  options.kv_blocks =
      static_cast<BlockCount>(tokens / static_cast<double>(options.layout.block_tokens)) + 1;
  options.max_model_len = dice.chance(0.15) ? dice.between(longest / 2 + 1, longest) : 1'000'000;
}

double decode_ns(const LatencyModel& latency, std::int64_t sequences, TokenCount context) {
  return latency.cost({.decode_sequences = sequences, .decode_context = context}).first_ns;
}

// A rough estimate of how long one request keeps the replica busy, batching counted in.
double service_ns(const LatencyModel& latency, const ReplicaOptions& options,
                  const std::vector<Request>& requests) {
  double sum = 0;
  const std::int64_t batch = std::max<std::int64_t>(
      1, std::min<std::int64_t>(
             {options.max_num_seqs, 16, static_cast<std::int64_t>(requests.size())}));
  for (const Request& r : requests) {
    const double pairs = 0.5 * r.prompt_tokens * (r.prompt_tokens + 1.0);
    sum +=
        latency
            .cost(
                {.prefill_sequences = 1, .prefill_tokens = r.prompt_tokens, .prefill_pairs = pairs})
            .first_ns;
    sum += decode_ns(latency, batch, batch * r.prompt_tokens) * (r.output_tokens - 1.0) /
           static_cast<double>(batch);
  }
  return std::max(1.0, sum / static_cast<double>(requests.size()));
}

void draw_arrivals(Dice& dice, double mean_gap_ns, std::int64_t grid_ns,
                   std::vector<Request>& requests) {
  const auto group = dice.one_of<std::int64_t>({1, 1, 1, 4, 1000});  // arrive together
  double at = dice.chance(0.3) ? 0 : mean_gap_ns * dice.exponential();
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].id = static_cast<RequestId>(i);
    if (i > 0 && static_cast<std::int64_t>(i) % group == 0) {
      at += static_cast<double>(group) * mean_gap_ns * dice.exponential();
    }
    requests[i].arrival = Instant::nanos(static_cast<std::int64_t>(at) / grid_ns * grid_ns);
  }
}

// Half of the limits equal the length of a step that may well occur, to the nanosecond.
void choose_itl_limit(Dice& dice, const Scenario& scenario, ReplicaOptions& options) {
  if (dice.chance(0.2)) return;
  const StepShape step_shape = likely_decode(dice, options, scenario.requests);
  const double step = scenario.latency->cost(step_shape).first_ns;
  options.itl_limit = Duration::nanos(
      static_cast<std::int64_t>(step * dice.one_of({1.0, 1.0, 1.0, 0.95, 1.2, 3.0})));
}

std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace

Scenario make_scenario(std::uint64_t seed) {
  Dice dice(seed, "scenario");
  Scenario scenario;
  scenario.seed = seed;
  scenario.family = static_cast<ScenarioFamily>(seed % 3);
  choose_options(dice, scenario.options);
  scenario.requests.resize(static_cast<size_t>(dice.log_between(1, 250)));
  draw_lengths(dice, scenario.requests);
  choose_cache(dice, scenario.requests, scenario.options);
  switch (scenario.family) {
    case ScenarioFamily::kRoofline:
      scenario.latency = random_roofline(dice, scenario.options, scenario.requests);
      break;
    case ScenarioFamily::kLinear:
      scenario.latency = random_linear(dice);
      break;
    case ScenarioFamily::kWhole:
      scenario.latency = random_whole(dice);
      break;
  }
  const double load = dice.one_of({0.05, 0.5, 0.9, 1.5, 10.0});
  const double gap = service_ns(*scenario.latency, scenario.options, scenario.requests) / load;
  const bool whole = scenario.family == ScenarioFamily::kWhole;
  draw_arrivals(dice, gap, whole ? dice.one_of<std::int64_t>({1, 1000, 1000}) : 1,
                scenario.requests);
  choose_itl_limit(dice, scenario, scenario.options);
  draw_classes(scenario);
  return scenario;
}

namespace {

std::optional<Duration> times(std::optional<Duration> limit, double factor) {
  if (!limit) return std::nullopt;
  return Duration::nanos(static_cast<std::int64_t>(static_cast<double>(limit->ns()) * factor) + 1);
}

void set_deadlines(const std::vector<double>& factors, ReplicaOptions& options) {
  options.class_e2e_limits.clear();
  for (const double factor : factors) {
    options.class_e2e_limits.push_back(times(options.e2e_limit, factor));
  }
}

}  // namespace

void draw_classes(Scenario& scenario) {
  Dice dice(scenario.seed, "classes");
  if (dice.chance(0.5)) return;
  const std::int64_t classes = dice.between(1, 4);
  scenario.options.class_itl_limits.clear();
  scenario.options.class_e2e_limits.clear();
  std::vector<double> e2e_factors;
  for (std::int64_t i = 0; i < classes; ++i) {
    const bool has_itl = dice.chance(0.8);
    const double factor = dice.one_of({1.0, 1.0, 0.5, 1.2, 3.0});
    scenario.options.class_itl_limits.push_back(has_itl ? times(scenario.options.itl_limit, factor)
                                                        : std::nullopt);
    e2e_factors.push_back(dice.one_of({1.0, 0.1, 0.7, 4.0}));
  }
  set_deadlines(e2e_factors, scenario.options);
  if (scenario.decode) {
    scenario.decode->class_itl_limits = scenario.options.class_itl_limits;
    set_deadlines(e2e_factors, *scenario.decode);
  }
  for (Request& request : scenario.requests) {
    request.slo_class = static_cast<std::uint8_t>(dice.between(0, classes - 1));
  }
}

namespace {

std::string describe_replica(const ReplicaOptions& options) {
  std::string text(scheduler_name(options.scheduler));
  const auto add = [&](const char* name, std::int64_t value, std::int64_t usual) {
    if (value != usual) text += std::string(", ") + name + " " + std::to_string(value);
  };
  add("by_priority", options.by_priority ? 1 : 0, 0);
  add("max_num_seqs", options.max_num_seqs, 0);
  add("max_num_batched_tokens", options.max_num_batched_tokens, 0);
  add("long_prefill_token_threshold", options.long_prefill_token_threshold, 0);
  add("kv_block_tokens", options.layout.block_tokens, 0);
  add("full_groups", options.layout.full_groups, 1);
  add("window_groups", options.layout.window_groups, 0);
  add("window_tokens", options.layout.window_tokens, 0);
  add("kv_blocks", options.kv_blocks, 0);
  add("watermark_blocks", options.watermark_blocks, 0);
  add("prefix_caching", options.prefix_caching ? 1 : 0, 0);
  add("shared_prefix_tokens", options.shared_prefix_tokens, 0);
  add("max_model_len", options.max_model_len, 0);
  add("max_queued", options.max_queued.value_or(-1), -1);
  add("itl_limit_ns", options.itl_limit ? options.itl_limit->ns() : -1, -1);
  add("e2e_limit_ns", options.e2e_limit ? options.e2e_limit->ns() : -1, -1);
  add("classes", static_cast<std::int64_t>(options.class_itl_limits.size()), 0);
  return text;
}

}  // namespace

std::string Scenario::describe() const {
  const char* families[] = {"roofline", "linear", "whole"};
  std::string text = "INFERSCALE_SEED=" + std::to_string(seed) + " INFERSCALE_TRIALS=1 (" +
                     families[static_cast<size_t>(family)] + ", " +
                     std::to_string(requests.size()) + " requests, " +
                     std::to_string(failures.size()) + " failures; " + describe_replica(options);
  if (decode) text += "; decode: " + describe_replica(*decode);
  return text + ")";
}

std::uint64_t trials(std::uint64_t fallback) {
  return from_environment("INFERSCALE_TRIALS", fallback);
}

std::uint64_t first_seed() {
  return from_environment("INFERSCALE_SEED", 1);
}

}  // namespace inferscale

#include "report/sample_run.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "base/distributions.h"
#include "base/random.h"
#include "metrics/run_summary.h"
#include "report/summary_json.h"

namespace inferscale {
namespace {

constexpr std::int64_t kBlocks = 27000;
constexpr std::int64_t kBlockTokens = 16;

Instant end_of(const std::vector<Outcome>& outcomes) {
  Instant end;
  for (const Outcome& outcome : outcomes) {
    end = std::max(end, outcome.finished() ? outcome.finish : outcome.arrival);
  }
  return end;
}

std::uint32_t length(Lognormal& distribution, RandomStream& stream) {
  return static_cast<std::uint32_t>(std::clamp(distribution.draw(stream), 1.0, 30000.0));
}

JsonValue config_json(const SampleRunOptions& options) {
  return JsonValue::raw(
      R"({"name":)" + JsonValue(options.name).text() +
      R"(,"seed":42,"repeats":1,"deployment":{"model":"llama-3.1-8b","hardware":"h100-sxm",)"
      R"("replicas":)" +
      JsonValue(options.replicas).text() +
      R"(,"router":{"policy":"least_load"},"parallel":{"tensor":1,"pipeline":1},)"
      R"("precision":{"weights":"bf16","kv":"bf16"},"engine":{"scheduler":"continuous_fcfs",)"
      R"("max_num_seqs":256,"kv_block_tokens":16,"max_model_len":null,"prefix_caching":false}},)"
      R"("workload":{"requests":)" +
      JsonValue(options.requests).text() + R"(,"arrivals":{"process":"poisson","rate_rps":)" +
      JsonValue(options.rate_rps).text() +
      R"(},"prompt_tokens":{"distribution":"lognormal","mean":512,"cv":0.7}},"tenants":{}})");
}

}  // namespace

SampleRun::SampleRun(const SampleRunOptions& options) : options_(options) {
  if (options.with_slo) {
    slo_.ttft = Duration::from_millis(500);
    slo_.itl = Duration::from_millis(25);
  }
  serve();
  sample_signals();
  if (options.replicas > 1) report_replicas();
}

void SampleRun::serve() {
  RandomStream arrivals(1, "arrivals");
  RandomStream lengths(1, "lengths");
  Lognormal prompt(512, 0.7);
  Lognormal output(256, 0.8);
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> free_at;
  for (double slot = 0; slot < options_.slots; ++slot) free_at.push(0);
  Instant now;
  for (std::size_t i = 0; i < options_.requests; ++i) {
    Outcome outcome;
    now = now + Duration::from_seconds(draw_exponential(arrivals) / options_.rate_rps);
    outcome.arrival = now;
    outcome.prompt_tokens = length(prompt, lengths);
    outcome.output_tokens = length(output, lengths);
    const std::int64_t token_ns = 7'000'000 + static_cast<std::int64_t>(lengths.below(5'000'000));
    outcome.start = Instant::nanos(std::max(now.ns(), free_at.top()));
    if (options_.refusals && outcome.start - now > Duration::from_seconds(4)) {
      outcome.start = Instant::never();
      outcome.status = OutcomeStatus::kRefused;
      outcome.reason = RefusalReason::kQueueFull;
    } else {
      outcome.first_token =
          outcome.start + Duration::nanos(9'000'000 + 25'000 * std::int64_t{outcome.prompt_tokens});
      outcome.finish = outcome.first_token +
                       Duration::nanos(token_ns) * (std::int64_t{outcome.output_tokens} - 1);
      if (outcome.output_tokens > 1) outcome.itl_max = Duration::nanos(token_ns * 2);
      outcome.status = OutcomeStatus::kFinished;
      free_at.pop();
      free_at.push(outcome.finish.ns());
    }
    outcomes_.push_back(outcome);
  }
}

// Looks at every outcome for each sample: simple, and quick enough for a test.
void SampleRun::sample_signals() {
  const Duration step = Duration::from_seconds(1);
  for (Instant at = Instant() + step; at <= end_of(outcomes_); at = at + step) {
    SignalSample sample;
    sample.at = at;
    for (const Outcome& outcome : outcomes_) {
      if (outcome.arrival > at) break;
      ++sample.arrived;
      if (outcome.status == OutcomeStatus::kRefused) {
        ++sample.refused;
      } else if (outcome.start > at) {
        ++sample.queue_depth;
      } else if (outcome.finish <= at) {
        ++sample.finished;
      } else {
        ++sample.running;
        sample.kv_blocks_used +=
            (outcome.prompt_tokens + outcome.output_tokens / 2) / kBlockTokens + 1;
      }
    }
    sample.kv_used_fraction = static_cast<double>(sample.kv_blocks_used) / kBlocks;
    signals_.push_back(sample);
  }
}

// Every ninth request is dealt to the first replica on top of its turn; the last is lost half-way.
void SampleRun::report_replicas() {
  const Instant end = end_of(outcomes_);
  for (std::uint32_t i = 0; i < options_.replicas; ++i) {
    replicas_.push_back({.index = i,
                         .pool = i % 4 == 3 ? "spare" : "replicas",
                         .up = end - Instant(),
                         .kv_blocks = kBlocks / options_.replicas});
  }
  for (std::size_t id = 0; id < outcomes_.size(); ++id) {
    Outcome& outcome = outcomes_[id];
    outcome.replica = id % 9 == 0 ? 0 : static_cast<std::uint32_t>(id) % options_.replicas;
    if (!outcome.finished()) continue;
    if (outcome.replica + 1 == options_.replicas && id > outcomes_.size() / 2) {
      outcome.status = OutcomeStatus::kLost;
      outcome.finish = Instant::never();
      continue;
    }
    ReplicaReport& replica = replicas_[outcome.replica];
    if (options_.prefix_cache) outcome.cached_tokens = outcome.prompt_tokens / 3;
    ++replica.finished;
    replica.prompt_tokens_cached += outcome.cached_tokens;
    if (options_.prefix_cache) replica.prompt_tokens_looked_up += outcome.prompt_tokens;
    const auto service_ns = static_cast<double>((outcome.finish - outcome.start).ns());
    replica.busy_ns += 0.04 * service_ns;
    replica.kv_block_ns += 40 * service_ns;
    replica.kv_blocks_peak = replica.kv_blocks / 2;
  }
}

RunRecord SampleRun::record() const {
  RunFacts facts{.slo = slo_,
                 .measurement = options_.measurement,
                 .end = end_of(outcomes_),
                 .replicas = replicas_,
                 .prefix_caching = options_.prefix_cache,
                 .kv_blocks = kBlocks};
  const double end_ns = static_cast<double>(facts.end.ns());
  facts.busy_ns = 0.7 * end_ns;
  for (const SignalSample& sample : signals_) {
    facts.kv_blocks_peak = std::max(facts.kv_blocks_peak, sample.kv_blocks_used);
    facts.running_peak = std::max(facts.running_peak, sample.running);
    facts.queue_peak = std::max(facts.queue_peak, sample.queue_depth);
    facts.sequence_ns += static_cast<double>(sample.running) * 1e9;
    facts.kv_block_ns += static_cast<double>(sample.kv_blocks_used) * 1e9;
  }
  DurationHistogram gaps;
  for (const Outcome& outcome : outcomes_) {
    if (!outcome.finished() || outcome.output_tokens < 2) continue;
    const std::int64_t count = std::int64_t{outcome.output_tokens} - 1;
    gaps.add(Duration::nanos((outcome.finish - outcome.first_token).ns() / count), count);
  }
  JsonValue warnings = JsonValue::array();
  for (const std::string& warning : options_.warnings) warnings.append(warning);
  RunRecord record;
  record.manifest.add("simulated", true)
      .add("inferscale", "0.1.0")
      .add("name", options_.name)
      .add("seed", 42)
      .add("mode", "segments")
      .add("complete", options_.complete)
      .add("config", config_json(options_))
      .add("derived", JsonValue::object()
                          .add("model", "llama-3.1-8b")
                          .add("hardware", "h100-sxm")
                          .add("kv_blocks", kBlocks)
                          .add("kv_tokens", kBlocks * kBlockTokens)
                          .add("kv_bytes_per_token", 131072)
                          .add("weight_bytes", 16060522496)
                          .add("accelerators", 1))
      .add("warnings", std::move(warnings));
  record.summary = summary_json(summarize_run(outcomes_, gaps, facts), slo_);
  record.outcomes = outcomes_;
  record.slo = slo_;
  record.signals = signals_;
  record.replicas = replicas_;
  record.with_prefix_cache = options_.prefix_cache;
  record.with_outcomes = options_.with_outcomes;
  return record;
}

}  // namespace inferscale

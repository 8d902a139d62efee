#include "metrics/run_summary.h"

#include <algorithm>
#include <array>

namespace inferscale {
namespace {

constexpr double kMillisPerNano = 1e-6;

void count_endings(std::span<const Outcome> outcomes, const Slo& slo, RunSummary& summary) {
  for (const Outcome& outcome : outcomes) {
    switch (outcome.status) {
      case OutcomeStatus::kUnfinished:
        ++summary.unfinished;
        continue;
      case OutcomeStatus::kRefused:
        ++summary.refused;
        if (outcome.reason == RefusalReason::kExceedsKvCache) ++summary.refused_kv;
        if (outcome.reason == RefusalReason::kExceedsModelLen) ++summary.refused_model_len;
        if (outcome.reason == RefusalReason::kQueueFull) ++summary.refused_queue_full;
        continue;
      case OutcomeStatus::kLost:
        ++summary.lost;
        continue;
      case OutcomeStatus::kFinished:
        break;
    }
    ++summary.finished;
    summary.prompt_tokens += outcome.prompt_tokens;
    summary.output_tokens += outcome.output_tokens;
    if (slo.ttft && outcome.ttft() <= *slo.ttft) ++summary.ttft_met;
    if (slo.e2e && outcome.e2e() <= *slo.e2e) ++summary.e2e_met;
    if (slo.itl && itl_met(slo, outcome)) ++summary.itl_met;
    if (slo_met(slo, outcome)) ++summary.slo_met;
  }
}

// One figure of each finished request, in milliseconds.
class FigureStream final : public ValueStream {
 public:
  enum class Figure { kTtft, kTpot, kE2e, kQueueTime, kItlMax };

  FigureStream(std::span<const Outcome> outcomes, Figure figure)
      : outcomes_(outcomes), figure_(figure) {
    least_tokens_ = figure == Figure::kTpot || figure == Figure::kItlMax ? 2 : 1;
  }
  std::size_t size_at_most() const override { return outcomes_.size(); }
  void restart() override { next_ = 0; }
  std::span<const double> next() override {
    std::size_t filled = 0;
    while (filled < buffer_.size() && next_ < outcomes_.size()) {
      const Outcome& outcome = outcomes_[next_++];
      if (!outcome.finished() || outcome.output_tokens < least_tokens_) continue;
      buffer_[filled++] = nanos_of(outcome) * kMillisPerNano;
    }
    return {buffer_.data(), filled};
  }

 private:
  double nanos_of(const Outcome& outcome) const {
    switch (figure_) {
      case Figure::kTtft:
        return static_cast<double>(outcome.ttft().ns());
      case Figure::kTpot:
        return outcome.tpot_ns();
      case Figure::kE2e:
        return static_cast<double>(outcome.e2e().ns());
      case Figure::kQueueTime:
        return static_cast<double>(outcome.queue_time().ns());
      case Figure::kItlMax:
        return static_cast<double>(outcome.itl_max.ns());
    }
    return 0;
  }

  std::span<const Outcome> outcomes_;
  Figure figure_;
  std::uint32_t least_tokens_ = 1;
  std::size_t next_ = 0;
  std::array<double, 512> buffer_{};
};

void summarize_latencies(std::span<const Outcome> outcomes, RunSummary& summary) {
  const auto population = [&](FigureStream::Figure figure) {
    FigureStream stream(outcomes, figure);
    return summarize(stream);
  };
  summary.ttft_ms = population(FigureStream::Figure::kTtft);
  summary.tpot_ms = population(FigureStream::Figure::kTpot);
  summary.e2e_ms = population(FigureStream::Figure::kE2e);
  summary.queue_ms = population(FigureStream::Figure::kQueueTime);
  summary.itl_ms_max = population(FigureStream::Figure::kItlMax);
}

PopulationSummary of_histogram(const DurationHistogram& gaps) {
  PopulationSummary summary;
  summary.count = gaps.total();
  if (summary.count == 0) return summary;
  summary.mean = gaps.mean_ns() * kMillisPerNano;
  summary.p50 = gaps.quantile(0.50).millis();
  summary.p90 = gaps.quantile(0.90).millis();
  summary.p95 = gaps.quantile(0.95).millis();
  summary.p99 = gaps.quantile(0.99).millis();
  summary.max = gaps.max().millis();
  return summary;
}

void fill_rates(std::span<const Outcome> outcomes, const RunFacts& facts, RunSummary& summary) {
  summary.duration_s = facts.end.seconds();
  if (outcomes.empty()) return;
  const Duration window = outcomes.back().arrival - outcomes.front().arrival;
  summary.arrival_window_s = window.seconds();
  summary.drain_s = (facts.end - outcomes.back().arrival).seconds();
  if (window.ns() > 0) {
    summary.offered_rps = static_cast<double>(outcomes.size() - 1) / window.seconds();
  }
  summary.accelerator_hours = summary.duration_s * static_cast<double>(facts.accelerators) / 3600.0;
  if (summary.output_tokens > 0) {
    summary.accelerator_hours_per_million_output_tokens =
        summary.accelerator_hours / (static_cast<double>(summary.output_tokens) * 1e-6);
  }
  if (summary.duration_s == 0) return;
  const auto per_second = [&](std::int64_t n) {
    return static_cast<double>(n) / summary.duration_s;
  };
  summary.finished_rps = per_second(summary.finished);
  summary.output_tokens_per_s = per_second(summary.output_tokens);
  summary.total_tokens_per_s = per_second(summary.prompt_tokens + summary.output_tokens);
  summary.goodput_rps = per_second(summary.slo_met);
}

void fill_usage(const RunFacts& facts, RunSummary& summary) {
  const double duration_ns = static_cast<double>(facts.end.ns());
  const double blocks = static_cast<double>(facts.kv_blocks);
  if (duration_ns > 0) {
    summary.kv_used_mean = facts.kv_block_ns / duration_ns / blocks;
    summary.running_mean = facts.sequence_ns / duration_ns;
    summary.utilisation = facts.busy_ns / duration_ns;
  }
  summary.kv_used_peak = static_cast<double>(facts.kv_blocks_peak) / blocks;
  summary.running_peak = facts.running_peak;
  summary.queue_peak = facts.queue_peak;
  summary.preemptions = facts.preemptions;
  summary.recomputed_tokens = facts.recomputed_tokens;
}

}  // namespace

RunSummary summarize_run(std::span<const Outcome> outcomes, const DurationHistogram& gaps,
                         const RunFacts& facts) {
  RunSummary summary;
  summary.arrived = std::ssize(outcomes);
  summary.has_slo = facts.slo.any();
  count_endings(outcomes, facts.slo, summary);
  summarize_latencies(outcomes, summary);
  summary.itl_ms = of_histogram(gaps);
  fill_rates(outcomes, facts, summary);
  fill_usage(facts, summary);
  if (summary.arrived > 0) {
    summary.goodput = static_cast<double>(summary.slo_met) / static_cast<double>(summary.arrived);
  }
  if (summary.arrived > summary.refused) {
    summary.attainment_admitted = static_cast<double>(summary.slo_met) /
                                  static_cast<double>(summary.arrived - summary.refused);
  }
  return summary;
}

}  // namespace inferscale
